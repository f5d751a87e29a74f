"""A place in a tokenized line, and the small pieces every line is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.ir.nodes import Schema
from flintlog.ir.scalar import Column
from flintlog.ir.text.lines import Line
from flintlog.ir.text.tokens import Token
from flintlog.source import Span
from flintlog.types import Kind

Item = TypeVar("Item")


def fail(code: str, message: str, span: Span, note: str | None = None) -> NoReturn:
    raise FlintlogError([Diagnostic(code, message, span, note)])


class Cursor:
    """Reads a line from left to right. Every method that does not find what it names raises a Diagnostic."""

    def __init__(self, line: Line) -> None:
        self._tokens = line.tokens
        self._next = 0
        self.line = line.span

    @property
    def token(self) -> Token:
        """The token ahead."""
        return self._tokens[self._next]

    def advance(self) -> Token:
        token = self.token
        if token.form != "end":
            self._next += 1
        return token

    def at(self, *texts: str) -> bool:
        """Whether one of these words or symbols is ahead. A name in backticks is no word."""
        return self.token.form in ("name", "symbol") and self.token.text in texts

    def at_name(self) -> bool:
        return self.token.form in ("name", "quoted")

    def accept(self, text: str) -> bool:
        """Steps over a word or symbol if it is ahead."""
        found = self.at(text)
        if found:
            self.advance()
        return found

    def expect(self, text: str) -> None:
        if not self.accept(text):
            self.unexpected(f"`{text}`")

    def unexpected(self, wanted: str) -> NoReturn:
        found = "the line ends" if self.token.form == "end" else f"found `{self.token.text}`"
        fail("E953", f"expected {wanted}, but {found}", self.token.span)

    def end(self) -> None:
        if self.token.form != "end":
            self.unexpected("the end of the line")

    def name(self) -> str:
        if not self.at_name():
            self.unexpected("a name")
        return self.advance().text

    def integer(self) -> int:
        value = self.token.value
        if self.token.form != "constant" or not isinstance(value, int):
            self.unexpected("a whole number")
        self.advance()
        return value

    def text(self) -> str:
        value = self.token.value
        if self.token.form != "constant" or not isinstance(value, str):
            self.unexpected("a text in double quotes")
        self.advance()
        return value

    def kind(self) -> Kind:
        kinds = [kind.value for kind in Kind]
        if not self.at(*kinds):
            self.unexpected(f"a kind ({', '.join(kinds)})")
        return Kind(self.advance().text)

    def series(self, item: Callable[[], Item]) -> tuple[Item, ...]:
        """One item or more, with commas between."""
        items = [item()]
        while self.accept(","):
            items.append(item())
        return tuple(items)

    def enclosed(self, opening: str, item: Callable[[], Item], closing: str) -> tuple[Item, ...]:
        """Items with commas between, in brackets; perhaps none."""
        self.expect(opening)
        items = () if self.at(closing) else self.series(item)
        self.expect(closing)
        return items

    def column(self) -> Column:
        """`x: number`"""
        name = self.name()
        self.expect(":")
        return Column(name, self.kind())

    def schema(self) -> Schema:
        """`(x: number, y: symbol)`"""
        return self.enclosed("(", self.column, ")")

    def names(self) -> tuple[str, ...]:
        """`[x, y]`"""
        return self.enclosed("[", self.name, "]")
