"""Leaves rows out of indexes that later levels would refuse anyway."""

from __future__ import annotations

from collections.abc import Callable

from flintlog.engines.local.kernel_stage import Sources
from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.rule_code import Level, RuleCode
from flintlog.engines.local.statistics import Statistics

# An index of its own pays if it leaves out so many rows.
WORTH = 0.5


def filter_levels(
    code: RuleCode, sources: Sources, may_filter: Callable[[str, str], bool], statistics: Statistics
) -> None:
    """Gives a level that is followed by a probe with nothing but its own values a filter: the rows that the probe will
    find something for. `may_filter` says whether a relation can have such an index: the probed one must not change
    while it lasts."""
    for level, following in zip(code.levels[1:], code.levels[2:], strict=False):
        if level.kind != at.LEVEL_PROBE or not isinstance(level.source, str) or not level.key:
            continue
        columns = _own_columns(level, following)
        if columns is None or not isinstance(following.source, str) or not may_filter(level.source, following.source):
            continue
        relation, other = sources(level.source), sources(following.source)
        if statistics.presence(relation, columns, other, following.key) < WORTH:
            level.filters.append((following.source, following.key, columns))


def _own_columns(level: Level, following: Level) -> tuple[int, ...] | None:
    """The columns of a level's rows that make up the key of the next, if they alone do."""
    columns = dict(level.binds)
    if not following.registers or not all(register in columns for register in following.registers):
        return None
    return tuple(columns[register] for register in following.registers)
