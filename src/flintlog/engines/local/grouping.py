"""A delta by groups: what later levels find depends on some columns of the delta only, so it is found once for all rows
that agree in these."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from flintlog.engines.local.kernel_stage import Sources
from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.rule_code import Level, RuleCode
from flintlog.engines.local.statistics import Statistics

# Groups of this size pay.
WORTH = 3.0
# A smaller delta is done before it would be grouped.
MIN_DELTA = 1 << 12


def grouped(code: RuleCode, output: Sequence[str], sources: Sources, statistics: Statistics) -> RuleCode | None:
    """The code with the delta's other columns in an innermost level of their own, if that is right and pays."""
    first = code.levels[0]
    if first.kind != at.LEVEL_SCAN or not first.delta or len(code.levels) < 3 or first.source is None:
        return None
    read = {register for level in code.levels for register in _reads(level)}
    key = [(register, column) for register, column in first.binds if register in read]
    rest = [(register, column) for register, column in first.binds if register not in read]
    wanted = {code.registers[name] for name in output}
    if not key or not any(register in wanted for register, _ in rest):
        return None
    columns = tuple(sorted(column for _, column in key))
    if statistics.group_size(sources(first.source), columns) < WORTH:
        return None
    register_of = {column: register for register, column in key}
    registers = tuple(register_of[column] for column in columns)
    result = copy(code)
    outer = Level(at.LEVEL_GROUPS, first.source, columns, (), key, first.steps, delta=True)
    inner = Level(at.LEVEL_PROBE, first.source, columns, registers, rest, delta=True)
    result.levels = [outer, *code.levels[1:], inner]
    innermost = {register for register, _ in rest}
    result.level_of = {
        name: len(code.levels) if code.registers[name] in innermost else depth for name, depth in code.level_of.items()
    }
    return result


def _reads(level: Level) -> set[int]:
    """The registers that a level's key and steps read. A test reads none by number: it has a list."""
    read = set(level.registers)
    for step in level.steps:
        read |= set(step.registers) if step.source is not None else {step.a, step.b}
    return read
