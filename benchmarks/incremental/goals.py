"""What is asked of a measurement, and whether it holds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SHARE_OF_MATERIALISATION = 0.02  # an addition, or a deletion, of one fact in a thousand
DELETION_TO_ADDITION = 2.0
SMALL_UPDATE_TO_BOOTSTRAP = 0.02  # a change of ten facts
AUTO_TO_BEST_STRATEGY = 1.05
AUTO_TO_RECOMPUTING = 1.0
WORST_EPOCH_TO_RECOMPUTING = 1.3
BOOTSTRAP_TO_RUN = 1.5
MEMORY_TO_RUN = 3.0


@dataclass(frozen=True)
class Goal:
    """A ratio that may be `most`; `found` is None where something kept it from being measured."""

    what: str
    found: float | None
    most: float

    @property
    def met(self) -> bool:
        return self.found is not None and self.found <= self.most


def verdict(goals: Sequence[Goal]) -> str:
    """For a cell of a table.

    >>> verdict([]), verdict([Goal("a", 0.9, 1.0)]), verdict([Goal("a", 0.9, 1.0), Goal("b", None, 1.0)])
    ('', 'yes', '**no**')
    """
    if not goals:
        return ""
    return "yes" if all(goal.met for goal in goals) else "**no**"


def tally(goals: Sequence[Goal]) -> Iterator[str]:
    """How many are met, and a line for each that is not.

    >>> print(*tally([Goal("tc, + ÷ Mat", 0.01, 0.02), Goal("tc, − ÷ Mat", 0.031, 0.02)]), sep="\\n")
    Goals met: 1 of 2.
    <BLANKLINE>
    - tc, − ÷ Mat: 0.031, at most 0.02
    """
    missed = [goal for goal in goals if not goal.met]
    if goals:
        yield f"Goals met: {len(goals) - len(missed)} of {len(goals)}."
    if missed:
        yield ""
    for goal in missed:
        found = "not measured" if goal.found is None else f"{goal.found:.3g}"
        yield f"- {goal.what}: {found}, at most {goal.most:g}"
