"""What went wrong, where, and how to mend it: errors as values, their collection and rendering."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from flintlog.source import NOWHERE, Span


@dataclass(frozen=True)
class Label:
    """A second place that matters, and what it has to do with the problem."""

    span: Span
    text: str


@dataclass(frozen=True)
class Diagnostic:
    """One problem. The code's letter is its weight: E is an error, W a warning.

    Ranges: 1xx syntax and preprocessor, 2xx names and declarations, 3xx types, 4xx grounding,
    5xx stratification, 6xx input and output directives, 7xx data in files, 8xx evaluation,
    9xx engines and options.
    """

    code: str
    message: str
    span: Span = NOWHERE
    note: str | None = None
    labels: tuple[Label, ...] = ()

    @property
    def is_error(self) -> bool:
        return self.code.startswith("E")

    def render(self) -> str:
        """The message with its place, the source line with a caret, labels and the note."""
        head = f"{'error' if self.is_error else 'warning'}[{self.code}]: {self.message}"
        parts = [head]
        if self.span.file is not NOWHERE.file:
            parts += _excerpt(self.span, "")
        for label in self.labels:
            parts += _excerpt(label.span, label.text)
        if self.note:
            parts.append(f"  note: {self.note}")
        return "\n".join(parts)


def _excerpt(span: Span, text: str) -> list[str]:
    line, column = span.file.position(span.start)
    source = span.file.line(line)
    number = str(line)
    end_line, end_column = span.file.position(max(span.end, span.start + 1))
    width = (end_column if end_line == line else len(source) + 1) - column
    # Tabs stay tabs in front of the caret, so that it lines up whatever a terminal makes of them.
    margin = "".join("\t" if c == "\t" else " " for c in source[: column - 1])
    carets = "^" * max(1, width)
    return [
        f"  --> {span.file.name}:{line}:{column}",
        f" {number} | {source}",
        f" {' ' * len(number)} | {margin}{carets}" + (f" {text}" if text else ""),
    ]


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A note that offers the nearest known name.

    >>> did_you_mean("egde", ["edge", "path"])
    'did you mean `edge`?'
    """
    close = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else None


class FlintlogError(Exception):
    """The user's mistakes, all that were found together. Never reaches a user as a traceback."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(d.render() for d in self.diagnostics))


class Unsupported(FlintlogError):
    """What a program asks for is right, but this engine cannot do it."""


class InternalError(Exception):
    """A broken invariant: a bug of Flintlog's own."""

    def __init__(self, stage: str, message: str) -> None:
        self.stage = stage
        super().__init__(f"{stage}: {message}")


class Report:
    """Collects diagnostics, so that one run shows every problem of a program.

    >>> report = Report()
    >>> report.error("E201", "unknown relation `egde`", note="did you mean `edge`?")
    >>> report.has_errors
    True
    """

    def __init__(self) -> None:
        self._diagnostics: dict[Diagnostic, None] = {}

    def add(self, diagnostic: Diagnostic) -> None:
        self._diagnostics.setdefault(diagnostic)

    def error(
        self, code: str, message: str, span: Span = NOWHERE, *, note: str | None = None, labels: Sequence[Label] = ()
    ) -> None:
        assert code.startswith("E")
        self.add(Diagnostic(code, message, span, note, tuple(labels)))

    def warning(
        self, code: str, message: str, span: Span = NOWHERE, *, note: str | None = None, labels: Sequence[Label] = ()
    ) -> None:
        assert code.startswith("W")
        self.add(Diagnostic(code, message, span, note, tuple(labels)))

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.sorted() if d.is_error]

    @property
    def warnings(self) -> list[Diagnostic]:
        return [d for d in self.sorted() if not d.is_error]

    @property
    def has_errors(self) -> bool:
        return any(d.is_error for d in self._diagnostics)

    def sorted(self) -> list[Diagnostic]:
        """In the order of the text: file by file in order of first appearance, then by place."""
        files = {id(d.span.file): i for i, d in reversed(list(enumerate(self._diagnostics)))}
        return sorted(self._diagnostics, key=lambda d: (files[id(d.span.file)], d.span.start, d.span.end, d.code))

    def raise_if_errors(self) -> None:
        if self.has_errors:
            raise FlintlogError(self.errors)
