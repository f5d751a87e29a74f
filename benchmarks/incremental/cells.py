"""Cells and lines of a Markdown table."""

from collections.abc import Iterable, Sequence

from benchmarks.incremental.script import Timing


def table(header: Sequence[str], rows: Iterable[Sequence[str]], text_columns: int = 1) -> str:
    """All but the first `text_columns` columns are numbers, and stand to the right."""
    rules = ["---" if number < text_columns else "--:" for number in range(len(header))]
    return "\n".join([line(header), line(rules), *map(line, rows)])


def line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def seconds(value: float | None) -> str:
    """Three digits, as long changes and short ones stand in one column.

    >>> seconds(0.01234), seconds(12.34), seconds(1234.5), seconds(None)
    ('0.0123', '12.3', '1,234', '–')
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def spread(timing: Timing) -> str:
    """The least, the median and the most.

    >>> spread(Timing([3.0, 1.0, 2.0]))
    '1 / 2 / 3'
    """
    return " / ".join(map(seconds, (min(timing.wall), timing.median, max(timing.wall))))


def ratio(value: float | None) -> str:
    """One time as a multiple of another.

    >>> ratio(0.0123), ratio(1.234), ratio(12.3), ratio(None)
    ('0.012', '1.23', '12.3', '–')
    """
    if value is None:
        return "–"
    return f"{value:.2g}" if value < 0.1 else f"{value:.3g}"


def percentage(value: float | None) -> str:
    """One time as a share of another.

    >>> percentage(0.0123), percentage(2.5), percentage(None)
    ('1.2 %', '250 %', '–')
    """
    return "–" if value is None else f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.0f} %"


def over(one: float | None, other: float | None) -> float | None:
    """The one divided by the other, if both are there."""
    return one / other if one is not None and other else None


def paragraphs(parts: Iterable[str]) -> str:
    """Those that say something, with an empty line between them."""
    return "\n\n".join(part for part in parts if part)
