"""Why a row is there: a proof; why it is not: how far each rule comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

RowName = tuple[str, int]  # a relation, and the place of a row in it


@dataclass(frozen=True)
class Step:
    """Why one row is there: by a rule, from rows and by conditions; or for what `note` says."""

    text: str
    rule: str = ""
    note: str = ""
    rows: tuple[RowName, ...] = ()
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attempt:
    """A rule that does not give a row: which part of its body held, with an example, and what did not."""

    rule: str
    held: tuple[str, ...]
    missing: str


@dataclass(frozen=True)
class Explanation:
    """`holds` says whether the row is there. `str` of this is text for a terminal."""

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
        """Rows below the one that they are a reason for; what was shown before is not shown again."""
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
