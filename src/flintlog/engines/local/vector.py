"""Scalars and conditions over whole batches: arrays of machine words in, an array out.

Integer arithmetic, comparisons and the parts of records run on arrays; everything else goes through the closures of the
reference engine, once for each distinct combination of operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from flintlog.engines.local.storage.numbering import RowNumbering
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.reference.closures import Machine
from flintlog.ir.nodes import Each, Let, Step, Where
from flintlog.ir.operations import range_values
from flintlog.ir.scalar import Call, Column, Compare, Condition, Const, Counter, Never, Reinterpret, Round, Scalar
from flintlog.ir.visit import columns_of, walk_scalar
from flintlog.types import Kind

Batch = Mapping[str, Array]
Vector = Callable[[Batch, int], Any]  # bindings and their number -> an array, or one word for all
Batches: TypeAlias = Iterator[tuple[dict[str, Array], int]]
VectorStage: TypeAlias = Callable[[dict[str, Array], int], Batches]

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {"+": np.add, "-": np.subtract, "*": np.multiply}
_BITWISE: dict[str, Callable[[Any, Any], Any]] = {"band": np.bitwise_and, "bor": np.bitwise_or, "bxor": np.bitwise_xor}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}

_SIGN = np.int64(-1 << 63)


class Vectors:
    """Compiles scalars, conditions and steps for batches, on the words of a machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.whole_words = machine.words.size == 64

    def scalar(self, scalar: Scalar) -> Vector:
        match scalar:
            case Column(name, _):
                return lambda batch, size: batch[name]
            case Const(value, kind):
                word = np.int64(self.machine.word(value, kind))
                return lambda batch, size: word
            case Reinterpret(arg, kind) if kind.is_numeric or kind is arg.kind:
                return self.scalar(arg)  # other kinds have numbers that stand for nothing: the closure says so
            case Call(op, (left, right), kind) if self.whole_words and kind in (Kind.NUMBER, Kind.UNSIGNED):
                if op in _ARITHMETIC or op in _BITWISE:
                    return self._binary((_ARITHMETIC | _BITWISE)[op], left, right)
                if op in ("min", "max") and kind is Kind.NUMBER:
                    return self._binary(np.minimum if op == "min" else np.maximum, left, right)
                if op in ("/", "%") and kind is Kind.NUMBER and isinstance(right, Const) and right.value not in (0, -1):
                    return self._division(op, left, right)
        return self._by_row(scalar)

    def _binary(self, function: Callable[[Any, Any], Any], left: Scalar, right: Scalar) -> Vector:
        a, b = self.scalar(left), self.scalar(right)

        def compute(batch: Batch, size: int) -> Any:
            with np.errstate(over="ignore"):
                return function(a(batch, size), b(batch, size))

        return compute

    def _division(self, op: str, left: Scalar, right: Scalar) -> Vector:
        """Division towards zero, by a constant."""
        a, b = self.scalar(left), self.scalar(right)

        def compute(batch: Batch, size: int) -> Any:
            dividend, divisor = np.asarray(a(batch, size)), b(batch, size)
            remainder = np.fmod(dividend, divisor)
            return remainder if op == "%" else (dividend - remainder) // divisor

        return compute

    def condition(self, condition: Condition) -> Vector:
        match condition:
            case Never():
                return lambda batch, size: np.False_
            case Compare(op, left, right) if op in _COMPARE and self._compares_words(op, left.kind):
                a, b, test = self.scalar(left), self.scalar(right), _COMPARE[op]
                if left.kind is Kind.UNSIGNED and op not in ("=", "!="):
                    # Turning the sign round makes words of unsigned numbers compare as these do.
                    return lambda batch, size: test(a(batch, size) ^ _SIGN, b(batch, size) ^ _SIGN)
                return lambda batch, size: test(a(batch, size), b(batch, size))
        holds = self.machine.condition(condition, positions := self._positions(condition))
        return self._distinct(condition, positions, lambda row: int(holds(row)), dtype=np.bool_)

    def _compares_words(self, op: str, kind: Kind) -> bool:
        """Whether words compare as their values do."""
        if op in ("=", "!="):
            return kind is not Kind.FLOAT
        return kind is Kind.NUMBER or (kind is Kind.UNSIGNED and self.whole_words)

    def column(self, scalar: Scalar) -> Callable[[Batch, int], Array]:
        """As `scalar`, but the result is an array of the batch's size for a constant, too."""
        compute = self.scalar(scalar)

        def fill(batch: Batch, size: int) -> Array:
            values = compute(batch, size)
            return values if isinstance(values, np.ndarray) and values.ndim else np.full(size, values, np.int64)

        return fill

    # --- Steps ------------------------------------------------------------------------------------

    def stage(self, step: Step) -> VectorStage:
        """A function from a batch to the batches that a step makes of it."""
        match step:
            case Where(condition):
                holds = self.condition(condition)
                return lambda batch, size: _filtered(batch, size, holds(batch, size))
            case Let(column, value):
                compute = self.column(value)
                return lambda batch, size: iter([({**batch, column.name: compute(batch, size)}, size)])
            case Each(column, bounds):
                ends = [self.column(bound) for bound in bounds]
                return lambda batch, size: self.each(column, [end(batch, size) for end in ends], batch)

    def each(self, column: Column, ends: Sequence[Array], batch: Batch) -> Batches:
        """The values of ranges: in the batch's order, as many rows as there are values."""
        machine, kind = self.machine, column.kind
        if kind is Kind.NUMBER and self.whole_words and len(ends) == 2:
            counts, flat = _number_ranges(*ends)
        else:
            rows = zip(*([machine.value(word, kind) for word in end.tolist()] for end in ends), strict=True)
            lists = [[machine.word(v, kind) for v in range_values(bounds, kind, machine.words)] for bounds in rows]
            counts = np.array([len(values) for values in lists])
            flat = np.array([word for values in lists for word in values], np.int64)
        repeated = {name: np.repeat(values, counts) for name, values in batch.items()}
        yield {**repeated, column.name: flat}, flat.size

    # --- Row by row -------------------------------------------------------------------------------

    def _positions(self, term: Scalar | Condition) -> dict[str, int]:
        return {name: i for i, name in enumerate(sorted(columns_of(term)))}

    def _by_row(self, scalar: Scalar) -> Vector:
        positions = self._positions(scalar)
        compute = self.machine.scalar(scalar, positions)
        kind = scalar.kind
        if any(isinstance(part, Counter | Round) for part in walk_scalar(scalar)):
            return self._every(scalar, positions, lambda row: self.machine.word(compute(row), kind))
        return self._distinct(scalar, positions, lambda row: self.machine.word(compute(row), kind), dtype=np.int64)

    def _kinds(self, term: Scalar | Condition) -> dict[str, Kind]:
        return {part.name: part.kind for part in walk_scalar(term) if isinstance(part, Column)}

    def _decoded(self, columns: Sequence[Array], kinds: Sequence[Kind]) -> list[tuple[Any, ...]]:
        value = self.machine.value
        lists = [[value(word, kind) for word in column.tolist()] for column, kind in zip(columns, kinds, strict=True)]
        return list(zip(*lists, strict=True))

    def _every(self, term: Scalar, positions: dict[str, int], compute: Callable[[tuple[Any, ...]], int]) -> Vector:
        kinds = self._kinds(term)

        def run(batch: Batch, size: int) -> Any:
            columns = [batch[name] for name in positions]
            rows = self._decoded(columns, [kinds[name] for name in positions]) if columns else [()] * size
            return np.array([compute(row) for row in rows], np.int64)

        return run

    def _distinct(
        self, term: Scalar | Condition, positions: dict[str, int], compute: Callable[[tuple[Any, ...]], int], dtype: Any
    ) -> Vector:
        kinds = self._kinds(term)

        def run(batch: Batch, size: int) -> Any:
            if not positions:
                return dtype(compute(())) if size else np.empty(0, dtype)
            columns = [batch[name] for name in positions]
            numbering = RowNumbering(len(columns))
            numbers = numbering.add(columns)
            some = np.empty(numbering.count, np.int64)  # a row for each combination
            some[numbers] = np.arange(size)
            rows = self._decoded([column[some] for column in columns], [kinds[name] for name in positions])
            return np.array([compute(row) for row in rows], dtype)[numbers]

        return run


def _number_ranges(start: Array, stop: Array) -> tuple[Array, Array]:
    """How many numbers there are from each start to each stop, up or down, and all of them."""
    counts = np.abs(stop - start)
    place = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return counts, np.repeat(start, counts) + place * np.repeat(np.where(start <= stop, 1, -1), counts)


def _filtered(batch: Batch, size: int, keep: Any) -> Batches:
    if not isinstance(keep, np.ndarray) or keep.ndim == 0:
        if keep:
            yield dict(batch), size
        return
    count = int(np.count_nonzero(keep))
    if count == size:
        yield dict(batch), size
    elif count:
        yield {name: column[keep] for name, column in batch.items()}, count
