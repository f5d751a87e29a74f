"""Runs a plan: batches of bindings go from step to step, and the last ones into a relation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from flintlog.engines.local.kernels.groups import fill_pairs, widest
from flintlog.engines.local.plan import Plan, Probe
from flintlog.engines.local.query import Absent
from flintlog.engines.local.storage.arrangement import Run
from flintlog.engines.local.storage.packing import Array, range_of
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.vector import Batch, Vectors
from flintlog.ir.functors import range_values
from flintlog.ir.relation import Each, Let, Node, Where
from flintlog.ir.scalar import Column
from flintlog.ir.visit import columns_of, terms_of

# Candidates of a join are made in batches of about this many.
CANDIDATES = 1 << 18
# A kernel does not see an interrupt: it has no more candidates than this, unless one key alone has them.
UNINTERRUPTED = 1 << 25

Sources = Callable[[str | Node], Relation]
Stage = Callable[[dict[str, Array], int], Iterator[tuple[dict[str, Array], int]]]


class Pipeline:
    """A plan with its sources, made to run many times. It calls `tick` after every batch, for whoever wants to know."""

    def __init__(self, plan: Plan, vectors: Vectors, sources: Sources, tick: Callable[[], None] = lambda: None) -> None:
        self.vectors, self.sources, self.tick = vectors, sources, tick
        self.needed = _needed_after(plan)
        self.fused = self._fusable(plan)
        steps = plan.steps[:-1] if self.fused else plan.steps
        self.stages = [self._stage(step, self.needed[i]) for i, step in enumerate(steps)]
        self.last = plan.steps[-1] if self.fused else None
        self.output = plan.output
        self.values = [vectors.scalar(value) for value in plan.output]

    def run(self, into: Relation) -> None:
        for batch, size in self._bindings({}, 1, 0):
            if isinstance(self.last, Probe):
                self._insert_join(self.last, batch, size, into)
            else:
                columns = [_full(value(batch, size), size) for value in self.values]
                into.insert(columns, size)
                self.tick()

    def _bindings(self, batch: dict[str, Array], size: int, depth: int) -> Iterator[tuple[dict[str, Array], int]]:
        if size == 0:
            return
        if depth == len(self.stages):
            yield batch, size
            return
        for next_batch, next_size in self.stages[depth](batch, size):
            yield from self._bindings(next_batch, next_size, depth + 1)

    # --- Steps ------------------------------------------------------------------------------------

    def _stage(self, step: Any, needed: frozenset[str]) -> Stage:
        match step:
            case Probe():
                return lambda batch, size: self._probe(step, batch, size, needed)
            case Where(condition):
                holds = self.vectors.condition(condition)
                return lambda batch, size: _filtered(batch, size, holds(batch, size))
            case Let(column, value):
                compute = self.vectors.scalar(value)
                return lambda batch, size: iter([({**batch, column.name: _full(compute(batch, size), size)}, size)])
            case Each(column, bounds):
                ends = [self.vectors.scalar(bound) for bound in bounds]
                return lambda batch, size: self._each(column, [_full(e(batch, size), size) for e in ends], batch, size)
            case Absent():
                values = [self.vectors.scalar(value) for value in step.values]
                return lambda batch, size: self._absent(
                    step, [_full(v(batch, size), size) for v in values], batch, size
                )
        raise AssertionError(step)

    def _probe(
        self, probe: Probe, batch: dict[str, Array], size: int, needed: frozenset[str]
    ) -> Iterator[tuple[dict[str, Array], int]]:
        relation = self.sources(probe.rows.source)
        start, end = (relation.delta, relation.visible) if probe.delta else (0, relation.visible)
        if start == end and relation.arity:
            return
        if relation.arity == 0:
            if relation.visible > start or (not probe.delta and relation.visible):
                yield batch, size
            return
        if not batch and size == 1 and not probe.key:
            yield from self._scan(probe, relation, start, end, needed)
            return
        assert not probe.delta
        if (
            not probe.binds
            and len(probe.key) == relation.arity
            and not probe.same
            and relation.visible == relation.size
        ):
            yield from _filtered(batch, size, relation.contains([batch[v.name] for v in probe.values], size))
            return
        for run in relation.runs(probe.key, end):
            low, high, total = run.probe([batch[v.name] for v in probe.values], size)
            if total:
                yield from self._expanded(probe, run, low, high, batch, needed)

    def _scan(
        self, probe: Probe, relation: Relation, start: int, end: int, needed: frozenset[str]
    ) -> Iterator[tuple[dict[str, Array], int]]:
        for first in range(start, end, CANDIDATES):
            last = min(end, first + CANDIDATES)
            batch = {v.name: relation.column(p, first, last) for p, v in probe.binds if v.name in needed}
            size = last - first
            if probe.same:
                equal = np.ones(size, np.bool_)
                for a, b in probe.same:
                    equal &= relation.column(a, first, last) == relation.column(b, first, last)
                yield from _filtered(batch, size, equal)
            else:
                yield batch, size

    def _expanded(
        self, probe: Probe, run: Run, low: Array, high: Array, batch: dict[str, Array], needed: frozenset[str]
    ) -> Iterator[tuple[dict[str, Array], int]]:
        room = max(CANDIDATES, int(widest(low, high)))
        left, right = np.empty(room, np.int64), np.empty(room, np.int64)
        at = 0
        while at < low.size:
            at, count = fill_pairs(low, high, at, left, right)
            if count == 0:
                continue
            i, j = left[:count], right[:count]
            joined = {name: column[i] for name, column in batch.items() if name in needed}
            joined |= {v.name: run.payload(p)[j] for p, v in probe.binds if v.name in needed}
            if probe.same:
                equal = np.ones(count, np.bool_)
                for a, b in probe.same:
                    equal &= run.payload(a)[j] == run.payload(b)[j]
                yield from _filtered(joined, count, equal)
            else:
                yield joined, count

    def _each(
        self, column: Column, ends: Sequence[Array], batch: dict[str, Array], size: int
    ) -> Iterator[tuple[dict[str, Array], int]]:
        machine = self.vectors.machine
        kind = column.kind
        rows = zip(*([machine.value(word, kind) for word in end.tolist()] for end in ends), strict=True)
        lists = [[machine.word(v, kind) for v in range_values(bounds, kind, machine.words)] for bounds in rows]
        counts = np.array([len(values) for values in lists])
        repeated = {name: np.repeat(values, counts) for name, values in batch.items()}
        flat = np.array([word for values in lists for word in values], np.int64)
        yield {**repeated, column.name: flat}, flat.size

    def _absent(
        self, step: Absent, values: Sequence[Array], batch: dict[str, Array], size: int
    ) -> Iterator[tuple[dict[str, Array], int]]:
        relation = self.sources(step.node)
        positions = tuple([c.name for c in step.node.schema].index(name) for name in step.on)
        if not positions or relation.visible == 0:
            found = np.full(size, relation.visible > 0)
        elif len(positions) == relation.arity and relation.visible == relation.size:
            ordered = [values[positions.index(p)] for p in range(relation.arity)]
            found = relation.contains(ordered, size)
        else:
            found = np.zeros(size, np.bool_)
            for run in relation.runs(positions, relation.visible):
                low, high, _ = run.probe(values, size)
                found |= high > low
        yield from _filtered(batch, size, found if step.wanted else ~found)

    # --- The last join ----------------------------------------------------------------------------

    def _fusable(self, plan: Plan) -> bool:
        """Whether the last step is a join whose candidates can go straight into the duplicate check: every column of
        the head is a variable of one of its sides."""
        last = plan.steps[-1] if len(plan.steps) > 1 else None
        if not isinstance(last, Probe) or last.same or last.delta or not last.binds:
            return False
        return bool(plan.output) and all(isinstance(value, Column) for value in plan.output)

    def _insert_join(self, probe: Probe, batch: dict[str, Array], size: int, into: Relation) -> None:
        relation = self.sources(probe.rows.source)
        position_of = {v.name: p for p, v in probe.binds}
        names = [value.name for value in self.output if isinstance(value, Column)]
        for run in relation.runs(probe.key, relation.visible):
            low, high, total = run.probe([batch[v.name] for v in probe.values], size)
            if total == 0:
                continue
            ranges = [run.range(position_of[n]) if n in position_of else range_of(batch[n]) for n in names]
            if not into.prepare(ranges):
                needed = frozenset(names)
                for joined, count in self._expanded(probe, run, low, high, batch, needed):
                    into.insert([joined[name] for name in names], count)
                continue
            packing = into.packing
            assert packing is not None
            left = np.zeros(size, np.int64)
            rights: list[Array] = []
            for i, name in enumerate(names):
                if name in position_of:
                    rights.append(run.packed(position_of[name], packing, i))
                else:
                    left |= packing.part(i, batch[name])
            if not rights:
                # Nothing of the right side is wanted: one candidate a left row will do.
                into.insert([batch[name][high > low] for name in names], int(np.count_nonzero(high > low)))
                continue
            right = rights[0] if len(rights) == 1 else np.bitwise_or.reduce(rights)
            for part in _slices(low, high, total):
                into.insert_join(left[part], low[part], high[part], right, total)
                self.tick()


def _slices(low: Array, high: Array, total: int) -> Iterator[slice]:
    """Cuts a join into pieces of some million candidates, so that an interrupt between them is soon."""
    if total <= UNINTERRUPTED:
        yield slice(None)
        return
    candidates = np.cumsum(high - low)
    start = 0
    while start < low.size:
        before = int(candidates[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(candidates, before + UNINTERRUPTED, side="right")))
        yield slice(start, end)
        start = end


def _full(values: Any, size: int) -> Array:
    """An array of the batch's size, also for a constant."""
    return values if isinstance(values, np.ndarray) and values.ndim else np.full(size, values, np.int64)


def _filtered(batch: Batch, size: int, keep: Any) -> Iterator[tuple[dict[str, Array], int]]:
    if not isinstance(keep, np.ndarray) or keep.ndim == 0:
        if keep:
            yield dict(batch), size
        return
    count = int(np.count_nonzero(keep))
    if count == size:
        yield dict(batch), size
    elif count:
        yield {name: column[keep] for name, column in batch.items()}, count


def _needed_after(plan: Plan) -> list[frozenset[str]]:
    """For each step, the variables that later steps or the output read."""
    needed = frozenset(name for value in plan.output for name in columns_of(value))
    result: list[frozenset[str]] = []
    for step in reversed(plan.steps):
        result.append(needed)
        needed |= _reads(step)
    return result[::-1]


def _reads(step: Any) -> frozenset[str]:
    match step:
        case Probe():
            return frozenset(v.name for v in step.values)
        case Absent():
            return frozenset(name for value in step.values for name in columns_of(value))
        case _:
            return frozenset(name for term in terms_of(step) for name in columns_of(term))
