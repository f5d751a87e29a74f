"""Where a piece of text stands: source files and spans of them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True, eq=False)
class SourceFile:
    """A named text. `first_line` is the number of its first line: an excerpt of a large data file
    (one bad line of a facts file, say) keeps the line numbers of the whole."""

    name: str
    text: str = field(repr=False)
    first_line: int = 1

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        position = self.text.find("\n")
        while position >= 0:
            starts.append(position + 1)
            position = self.text.find("\n", position + 1)
        return starts

    def __reduce__(self) -> tuple[Any, ...]:
        """What is nowhere is nowhere after a journey to another process too."""
        return (_nowhere, ()) if self is NOWHERE.file else (SourceFile, (self.name, self.text, self.first_line))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both counted from 1.

        >>> SourceFile("a.dl", "ab\\ncd").position(4)
        (2, 2)
        """
        row = bisect_right(self._starts, offset) - 1
        return row + self.first_line, offset - self._starts[row] + 1

    def line(self, number: int) -> str:
        """The text of a line, without its line break."""
        row = number - self.first_line
        if not 0 <= row < len(self._starts):
            return ""
        end = self._starts[row + 1] - 1 if row + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[row] : end].rstrip("\r")


@dataclass(frozen=True, slots=True)
class Span:
    """The half-open range [start, end) of a file's text."""

    file: SourceFile
    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of `other` (this one if files differ)."""
        if other.file is not self.file or other.end < self.start:
            return self
        return Span(self.file, self.start, other.end)

    @property
    def line(self) -> int:
        return self.file.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.file.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.file.text[self.start : self.end]

    def __str__(self) -> str:
        line, column = self.file.position(self.start)
        return f"{self.file.name}:{line}:{column}"


NOWHERE = Span(SourceFile("<none>", ""), 0, 0)


def _nowhere() -> SourceFile:
    return NOWHERE.file
