"""From a source file to the tokens of the program: includes, macros and conditional text, as a C preprocessor does it.

Every token keeps the place it was written at; one that a macro brings in stands where the macro was used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flintlog.diagnostics import Label, Report, did_you_mean
from flintlog.source import SourceFile, Span
from flintlog.syntax.conditions import ConditionError, holds
from flintlog.syntax.include import Includes, Place
from flintlog.syntax.lexer import Lexer
from flintlog.syntax.literals import number_value, quote, string_value
from flintlog.syntax.macros import Macro, MacroTable
from flintlog.syntax.tokens import DIRECTIVE, END, ERROR, HASH, IDENT, NUMBER, PLACE, RESERVED, STRING, Token

_DIRECTIVE_LINE = re.compile(r"#[ \t]*(?P<word>[A-Za-z_]*)")
_LINE_MARKER = re.compile(r'#[ \t]*(?:line[ \t]+)?(?P<line>[0-9]+)(?:[ \t]+"(?P<name>(?:[^"\\]|\\.)*)")?')
_SYSTEM_FILE = re.compile(r"[ \t]*<(?P<name>[^>\n]+)>")
_CONDITIONALS = frozenset({"if", "ifdef", "ifndef", "elif", "else", "endif"})
_KNOWN = _CONDITIONALS | {"include", "define", "undef", "line", "error", "warning", "pragma"}


def preprocess(
    source: SourceFile, report: Report, *, include_dirs: Sequence[Path] = (), defines: Mapping[str, str] | None = None
) -> list[Token]:
    """All tokens of a program, an END token last. Problems go into the report."""
    return _Preprocessor(report, include_dirs, defines or {}).run(source)


@dataclass
class _Group:
    """An `#if` that is open. `taken`: one of its branches has been read. `closed`: its `#else` has been seen."""

    opening: Token
    taken: bool
    closed: bool = False


class _Preprocessor:
    def __init__(self, report: Report, include_dirs: Sequence[Path], defines: Mapping[str, str]) -> None:
        self._report = report
        self._includes = Includes(include_dirs, report)
        self._macros = MacroTable(report)
        self._seen_once: set[tuple[Path, int]] = set()
        self._trails: dict[SourceFile, str] = {}
        for name, value in defines.items():
            self._macros.define_text(name, value)

    def run(self, source: SourceFile) -> list[Token]:
        tokens = list(self._macros.expand(self._read(source, Place(Path(source.name)))))
        for index, token in enumerate(tokens):
            if token.kind == PLACE:
                tokens[index] = self._place(token)
        end = len(source.text.rstrip())
        tokens.append(Token(END, "", source, end, end))
        return tokens

    def _place(self, token: Token) -> Token:
        if token.text == "__LINE__":
            return token._replace(kind=NUMBER, text=str(token.span.line))
        value = token.file.name if token.text == "__FILE__" else self._trails.get(token.file, "")
        return token._replace(kind=STRING, text=quote(value))

    # --- Reading a file ---------------------------------------------------------------------------

    def _read(self, source: SourceFile, place: Place) -> Iterator[Token]:
        if "\0" in source.text:
            # Without an excerpt: the bytes would do odd things to a terminal.
            note = "name a Datalog program in plain text"
            self._report.error("E119", f"`{source.name}` is not a text: it has zero bytes in it", note=note)
            return
        lexer = Lexer(source, self._report)
        groups: list[_Group] = []
        self._trails[source] = place.trail
        tokens = iter(lexer)
        for token in tokens:
            if token.kind == HASH:
                yield from self._directive(token, lexer, groups, place)
                self._trails[lexer.file] = place.trail
            elif token.kind == DIRECTIVE and token.text == ".include":
                yield from self._include_directive(token, next(tokens, None), place)
            elif token.kind == DIRECTIVE and token.text == ".once":
                if not self._enter_once(token, place):
                    return
            else:
                yield token
        for group in groups:
            message = f"`{_first_word(group.opening)}` without `#endif`"
            self._report.error("E112", message, group.opening.span, note="write `#endif` where its text ends")

    def _enter_once(self, token: Token, place: Place) -> bool:
        key = (place.path.resolve(), token.span.line)
        known = key in self._seen_once
        self._seen_once.add(key)
        return not known

    def _include_directive(self, token: Token, name: Token | None, place: Place) -> Iterator[Token]:
        if name is None or name.kind != STRING:
            message = "expected the name of a file in double quotes after `.include`"
            if name is None or name.kind != ERROR:
                self._report.error("E101", message, token.span, note='write `.include "file.dl"`')
            if name is not None:
                # What stands on the same line was meant as the name: nothing more is to be said about it.
                yield name if name.is_first_on_line else name._replace(kind=ERROR)
            return
        yield from self._include(string_value(name, self._report), name.span, token.span, place)

    def _include(self, name: str, at: Span, directive: Span, place: Place, *, system: bool = False) -> Iterator[Token]:
        file = self._includes.open(name, at, place, system=system)
        if file is not None:
            yield from self._read(file, place.enter(Path(file.name), directive))

    # --- Directives -------------------------------------------------------------------------------

    def _directive(self, token: Token, lexer: Lexer, groups: list[_Group], place: Place) -> Iterator[Token]:
        marker = _LINE_MARKER.match(token.text)
        if marker is not None:
            lexer.relabel(marker.group("name"), number_value(marker.group("line")))
            return
        word = _first_word(token)[1:]
        if word in _CONDITIONALS:
            self._conditional(token, lexer, groups)
        elif word == "include":
            yield from self._include_line(token, place)
        elif word == "define":
            self._define(token)
        elif word == "undef":
            name = self._name(token, "undef")
            self._macros.undefine(name.text if name is not None else "")
        elif word == "error":
            self._report.error("E116", _rest(token).strip() or "#error", token.span)
        elif word == "warning":
            self._report.warning("W104", _rest(token).strip() or "#warning", token.span)
        elif word not in _KNOWN and token.text.startswith(f"#{word}"):
            self._unknown(token, word)

    def _unknown(self, token: Token, word: str) -> None:
        """A `#` line that is no directive is a comment, unless it looks like a directive misspelt."""
        note = did_you_mean(f"#{word}", [f"#{known}" for known in sorted(_KNOWN)])
        if word and note:
            self._report.error("E118", f"unknown preprocessor directive `#{word}`", token.span, note=note)

    def _include_line(self, token: Token, place: Place) -> Iterator[Token]:
        system = _SYSTEM_FILE.match(_rest(token))
        if system is not None:
            yield from self._include(system.group("name"), token.span, token.span, place, system=True)
            return
        named = list(self._macros.expand(self._line_tokens(token)))
        if len(named) != 1 or named[0].kind != STRING:
            note = 'write `#include "file"` or `#include <file>`'
            self._report.error("E114", "expected the name of a file after `#include`", token.span, note=note)
            return
        yield from self._include(string_value(named[0], self._report), named[0].span, token.span, place)

    def _define(self, token: Token) -> None:
        name = self._name(token, "define")
        if name is None:
            return
        rest = self._line_tokens(token)[1:]
        if not rest or rest[0].text != "(" or rest[0].start != name.end:
            self._macros.define(Macro(name.text, None, tuple(rest), span=name.span))
            return
        closing = next((i for i, t in enumerate(rest) if t.text == ")"), None)
        params = _parameters([t.text for t in rest[1:closing]]) if closing is not None else None
        if closing is None or params is None:
            note = "the parameters of a macro are names with commas between them, in parentheses"
            self._report.error(
                "E114", f"the parameters of the macro `{name.text}` are not right", token.span, note=note
            )
            return
        variadic = bool(params) and params[-1] == "__VA_ARGS__"
        self._macros.define(Macro(name.text, params, tuple(rest[closing + 1 :]), variadic, name.span))

    def _name(self, token: Token, word: str) -> Token | None:
        tokens = self._line_tokens(token)
        if tokens and (tokens[0].kind == IDENT or tokens[0].kind in RESERVED or tokens[0].kind == PLACE):
            return tokens[0]
        self._report.error("E114", f"expected a name after `#{word}`", token.span, note=f"write `#{word} NAME`")
        return None

    def _line_tokens(self, token: Token) -> list[Token]:
        """The tokens after the directive's word, at their places in the file."""
        rest = _rest(token)
        shift = token.end - len(rest)
        line = Lexer(SourceFile(token.file.name, rest), Report(), in_directive=True)
        return [t._replace(file=token.file, start=t.start + shift, end=t.end + shift) for t in line]

    # --- Conditions -------------------------------------------------------------------------------

    def _conditional(self, token: Token, lexer: Lexer, groups: list[_Group]) -> None:
        """Opens, turns or closes a group; leaves the lexer at the next text that is to be read."""
        line: Token | None = token
        nested = 0
        while line is not None:
            word = _first_word(line)[1:]
            if nested:
                nested += {"if": 1, "ifdef": 1, "ifndef": 1, "endif": -1}.get(word, 0)
                reads = False
            elif line is not token and word in ("if", "ifdef", "ifndef"):
                nested, reads = 1, False
            else:
                reads = self._turn(word, line, groups)
            if reads:
                return
            line = self._next_conditional(lexer)

    def _next_conditional(self, lexer: Lexer) -> Token | None:
        while (line := lexer.skip_group()) is not None:
            if _first_word(line)[1:] in _CONDITIONALS:
                return line
        return None

    def _turn(self, word: str, line: Token, groups: list[_Group]) -> bool:
        """Takes one conditional line to heart; whether the text after it is to be read."""
        if word in ("if", "ifdef", "ifndef"):
            reads = self._condition(word, line)
            groups.append(_Group(line, reads))
            return reads
        if not groups:
            note = "remove it, or write `#if` where its text begins"
            self._report.error("E113", f"`#{word}` without `#if`", line.span, note=note)
            return True
        group = groups[-1]
        if word == "endif":
            groups.pop()
            return True
        if group.closed:
            labels = [Label(group.opening.span, "of this condition")]
            note = "a condition has one `#else`, and it comes last"
            self._report.error("E113", f"`#{word}` after `#else`", line.span, note=note, labels=labels)
            return False
        group.closed = word == "else"
        reads = not group.taken and (word == "else" or self._condition("if", line))
        group.taken = group.taken or reads
        return reads

    def _condition(self, word: str, line: Token) -> bool:
        if word != "if":
            name = self._name(line, word)
            return name is not None and (name.text in self._macros) == (word == "ifdef")
        try:
            return holds(self._line_tokens(line), self._macros, line.span)
        except ConditionError as problem:
            self._report.error("E114", str(problem), problem.span)
            return False
        except RecursionError:
            self._report.error("E114", "this condition is nested too deep to be read", line.span)
            return False


def _first_word(line: Token) -> str:
    found = _DIRECTIVE_LINE.match(line.text)
    return "#" + found.group("word") if found is not None else "#"


def _rest(line: Token) -> str:
    """The text after a directive's word."""
    found = _DIRECTIVE_LINE.match(line.text)
    return line.text[found.end() :] if found is not None else ""


def _parameters(texts: list[str]) -> tuple[str, ...] | None:
    """Parameter names from the words between the parentheses; None if they are not names and commas."""
    if not texts:
        return ()
    if texts[-3:] == [".", ".", "."]:
        texts = [*texts[:-3], "__VA_ARGS__"]
    names, commas = texts[::2], texts[1::2]
    fits = len(texts) % 2 == 1 and all(c == "," for c in commas) and all(n.isidentifier() for n in names)
    return tuple(names) if fits and len(set(names)) == len(names) else None
