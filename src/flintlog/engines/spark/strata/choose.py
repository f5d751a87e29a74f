"""Which strategy evaluates which strata, and why: the sentence that is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from flintlog.engines.memory import in_words
from flintlog.engines.queries.best import best_of
from flintlog.engines.queries.query import Rows, query_of
from flintlog.engines.spark.dataframe import applies as dataframe_refuses
from flintlog.engines.spark.strata.pivot import find_pivots
from flintlog.engines.spark.strata.traits import why_together
from flintlog.ir.nodes import Aggregate
from flintlog.ir.program import Program, Stratum
from flintlog.ir.visit import relations_of, walk

# Inputs of fewer bytes are not worth spreading over tasks: a task has seen them before a shuffle has begun.
WORTH_PARTS = 64 << 10
WORTH_RESIDENT = 1 << 20
# What sees every row of its inputs about once is done by one task before several have met.
WORTH_RESIDENT_LIGHT = 64 << 20
# Inputs of so many bytes may make relations that an aggregate cannot have in every task.
WORTH_SPREADING_AGGREGATES = 64 << 20
# So many times its inputs a relation may well become.
GROWTH = 8


@dataclass(frozen=True)
class Segment:
    """Strata that one strategy evaluates in one go."""

    strategy: str
    strata: tuple[Stratum, ...]
    reason: str


@dataclass(frozen=True)
class Situation:
    """What is known before a run. `sizes` are bytes of inputs, as far as they can be told without reading them;
    `memory` is what all tasks together may take."""

    wanted: str
    tasks: int
    sizes: Mapping[str, int | None]
    broadcast_limit: int
    memory: int
    connect: bool = False

    def bytes_of(self, names: Sequence[str] | frozenset[str]) -> int:
        """Bytes of what some relations are computed from, if it is told; unknown ones count as large."""
        return sum(self.sizes[name] or WORTH_RESIDENT for name in names if name in self.sizes)


def plan_segments(program: Program, situation: Situation) -> list[Segment]:
    """The strata in order, each with a strategy; neighbours of one strategy go together where one job can do both.
    `program` has its shared subplans in their places."""
    chooser = _Chooser(program, situation)
    chosen = [chooser.choose(stratum) for stratum in program.strata if has_work(program, stratum)]
    return _merged(chooser.settled(chosen))


def has_work(program: Program, stratum: Stratum) -> bool:
    """Whether a stratum's rows differ from its facts."""
    special = [program.relations[name] for name in stratum.relations]
    return bool(stratum.rules or stratum.subsumptions) or any(r.representation or r.merge or r.choice for r in special)


def alternatives(program: Program, segment: Segment, situation: Situation) -> list[list[Segment]]:
    """Other ways to evaluate a segment's strata, for when a task has not enough memory for it."""
    chooser = _Chooser(program, replace(situation, sizes={}))
    order = ["single", "decomposed", "resident", "dataframe"]
    result = []
    for strategy in order[order.index(segment.strategy) + 1 :]:
        reasons = [chooser.refusal(stratum, strategy) for stratum in segment.strata]
        if not any(reasons):
            why = f"{segment.strategy} needs more memory than a task has"
            result.append(_merged([Segment(strategy, (stratum,), why) for stratum in segment.strata]))
    return result


def _merged(segments: Sequence[Segment]) -> list[Segment]:
    merged: list[Segment] = []
    for segment in segments:
        if merged and segment.strategy == merged[-1].strategy and segment.strategy in ("single", "resident"):
            merged[-1] = replace(merged[-1], strata=(*merged[-1].strata, *segment.strata))
        else:
            merged.append(segment)
    return merged


# What runs once, or is small, goes along with its neighbours.
_ALONG = "along"


class _Chooser:
    def __init__(self, program: Program, situation: Situation) -> None:
        self.program, self.situation = program, situation

    def choose(self, stratum: Stratum) -> Segment:
        wanted = self.situation.wanted
        if wanted != "auto":
            return self._forced(stratum, wanted)
        together = why_together(self.program, stratum)
        if together is not None:
            return self._alone(stratum, together)
        size = self.situation.bytes_of(self._inputs(stratum))
        if not stratum.recursive:
            return Segment(_ALONG, (stratum,), f"{in_words(size)} of inputs")
        if size * GROWTH > self.situation.memory and self.refusal(stratum, "dataframe") is None:
            reason = f"{in_words(size)} of inputs may grow beyond the {in_words(self.situation.memory)} that tasks have"
            return Segment("dataframe", (stratum,), reason)
        if size < WORTH_PARTS or self.situation.tasks == 1:
            return Segment(_ALONG, (stratum,), f"{in_words(size)} of inputs fit one task")
        # Between strata that tasks keep, to hand relations over and back costs more than decomposing saves.
        alone = len(self._worth_sharing) == 1
        not_decomposed = self.refusal(stratum, "decomposed") if alone else f"{in_words(size)} of inputs for all tasks"
        if not_decomposed is None:
            return Segment("decomposed", (stratum,), self._pivot_reason(stratum))
        worth = WORTH_RESIDENT_LIGHT if self._is_light(stratum) else WORTH_RESIDENT
        if size < worth or self.refusal(stratum, "resident") is not None:
            return Segment(_ALONG, (stratum,), f"{in_words(size)} of inputs fit one task")
        return Segment("resident", (stratum,), not_decomposed)

    @cached_property
    def _worth_sharing(self) -> list[Stratum]:
        """The recursive strata that several tasks could evaluate sooner than one."""
        return [
            stratum
            for stratum in self.program.strata
            if stratum.recursive
            and why_together(self.program, stratum) is None
            and self.situation.bytes_of(self._inputs(stratum)) >= WORTH_PARTS
        ]

    def settled(self, chosen: Sequence[Segment]) -> list[Segment]:
        """Gives what goes along the strategy of the strata beside it, or that of its size."""
        result = list(chosen)
        for i in [*range(len(result)), *reversed(range(len(result)))]:
            if result[i].strategy != _ALONG:
                continue
            for j in (i - 1, i + 1):
                beside = result[j].strategy if 0 <= j < len(result) else _ALONG
                if beside in ("single", "resident") and self.refusal(result[i].strata[0], beside) is None:
                    result[i] = replace(
                        result[i], strategy=beside, reason=f"along with its neighbour; {result[i].reason}"
                    )
                    break
        return [self._by_size(segment) if segment.strategy == _ALONG else segment for segment in result]

    def _by_size(self, segment: Segment) -> Segment:
        stratum = segment.strata[0]
        once = segment.reason if stratum.recursive else f"it runs once over {segment.reason}"
        large = not stratum.recursive and self.situation.bytes_of(self._inputs(stratum)) >= WORTH_RESIDENT_LIGHT
        strategy = "dataframe" if large and self.refusal(stratum, "dataframe") is None else "single"
        return replace(segment, strategy=strategy, reason=once)

    def refusal(self, stratum: Stratum, strategy: str) -> str | None:
        """Why a strategy does not apply to a stratum; None if it does."""
        if strategy == "single":
            return None
        if strategy == "dataframe":
            return dataframe_refuses(self.program, stratum)
        together = why_together(self.program, stratum)
        if together is not None:
            return together
        if strategy == "decomposed":
            return self._refuses_parts(stratum)
        if self.situation.connect:
            return "tasks could not meet at a client of Spark Connect"
        size = self.situation.bytes_of(self._inputs(stratum))
        folds = any(isinstance(node, Aggregate) for rule in stratum.rules for node in walk(rule.body))
        return (
            "an aggregate would need a large relation in every task"
            if folds and size > WORTH_SPREADING_AGGREGATES
            else None
        )

    def _refuses_parts(self, stratum: Stratum) -> str | None:
        if not stratum.recursive:
            return "it is not recursive"
        if find_pivots(self.program, stratum) is None:
            return "no column keeps its value from row to row"
        size = self.situation.bytes_of(self._inputs(stratum))
        limit = self.situation.broadcast_limit
        return (
            f"{in_words(size)} of inputs are more than the {in_words(limit)} for every task" if size > limit else None
        )

    def _is_light(self, stratum: Stratum) -> bool:
        """Whether relations stay about as small as the inputs: of one column, or with one value a key, and rules that
        join them with one other relation."""
        best = best_of(self.program, stratum)
        if any(len(self.program.relations[name].columns) - (best is not None) > 1 for name in stratum.relations):
            return False
        queries = [query_of(rule.body) for rule in stratum.rules]
        return all(sum(isinstance(literal, Rows) for literal in query.literals) <= 2 for query in queries)

    def _forced(self, stratum: Stratum, wanted: str) -> Segment:
        reason = self.refusal(stratum, wanted)
        if reason is None:
            return Segment(wanted, (stratum,), "as told")
        if wanted == "decomposed" and not stratum.recursive and self.refusal(stratum, "dataframe") is None:
            return Segment("dataframe", (stratum,), f"not {wanted}: {reason}")
        return Segment("single", (stratum,), f"not {wanted}: {reason}")

    def _alone(self, stratum: Stratum, reason: str) -> Segment:
        return Segment("single", (stratum,), reason)

    def _pivot_reason(self, stratum: Stratum) -> str:
        pivots = find_pivots(self.program, stratum) or {}
        named = [f"`{name}` its {self.program.relations[name].columns[column].name}" for name, column in pivots.items()]
        return f"{', '.join(named)} keeps from row to row" if len(named) == 1 else f"{', '.join(named)} keep"

    def _inputs(self, stratum: Stratum) -> frozenset[str]:
        """The facts from which a stratum is computed, through the strata before it."""
        rules: dict[str, list[frozenset[str]]] = {}
        for earlier in self.program.strata:
            for rule in earlier.rules:
                rules.setdefault(rule.relation, []).append(relations_of(rule.body, self.program.shared))
        found: set[str] = set()
        pending = list(stratum.relations)
        while pending:
            name = pending.pop()
            if name not in found:
                found.add(name)
                pending += [read for reads in rules.get(name, ()) for read in reads]
        return frozenset(found)
