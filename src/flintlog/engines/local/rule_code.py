"""Steps of a plan as blocks that the kernels run: levels, steps and registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.plan import PlanStep, Probe
from flintlog.engines.queries.query import Absent
from flintlog.engines.reference.closures import Machine
from flintlog.ir.nodes import Let, Node, Where
from flintlog.ir.scalar import Call, Column, Compare, Const, Reinterpret, Scalar
from flintlog.types import Kind

_ARITHMETIC = {"+": at.OP_ADD, "-": at.OP_SUB, "*": at.OP_MUL, "band": at.OP_AND, "bor": at.OP_OR, "bxor": at.OP_XOR}
_NUMBERS_ONLY = {"min": at.OP_MIN, "max": at.OP_MAX}
_DIVISION = {"/": at.OP_DIV, "%": at.OP_MOD}
_EQUAL = {"=": at.OP_EQ, "!=": at.OP_NE}
_SIGNED = {"<": at.OP_LT, "<=": at.OP_LE, ">": at.OP_GT, ">=": at.OP_GE}
_UNSIGNED = {"<": at.OP_ULT, "<=": at.OP_ULE, ">": at.OP_UGT, ">=": at.OP_UGE}


def in_kernels(step: PlanStep, whole_words: bool) -> bool:
    """Whether the kernels know a step."""
    match step:
        case Probe():
            return True
        case Absent():
            return all(computable(value, whole_words) for value in step.values)
        case Where(Compare(op, left, right)):
            return _comparison(op, left.kind, whole_words) is not None and all(
                computable(side, whole_words) for side in (left, right)
            )
        case Let(_, value):
            return computable(value, whole_words)
        case _:
            return False


def computable(scalar: Scalar, whole_words: bool) -> bool:
    """Whether the kernels can compute a scalar."""
    match scalar:
        case Column() | Const():
            return True
        case Reinterpret(arg, kind):
            return (kind.is_numeric or kind is arg.kind) and computable(arg, whole_words)
        case Call(op, (left, right), kind) if whole_words:
            return (
                _operation(op, right, kind) is not None
                and computable(left, whole_words)
                and computable(right, whole_words)
            )
        case _:
            return False


def _operation(op: str, right: Scalar, kind: Kind) -> int | None:
    if kind is Kind.NUMBER and op in _NUMBERS_ONLY:
        return _NUMBERS_ONLY[op]
    if kind is Kind.NUMBER and op in _DIVISION:
        return _DIVISION[op] if isinstance(right, Const) and right.value not in (0, -1) else None
    return _ARITHMETIC.get(op) if kind in (Kind.NUMBER, Kind.UNSIGNED) else None


def _comparison(op: str, kind: Kind, whole_words: bool) -> int | None:
    if op in _EQUAL and kind is not Kind.FLOAT:
        return _EQUAL[op]
    if kind is Kind.NUMBER:
        return _SIGNED.get(op)
    return _UNSIGNED.get(op) if kind is Kind.UNSIGNED and whole_words else None


@dataclass(eq=False)
class Step:
    """A test or computation; one on a relation's rows names its source, and the columns that have values."""

    op: int
    to: int
    a: int = 0
    b: int = 0
    source: str | Node | None = None
    positions: tuple[int, ...] = ()
    registers: tuple[int, ...] = ()


@dataclass(eq=False)
class Level:
    """A loop: over a range of rows, a batch, or the rows that agree with the values of some registers. A filter
    leaves out rows that would come to nothing: another source, its columns, and this one's that must stand there."""

    kind: int
    source: str | Node | None = None
    key: tuple[int, ...] = ()
    registers: tuple[int, ...] = ()
    binds: list[tuple[int, int]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    delta: bool = False
    filters: list[tuple[str | Node, tuple[int, ...], tuple[int, ...]]] = field(default_factory=list)


class RuleCode:
    """Levels for some steps of a plan. `given` are the variables of a batch it begins with, if it does."""

    def __init__(self, machine: Machine, needed: frozenset[str], given: Sequence[str] | None) -> None:
        self._machine, self._needed = machine, needed
        self.registers: dict[str, int] = {}
        self.constants: dict[int, int] = {}  # value -> register
        self.levels: list[Level] = []
        self.level_of: dict[str, int] = {}  # where a variable gets its value
        self.computed: set[str] = set()
        self.origin: dict[str, list[tuple[str | Node, int]]] = {}  # the columns a variable stands in
        self._last = 0
        self.given = list(given or ())
        if given is not None:
            self.levels.append(Level(at.LEVEL_BATCH))
            self.levels[0].binds = [(self._bound(name), i) for i, name in enumerate(self.given)]

    @property
    def register_count(self) -> int:
        return self._last

    def _new(self) -> int:
        self._last += 1
        return self._last - 1

    def _bound(self, name: str) -> int:
        if name not in self.registers:
            self.registers[name] = self._new()
            self.level_of[name] = len(self.levels) - 1
        return self.registers[name]

    def has_room(self) -> bool:
        """Whether there may be further levels, for another step and for a delta by groups."""
        return len(self.levels) < at.MAX_LEVELS - 2

    # --- Steps ------------------------------------------------------------------------------------

    def add(self, step: PlanStep) -> None:
        if not self.levels and not (isinstance(step, Probe) and not step.key):
            self.levels.append(Level(at.LEVEL_BATCH))
        match step:
            case Probe():
                self._probe(step)
            case Absent():
                positions = [[c.name for c in step.node.schema].index(name) for name in step.on]
                pairs = sorted(zip(positions, (self.value(v) for v in step.values), strict=True))
                self._test(step.node, [p for p, _ in pairs], [r for _, r in pairs], step.wanted, len(step.node.schema))
            case Where(Compare(op, left, right)):
                code = _comparison(op, left.kind, whole_words=True)
                assert code is not None
                self._step(Step(code, 1, self.value(left), self.value(right)))
            case Let(column, value):
                self._let(column.name, value)

    def _step(self, step: Step) -> None:
        self.levels[-1].steps.append(step)

    def _let(self, name: str, value: Scalar) -> int:
        register = self.value(value)
        if isinstance(value, Const) and name not in self.registers:
            self.registers[name], self.level_of[name] = register, 0
            self.computed.add(name)
            return register
        target = self._bound(name)
        self._step(Step(at.OP_COPY, target, register, register))
        self.computed.add(name)
        return target

    def _probe(self, probe: Probe) -> None:
        source = probe.rows.source
        for position, variable in enumerate(probe.rows.variables):
            self.origin.setdefault(variable.name, []).append((source, position))
        if self.levels and not probe.delta and not probe.same and not self._wants(probe):
            registers = [self.registers[v.name] for v in probe.values]
            self._test(source, probe.key, registers, True, len(probe.rows.variables))
            return
        if not self.levels:
            level = Level(at.LEVEL_SCAN, source, delta=probe.delta)
        else:
            values = tuple(self.registers[v.name] for v in probe.values)
            level = Level(at.LEVEL_PROBE, source, probe.key, values, delta=probe.delta)
        self.levels.append(level)
        same = {position: first for first, position in probe.same}
        tested = {first for first, _ in probe.same}
        places: dict[int, int] = {}
        for position, variable in probe.binds:
            if variable.name in self._needed or position in tested:
                places[position] = self._bound(variable.name)
                level.binds.append((places[position], position))
        for position, first in same.items():
            register = self._new()
            level.binds.append((register, position))
            self._step(Step(at.OP_EQ, 1, places[first], register))

    def _wants(self, probe: Probe) -> bool:
        """Whether anybody reads what a probe binds; if not, it is enough that there is a row."""
        return any(variable.name in self._needed for _, variable in probe.binds)

    def _test(
        self, source: str | Node, positions: Sequence[int], registers: Sequence[int], wanted: bool, arity: int
    ) -> None:
        op = at.OP_CONTAINS if len(positions) == arity <= at.BUFFER_WORDS else at.OP_EXISTS
        self._step(Step(op, int(wanted), 0, 0, source, tuple(positions), tuple(registers)))

    # --- Values -----------------------------------------------------------------------------------

    def value(self, scalar: Scalar) -> int:
        """The register of a scalar, computed at the current level."""
        match scalar:
            case Column(name, _):
                return self.registers[name]
            case Const(value, kind):
                word = self._machine.word(value, kind)
                if word not in self.constants:
                    self.constants[word] = self._new()
                return self.constants[word]
            case Reinterpret(arg, _):
                return self.value(arg)
            case Call(op, (left, right), kind):
                code = _operation(op, right, kind)
                assert code is not None
                a, b = self.value(left), self.value(right)
                target = self._new()
                self._step(Step(code, target, a, b))
                return target
        raise AssertionError(scalar)

    def result(self, scalar: Scalar) -> str:
        """The name of a variable that has a scalar's value."""
        if isinstance(scalar, Column):
            return scalar.name
        if not self.levels:
            self.levels.append(Level(at.LEVEL_BATCH))
        name = f"={len(self.registers)}"
        self._let(name, scalar)
        return name

    def back_level(self, output: Sequence[str]) -> int:
        """The last level on which a row of the head depends: further rows of later ones would only repeat it."""
        return max((self.level_of[name] for name in output), default=0)
