"""Runs a plan: in the kernels as far as they know its steps, over batches of columns where they do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from flintlog.engines.local.grouping import MIN_DELTA
from flintlog.engines.local.kernel_stage import KernelStage, Sources
from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.plan import Plan, PlanStep, Probe
from flintlog.engines.local.rule_code import RuleCode, computable, in_kernels
from flintlog.engines.local.storage.best_relation import BestRelation
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.vector import Batches, Vectors, VectorStage
from flintlog.engines.local.workers import Workers
from flintlog.engines.queries.query import Absent
from flintlog.ir.nodes import Each, Let, Where
from flintlog.ir.scalar import Column
from flintlog.ir.visit import columns_of, terms_of


class Refine(Protocol):
    """What statistics say about code before it is built: rows to leave out, and whether to group the delta."""

    def filter(self, code: RuleCode) -> None: ...

    def group(self, code: RuleCode, output: Sequence[str]) -> RuleCode | None: ...


class Pipeline:
    """A plan with its sources, made to run many times. It calls `tick` now and then, for whoever wants to know."""

    def __init__(
        self,
        plan: Plan,
        vectors: Vectors,
        sources: Sources,
        workers: Workers,
        tick: Callable[[], None] = lambda: None,
        refine: Refine | None = None,
        given: Sequence[str] | None = None,
    ) -> None:
        """`given` are the variables of the bindings that it begins with, if it begins with some."""
        self.vectors, self.sources, self.workers, self.tick = vectors, sources, workers, tick
        self._refine, self._given = refine, given
        self.plan = plan = _with_plain_tests(plan, vectors.whole_words)
        self.needed = _needed_after(plan)
        self.stages: list[KernelStage | VectorStage] = []
        self.values: list[Any] = []
        self._by_groups: KernelStage | None = None
        self._built_for: bool | None = None

    def run(self, into: Relation) -> None:
        direct = not isinstance(into, BestRelation) and into.arity <= at.BUFFER_WORDS
        if self._built_for is not direct:
            self._build(direct)
            self._built_for = direct
        if any(
            isinstance(stage, KernelStage) and stage.reads(into) for stage in self.stages[: None if self.values else -1]
        ):
            into.hold()
            try:
                self._run({}, 1, 0, into)
            finally:
                into.release()
        else:
            self._run({}, 1, 0, into)

    def prepare(self) -> None:
        """Makes ready all that `bindings` needs, indexes among it."""
        if self._built_for is not False:
            self._build(direct=False)
            self._built_for = False
        for stage in self.stages:
            if isinstance(stage, KernelStage):
                stage.refresh()

    def bindings(self, batch: dict[str, Array], size: int) -> Batches:
        """What the plan's output, which must be variables, is bound to: once for each combination of rows."""
        if self._built_for is not False:
            self.prepare()
        return self._bindings(batch, size, 0)

    def _bindings(self, batch: dict[str, Array], size: int, place: int) -> Batches:
        if place == len(self.stages):
            yield batch, size
            return
        stage = self.stages[place]
        batches = stage.batches(batch, size) if isinstance(stage, KernelStage) else stage(batch, size)
        for next_batch, next_size in batches:
            if next_size:
                yield from self._bindings(next_batch, next_size, place + 1)

    def _run(self, batch: dict[str, Array], size: int, place: int, into: Relation) -> None:
        if place == len(self.stages):
            into.insert([value(batch, size) for value in self.values], size)
            self.tick()
            return
        stage = self.stages[place]
        if isinstance(stage, KernelStage):
            if place + 1 == len(self.stages) and not self.values:
                if self._by_groups is not None and stage.delta_size() >= MIN_DELTA:
                    stage = self._by_groups
                stage.run(into, batch, size, self.workers, self.tick)
                return
            batches = stage.batches(batch, size)
        else:
            batches = stage(batch, size)
        for next_batch, next_size in batches:
            if next_size:
                self._run(next_batch, next_size, place + 1, into)

    # --- Building ---------------------------------------------------------------------------------

    def _build(self, direct: bool) -> None:
        """Makes stages of runs of steps. `direct`: the kernels may put rows into the head's relation by themselves."""
        whole, steps = self.vectors.whole_words, self.plan.steps
        self.stages, self.values = [], []
        output = self.plan.output
        direct = direct and all(computable(value, whole) for value in output)
        given: list[str] | None = list(self._given) if self._given is not None else None
        place = 0
        while place < len(steps):
            step = steps[place]
            if not in_kernels(step, whole):
                assert isinstance(step, Where | Let | Each)
                self.stages.append(self.vectors.stage(step))
                given = sorted(self.needed[place])
                place += 1
                continue
            code = RuleCode(self.vectors.machine, self._read_from(place), given)
            while place < len(steps) and in_kernels(steps[place], whole) and code.has_room():
                code.add(steps[place])
                place += 1
            if self._refine is not None:
                self._refine.filter(code)
            if place == len(steps) and direct:
                self._finish(code, [code.result(value) for value in output])
                return
            given = sorted(self.needed[place - 1])
            self.stages.append(KernelStage(code, given, self.sources))
        if direct:
            code = RuleCode(self.vectors.machine, frozenset(), given if given is not None else [])
            self.stages.append(KernelStage(code, [code.result(value) for value in output], self.sources))
        else:
            self.values = [self.vectors.column(value) for value in output]

    def _finish(self, code: RuleCode, output: list[str]) -> None:
        self.stages.append(KernelStage(code, output, self.sources))
        by_groups = self._refine.group(code, output) if self._refine is not None and len(self.stages) == 1 else None
        self._by_groups = KernelStage(by_groups, output, self.sources) if by_groups is not None else None

    def _read_from(self, place: int) -> frozenset[str]:
        """The variables that steps from there on, or the output, read."""
        result = frozenset(name for value in self.plan.output for name in columns_of(value))
        for step in self.plan.steps[place:]:
            result |= _reads(step)
        return result


def _with_plain_tests(plan: Plan, whole_words: bool) -> Plan:
    """What a test for absent rows would have to compute, and the kernels cannot, is computed before it."""
    steps: list[PlanStep] = []
    for step in plan.steps:
        if isinstance(step, Absent):
            values = list(step.values)
            for i, value in enumerate(values):
                if not computable(value, whole_words):
                    column = values[i] = Column(f"{len(steps)}?", value.kind)
                    steps.append(Let(column, value))
            step = replace(step, values=tuple(values))
        steps.append(step)
    return Plan(tuple(steps), plan.output)


def _needed_after(plan: Plan) -> list[frozenset[str]]:
    """For each step, the bound variables that later steps or the output read."""
    needed = frozenset(name for value in plan.output for name in columns_of(value))
    result: list[frozenset[str]] = []
    for step in reversed(plan.steps):
        result.append(needed)
        needed = (needed - _binds(step)) | _reads(step)
    return result[::-1]


def _binds(step: PlanStep) -> frozenset[str]:
    match step:
        case Probe():
            return frozenset(v.name for _, v in step.binds)
        case Let(column, _) | Each(column, _):
            return frozenset((column.name,))
        case _:
            return frozenset()


def _reads(step: PlanStep) -> frozenset[str]:
    match step:
        case Probe():
            return frozenset(v.name for v in step.values)
        case Absent():
            return frozenset(name for value in step.values for name in columns_of(value))
        case _:
            return frozenset(name for term in terms_of(step) for name in columns_of(term))
