"""A place in the token list, and the mistakes found there."""

from __future__ import annotations

from typing import NoReturn

from flintlog.diagnostics import Diagnostic, Label, Report
from flintlog.source import Span
from flintlog.syntax.parser.lost import Lost
from flintlog.syntax.tokens import DIRECTIVE, END, ERROR, IDENT, RESERVED, STRING, Token


class Mistake(Exception):
    """The text cannot be read on from here. None stands for a mistake that the lexer has reported already."""

    def __init__(self, diagnostic: Diagnostic | None) -> None:
        super().__init__()
        self.diagnostic = diagnostic


_WORD_NOTES = {
    "not": "negation is written `!`",
    "and": "a conjunction is written with `,`",
    "or": "a disjunction is written with `;`",
}


# What may follow a name. A reserved word before one of them was meant as a name, and the item can be read on.
_AFTER_NAMES = frozenset("( ) , : = <: { } < > . | ]".split())


class Cursor:
    """Walks over the tokens; `token` is the one to be read next and `kind` its kind. Stays at END once there."""

    def __init__(self, tokens: list[Token], report: Report) -> None:
        self.tokens = tokens
        self.report = report
        self.index = 0
        self.token = tokens[0]
        self.kind = self.token.kind
        self.item_start = 0
        self.is_spoilt = False
        self.lost = Lost()

    def advance(self) -> Token:
        """The current token; moves on to the next."""
        token = self.token
        if token.kind != END:
            self.index += 1
            self.token = self.tokens[self.index]
            self.kind = self.token.kind
        return token

    def accept(self, kind: str) -> bool:
        """Moves past a token of this kind if it is the current one."""
        if self.kind == kind:
            self.advance()
            return True
        return False

    def peek(self, distance: int = 1) -> Token:
        """The token so many places ahead, or END."""
        return self.tokens[min(self.index + distance, len(self.tokens) - 1)]

    @property
    def previous(self) -> Token:
        return self.tokens[max(self.index - 1, 0)]

    @property
    def end_of_previous(self) -> Span:
        """The empty place after the token read last."""
        last = self.previous
        return Span(last.file, last.end, last.end)

    def next_item_begins(self, start: Token) -> bool:
        """Whether the current token looks like the beginning of the item after the one that begins at `start`."""
        token = self.token
        if token.kind == END or not token.has_gap_after(self.previous):
            return token.kind == END
        if token.kind == IDENT:
            return token.is_first_on_line and token.column <= start.column
        return token.kind == DIRECTIVE or (token.kind == "}" and token.is_first_on_line)

    def expect(self, kind: str, where: str) -> Token:
        """The current token, which must be of this kind; `where` says after or before what."""
        if self.kind != kind:
            self.unexpected(f"`{kind}` {where}")
        return self.advance()

    def name(self, what: str) -> Token:
        """An identifier; `what` says of what, with its article."""
        if self.kind != IDENT:
            self._no_name(what)
        return self.advance()

    def _no_name(self, what: str) -> None:
        """Reports that no name stands here; returns if a reserved word stands in the place of one."""
        if self.kind not in RESERVED or self.kind == "_":
            self.unexpected(f"the name of {what}")
        message = f"`{self.token.text}` is a reserved word and cannot be the name of {what}"
        note = f"choose another name, `{self.token.text}_` say"
        if self.peek().kind not in _AFTER_NAMES and not self.peek().is_first_on_line:
            self.fail("E109", message, note=note)
        self.report.error("E109", message, self.token.span, note=note)
        self.lost.add(self.token.text)

    def string(self, what: str) -> Token:
        if self.kind != STRING:
            self.unexpected(f"{what} in double quotes")
        return self.advance()

    def qualified_name(self, what: str) -> tuple[str, Span]:
        """A name with dots in it. A dot that begins a line is taken for a misspelt directive's."""
        first = self.name(what)
        if self.kind != ".":
            return first.text, first.span
        parts = [first.text]
        while self.kind == "." and self.peek().kind == IDENT and not self._dot_begins_line():
            self.advance()
            parts.append(self.advance().text)
        return ".".join(parts), self.since(first)

    def _dot_begins_line(self) -> bool:
        return self.token.has_gap_after(self.previous) and self.token.is_first_on_line

    def since(self, start: Token) -> Span:
        """The span from a token to the one read last."""
        last = self.tokens[self.index - 1]
        if last.file is not start.file or last.end < start.start:
            return start.span
        return Span(start.file, start.start, last.end)

    def unexpected(self, expected: str, *, note: str | None = None) -> NoReturn:
        """Ends the reading of the current item: something else than the current token should stand here."""
        if note is None:
            note = _WORD_NOTES.get(self.token.text) or self._note_on_marks()
        # What is missing at the end of an item is missing there, not where the next one begins.
        is_cut_off = self.index > self.item_start and self.next_item_begins(self.tokens[self.item_start])
        span = self.end_of_previous if is_cut_off else None
        self.fail("E101", f"expected {expected}, found {self.token.describe()}", span, note=note)

    def _note_on_marks(self) -> str | None:
        before, found = self.previous.text, self.token.text
        if found == "=" and before == "=":
            return "equality is written with one `=`"
        if found == ">" and before == "<":
            return "inequality is written `!=`"
        return None

    def spoil(self, code: str, message: str, span: Span, *, note: str | None = None) -> None:
        """Reports a mistake that makes the current item worthless, though it can be read to its end."""
        self.report.error(code, message, span, note=note)
        self.is_spoilt = True

    def fail(self, code: str, message: str, span: Span | None = None, *, note: str | None = None) -> NoReturn:
        """Ends the reading of the current item with an error, at the current token unless told otherwise."""
        if self.kind == ERROR and self._is_reported():
            raise Mistake(None)
        labels = self._long_strings()
        raise Mistake(Diagnostic(code, message, span or self.token.span, note, labels))

    def _is_reported(self) -> bool:
        """Whether something has been said about the line of the current token, which the lexer could not make sense of;
        nothing has if a macro brought it in."""
        token = self.token
        line = token.span.line
        return any(e.span.file is token.file and e.span.line == line for e in self.report.errors)

    def _long_strings(self) -> tuple[Label, ...]:
        """A string that runs over lines is a likely cause of a mistake after it: its closing quote may be missing."""
        for token in self.tokens[self.item_start : self.index + 1]:
            if token.kind == STRING and "\n" in token.text:
                opening = Span(token.file, token.start, token.start + 1)
                return (Label(opening, "this string runs over several lines: is its closing quote missing?"),)
        return ()
