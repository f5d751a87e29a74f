"""Explanations: the proof of a row, or how far each rule matches a row that the database lacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

RowName = tuple[str, int]  # a relation, and the position of a row in it


@dataclass(frozen=True)
class Step:
    """Why a row is there: `rule` derives it from `rows` under `conditions`, or `note` says why."""

    text: str
    rule: str = ""
    note: str = ""
    rows: tuple[RowName, ...] = ()
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """A rule that does not derive a row: the literals that hold, with example values, and what is `missing`."""

    rule: str
    held: tuple[str, ...]
    missing: str


@dataclass(frozen=True)
class Explanation:
    """Of the row `goal`: its proof (`root`, `steps`) if it `holds`, else `attempts`. `str` is text for a terminal."""

    goal: str
    holds: bool
    root: RowName | None = None
    steps: Mapping[RowName, Step] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._proof() if self.root is not None else self._why_not())

    def _why_not(self) -> Iterator[str]:
        yield f"{self.goal} is not there"
        if not self.attempts:
            yield "  it is no fact, and there are no rules for it"
        for attempt in self.attempts:
            yield f"  {attempt.rule}"
            for row in attempt.held:
                yield f"    {row}"
            yield f"    but {attempt.missing}"

    def _proof(self) -> Iterator[str]:
        """The lines of a proof: a row, then the rows from which it derives, indented. Each proof is shown once."""
        assert self.root is not None
        shown: set[RowName] = set()
        waiting: list[tuple[RowName | str, str, str]] = [(self.root, "", "")]
        while waiting:
            item, first, rest = waiting.pop()
            if isinstance(item, str):
                yield first + item
                continue
            step = self.steps[item]
            again = item in shown and bool(step.rows)
            shown.add(item)
            note = "see above" if again else step.note
            yield f"{first}{step.text}{f'  ({note})' if note else ''}"
            if again:
                continue
            if step.rule:
                yield f"{rest}{'│ ' if step.rows or step.conditions else '  '} by {step.rule}"
            below: list[RowName | str] = [*step.rows, *step.conditions]
            for i, part in reversed(list(enumerate(below))):
                is_last = i == len(below) - 1
                waiting.append((part, rest + ("└─ " if is_last else "├─ "), rest + ("   " if is_last else "│  ")))
