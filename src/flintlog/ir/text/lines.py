"""Turns indented text into a tree of tokenized lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.ir.text.tokens import Token, tokenize
from flintlog.source import SourceFile, Span


@dataclass
class Line:
    """A line, and the lines that are indented below it. The last token is `end`."""

    indent: int
    tokens: tuple[Token, ...]
    below: list[Line] = field(default_factory=list)

    @property
    def word(self) -> str:
        """The word the line starts with, which says what it is."""
        return self.tokens[0].text

    @property
    def span(self) -> Span:
        return self.tokens[0].span.to(self.tokens[-1].span)


def read_lines(text: str, name: str) -> list[Line]:
    """The outermost lines of a text. Empty lines and comments (`# …`) are left out. The first line's indentation counts
    as none, so that a text may stand indented in a docstring."""
    file = SourceFile(name, text)
    top: list[Line] = []
    open_lines: list[Line] = []
    for line in _flat_lines(file):
        while open_lines and open_lines[-1].indent >= line.indent:
            open_lines.pop()
        siblings = open_lines[-1].below if open_lines else top
        if siblings and siblings[0].indent != line.indent:
            raise FlintlogError([_bad_indent(line, siblings[0])])
        siblings.append(line)
        open_lines.append(line)
    return top


def _flat_lines(file: SourceFile) -> Iterator[Line]:
    start = 0
    while start <= len(file.text):
        end = file.text.find("\n", start)
        end = len(file.text) if end < 0 else end
        tokens = tuple(tokenize(file, start, end))
        if len(tokens) > 1:
            yield Line(tokens[0].span.start - start, tokens)
        start = end + 1


def _bad_indent(line: Line, first: Line) -> Diagnostic:
    note = f"line {first.span.line}, its neighbour, starts in column {first.span.column}"
    return Diagnostic("E952", "the indentation fits no line above", line.tokens[0].span, note)
