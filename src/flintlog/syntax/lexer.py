"""Text to tokens, one file at a time. Preprocessor lines come out whole, for the preprocessor to read."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flintlog.diagnostics import Report
from flintlog.source import SourceFile, Span
from flintlog.syntax.tokens import (
    DIRECTIVE,
    DIRECTIVES,
    ERROR,
    FLOAT,
    HASH,
    IDENT,
    INFIX_WORDS,
    NUMBER,
    PLACE,
    RESERVED,
    STRING,
    UNSIGNED,
    Token,
)

_DIRECTIVE_WORDS = "|".join(sorted(DIRECTIVES, key=len, reverse=True))
_LINE_COMMENT = r"//(?:\\\r?\n|[^\n])*"
_BLOCK_COMMENT = r"/\*(?s:.*?)\*/"
_LINE_STRING = r'"[^"\\\n]*(?:\\(?:\r?\n|.)[^"\\\n]*)*"'

# A directive's word stands before white space. Before a line's end it may also be the last part of a name
# (`.output instance.type`), which nothing but what is in front of the dot can tell.
_TOKEN = re.compile(
    rf"""
      (?P<skip>(?:[ \t\r\v\f\n]+|{_LINE_COMMENT}|{_BLOCK_COMMENT}|\\\r?\n)+)
    | (?P<word>choice-domain(?![A-Za-z0-9_?])|[A-Za-z_?][A-Za-z0-9_?]*)
    | (?P<directive>\.(?:{_DIRECTIVE_WORDS})(?=[ \t\r\v\f])
                   |(?<![A-Za-z0-9_?])\.(?:{_DIRECTIVE_WORDS})(?![A-Za-z0-9_?(.])|\.(?:include|once)(?![A-Za-z0-9_?(.]))
    | (?P<comment>/\*)
    | (?P<op>:-|<:|<=|>=|!=|->|[|\[\]$+\-(),:;.=!*/^%{{}}<>@])
    | (?P<number>[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|0x[0-9a-fA-F]+u?|0b[01]+u?
                |[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|[0-9]+u?)
    | (?P<string>"[^"\\]*(?:\\.[^"\\]*)*")
    | (?P<quote>")
    | (?P<hash>\#)
    """,
    re.VERBOSE | re.DOTALL,
)
# What the preprocessor's lines know beyond that.
_PUNCTUATION = re.compile(r"\#\#|\#|==|&&|\|\||<<|>>|[&~]")
_LINE_STRING_AT = re.compile(_LINE_STRING)
_HASH_LINE = re.compile(rf"\#(?:{_LINE_STRING}|{_LINE_COMMENT}|{_BLOCK_COMMENT}|\\\r?\n|[^\n])*")
_SKIPPED = re.compile(rf"^[ \t]*(?P<hash>\#)|{_LINE_COMMENT}|{_BLOCK_COMMENT}|{_LINE_STRING}", re.MULTILINE)
_WORD_TAIL = re.compile(r"[A-Za-z0-9_?.]*[A-Za-z0-9_?]")
_INFIX_WORD = re.compile(rf"(?:{'|'.join(INFIX_WORDS)})(?![A-Za-z0-9_?])")
_BEFORE_HASH = re.compile(rf"(?:[ \t\r\v\f]|{_BLOCK_COMMENT})*\Z")
_LONGEST_NUMBER = 1000  # Python itself refuses to read numbers of some thousand digits
_WORD_CHARS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_?")

_KINDS = {word: word for word in RESERVED} | dict.fromkeys(("__FILE__", "__LINE__", "__INCL__"), PLACE)
_CHARACTER_NOTES = {
    "'": "symbols are written in double quotes",
    "“": "symbols are written in straight double quotes",
    "”": "symbols are written in straight double quotes",
    "&": "a conjunction is written with `,`, a bitwise one with `band`",
    "~": "negation of a condition is written `!`, bitwise negation `bnot`",
    "`": "symbols are written in double quotes",
}


class Lexer:
    """Iterates over the tokens of a file. After a HASH token its reader may move the lexer: past a group that a
    condition leaves out (`skip_group`), or to another name and line number (`relabel`)."""

    def __init__(self, file: SourceFile, report: Report, *, in_directive: bool = False) -> None:
        self.file = file
        self._report = report
        self._position = 0
        self._in_directive = in_directive
        self._strings_end_with_line: bool | None = None

    def __iter__(self) -> Iterator[Token]:
        file, text, position = self.file, self.file.text, self._position
        match, kinds, in_directive, new = _TOKEN.match, _KINDS, self._in_directive, tuple.__new__
        nothing: frozenset[str] = frozenset()
        while position < len(text):
            found = _PUNCTUATION.match(text, position) if in_directive else None
            if found is not None:
                yield Token(found.group(), found.group(), file, position, found.end())
                position = found.end()
                continue
            found = match(text, position)
            group = found.lastgroup if found is not None else None
            if found is not None and group == "skip":
                position = found.end()
            elif found is not None and (group == "word" or group == "op"):
                word, end = found.group(), found.end()
                kind = kinds.get(word, IDENT) if group == "word" else word
                yield new(Token, (kind, word, file, position, end, nothing))
                position = end
            else:
                self._position = position
                token = self._uncommon(group, found)
                if token is not None:
                    yield token
                file, text, position = self.file, self.file.text, self._position

    def _uncommon(self, group: str | None, found: re.Match[str] | None) -> Token | None:
        """The token at the current position if it is neither word nor mark, and moves past it."""
        start = self._position
        if group == "number":
            return self._number(start, self._take(found))
        if group == "string":
            return self._string(found)
        if group == "directive":
            return self._make(DIRECTIVE, start, self._take(found))
        if group == "hash":
            return self._hash()
        if group == "quote":
            return self._unterminated_string()
        if group == "comment":
            self._error("E103", "this comment does not end", Span(self.file, start, start + 2), "write `*/` after it")
            self._position = len(self.file.text)
            return None
        return self._unknown_character()

    def _take(self, found: re.Match[str] | None) -> int:
        assert found is not None
        self._position = found.end()
        return self._position

    def _make(self, kind: str, start: int, end: int) -> Token:
        return Token(kind, self.file.text[start:end], self.file, start, end)

    def _line_end(self, position: int) -> int:
        end = self.file.text.find("\n", position)
        return end if end >= 0 else len(self.file.text)

    def _error(self, code: str, message: str, span: Span, note: str | None = None) -> None:
        self._report.error(code, message, span, note=note)

    # --- Numbers ----------------------------------------------------------------------------------

    def _number(self, start: int, end: int) -> Token:
        text = self.file.text
        if text[end : end + 1] in _WORD_CHARS and not _INFIX_WORD.match(text, end):
            return self._bad_number(start, end)
        word = text[start:end]
        if len(word) > _LONGEST_NUMBER:
            self._error("E105", "this number is too long", Span(self.file, start, end))
            return self._make(ERROR, start, end)
        if word.count(".") == 3:
            return self._address(word, start, end)
        if word.endswith("u"):
            kind = UNSIGNED
        elif not word.startswith("0x") and ("." in word or "e" in word or "E" in word):
            kind = FLOAT
        else:
            kind = NUMBER
        return Token(kind, word, self.file, start, end)

    def _bad_number(self, start: int, end: int) -> Token:
        tail = _WORD_TAIL.match(self.file.text, end)
        self._position = tail.end() if tail is not None else end
        token = self._make(ERROR, start, self._position)
        note = "numbers look like 12, 0x1f, 0b101, 12u or 1.5, and a name does not begin with a digit"
        self._error("E105", f"`{token.text}` is not a number", token.span, note)
        return token

    def _address(self, word: str, start: int, end: int) -> Token:
        """1.2.3.4 is the number an IPv4 address stands for, read as a signed 32-bit word."""
        parts = [int(part) for part in word.split(".")]
        if max(parts) > 255:
            self._error("E105", f"`{word}` is not an IPv4 address: its parts go up to 255", Span(self.file, start, end))
            return self._make(ERROR, start, end)
        value = int.from_bytes(bytes(parts), "big", signed=True)
        return Token(NUMBER, str(value), self.file, start, end)

    # --- Strings ----------------------------------------------------------------------------------

    def _string(self, found: re.Match[str] | None) -> Token:
        assert found is not None
        if "\n" in found.group() and self._must_strings_end_with_line(found):
            found = _LINE_STRING_AT.match(self.file.text, self._position)
            if found is None:
                return self._unterminated_string()
        self._position = found.end()
        return Token(STRING, found.group(), self.file, found.start(), found.end())

    def _must_strings_end_with_line(self, found: re.Match[str]) -> bool:
        """A string may run over lines. But where the last string of a file has no end, one before it has lost its
        closing quote, and the first that runs over a line is the likely culprit."""
        if self._strings_end_with_line is None:
            position, text, group = found.end(), self.file.text, None
            while position < len(text):
                after = _TOKEN.match(text, position)
                group = after.lastgroup if after is not None else None
                if group == "quote":
                    break
                if group == "hash":
                    line = _HASH_LINE.match(text, position)
                    position = line.end() if line is not None else position + 1
                else:
                    position = after.end() if after is not None else position + 1
            self._strings_end_with_line = group == "quote"
        return self._strings_end_with_line

    def _unterminated_string(self) -> Token:
        start = self._position
        self._position = self._line_end(start)
        token = self._make(ERROR, start, self._position)
        opening = Span(self.file, start, start + 1)
        self._error("E102", "this string does not end", opening, 'write `"` where it ends; a quote inside it is `\\"`')
        return token

    # --- Everything else --------------------------------------------------------------------------

    def _unknown_character(self) -> Token:
        text, start = self.file.text, self._position
        character = text[start]
        end = start + 1
        if character == "'":
            closing = text.find("'", end, self._line_end(end))
            end = closing + 1 if closing >= 0 else end
        while end < len(text) and (text[end] == character or not (character.isascii() or text[end].isascii())):
            end += 1
        self._position = end
        token = self._make(ERROR, start, end)
        note = _CHARACTER_NOTES.get(character)
        self._error("E106", f"`{token.text}` means nothing here", token.span, note)
        return token

    def _hash(self) -> Token | None:
        """A preprocessor line, or None for a comment that begins in the middle of a line."""
        text, start = self.file.text, self._position
        line = _HASH_LINE.match(text, start)
        assert line is not None
        self._position = line.end()
        line_start = text.rfind("\n", 0, start) + 1
        if _BEFORE_HASH.match(text, line_start, start) is None:
            self._position = self._line_end(start)
            return None
        return Token(HASH, line.group(), self.file, start, line.end())

    def skip_group(self) -> Token | None:
        """The next preprocessor line, without looking at what comes before it; None at the file's end."""
        text = self.file.text
        while self._position < len(text):
            found = _SKIPPED.search(text, self._position)
            if found is None:
                break
            self._position = found.end()
            if found.lastgroup == "hash":
                self._position = found.start("hash")
                return self._hash()
        self._position = len(text)
        return None

    def relabel(self, name: str | None, line: int) -> None:
        """Lets the next line be `line` of the file `name`, as `#line` asks."""
        rest = self.file.text[self._line_end(self._position) + 1 :]
        self.file = SourceFile(name or self.file.name, rest, line)
        self._position = 0
