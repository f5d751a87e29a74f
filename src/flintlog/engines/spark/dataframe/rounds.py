"""The rounds of a stratum: one plan a round for each relation, one job for all of them."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from flintlog.engines.queries.best import Best, best_of
from flintlog.engines.queries.rule_versions import RuleVersion, limit_reached, rule_versions, with_own_scans
from flintlog.engines.spark.dataframe.checkpoints import Checkpoints, is_for_room, is_loss
from flintlog.engines.spark.dataframe.context import Context
from flintlog.engines.spark.dataframe.fixed import Inputs
from flintlog.engines.spark.dataframe.growing import Growing
from flintlog.engines.spark.dataframe.relations import Relations
from flintlog.engines.spark.dataframe.sql.delta_first import Joined, delta_first
from flintlog.engines.spark.dataframe.sql.join_columns import joined_by
from flintlog.engines.spark.dataframe.sql.rule_sources import RuleSources
from flintlog.engines.spark.dataframe.sql.texts import numbered
from flintlog.engines.spark.dataframe.tasks.python_tasks import failure_in
from flintlog.engines.spark.dataframe.workspace import Workspace
from flintlog.ir.nodes import AntiJoin, FlatMap, Node, Scan, SemiJoin, Values
from flintlog.ir.program import Program, Stratum
from flintlog.ir.scalar import Call
from flintlog.ir.visit import relations_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Seconds of a round that has much to do: more tasks would have helped, and more stages do not matter.
SLOW = 1.0
# How often a stratum goes back because rows were lost.
MOST_LOSSES = 4
# How often it is divided anew because a task had no room, each time into so many times the parts.
MOST_DIVISIONS, DIVIDED = 3, 4


class Rounds:
    """Evaluates one stratum."""

    def __init__(
        self,
        workspace: Workspace,
        program: Program,
        stratum: Stratum,
        frames: Mapping[str, DataFrame],
        context: Context,
    ) -> None:
        self.workspace, self.program, self.context = workspace, program, context
        self.stratum = with_own_scans(program, stratum)
        self._once, self._recursive = rule_versions(self.stratum)
        self.growing = _growing(program, self.stratum)
        self.inputs = Inputs(workspace, frames, program, {})
        self.sources = RuleSources(workspace, program, self.growing, self.inputs, context)
        self.relations = Relations(workspace, self.growing, self.sources)
        self.points = Checkpoints(workspace, context.checkpoint_dir, context.checkpoint_every)
        # Of several scans in a rule, one reads the delta, and the others whole relations.
        several = [version.scans for version in self._recursive if len(version.scans) > 1]
        self._read_whole = {scan.relation for scans in several for scan in scans}
        self._bodies: dict[RuleVersion, Node] = {}
        self._has_begun = False
        self._done = 0  # rounds
        self._places = 1  # in which rows are
        self._divisions = 0

    def run(self) -> dict[str, DataFrame]:
        """Evaluates the stratum. When rows are lost with their executors, it goes on from the last point that was
        saved, or begins again. When a task has no room, the round comes again, in a way that needs less."""
        losses = 0
        try:
            while True:
                try:
                    self._to_the_end()
                    for growing in self.growing.values():
                        self.relations.finish(growing)
                    return {name: self._result(growing) for name, growing in self.growing.items()}
                except Exception as error:
                    failure = failure_in(error)
                    if failure is not None:
                        raise failure from None
                    if is_for_room(error) and self._makes_room():
                        continue
                    losses += 1
                    if not is_loss(error) or losses > MOST_LOSSES:
                        raise
                self._go_back()
        finally:
            self.points.close()
            self.sources.close()

    def _makes_room(self) -> bool:
        """Gives tasks fewer rows; if that is not enough, no hash tables either, which cannot spill. False if all has
        been tried. What rounds have kept is still there."""
        self.sources.forget()
        self._divisions += 1
        self.context.partitions *= DIVIDED
        self.context.small_rows = -1
        self.context.hash_rows = self.context.hash_rows // DIVIDED if self._divisions == 1 else 0
        return self._divisions <= MOST_DIVISIONS

    def _result(self, growing: Growing) -> DataFrame:
        number = list(self.growing.values()).index(growing)
        return self.points.outliving(number, growing) or self.workspace.handed_over(growing.parts)

    def _to_the_end(self) -> None:
        if not self._has_begun:
            self.sources.scalars.round = 0
            self._settle(self._input_rows(), adaptive=not self._divisions)
            self._first()
            self._has_begun = True
        self._settle_again()
        while self._recursive and self.relations.new_rows and not self._limit_reached():
            self.sources.scalars.round = self._done
            round = self._done + 1
            begin, read = perf_counter(), self.relations.new_rows
            self._round(round)
            self._done = round
            self.relations.level()
            # The next one will take as much longer as it has more rows to read.
            expected = (perf_counter() - begin) * max(1, self.relations.new_rows / read)
            self._settle_again(is_slow=round > 1 and expected > SLOW)
            if self.points.is_due(round):
                self.context.describe(f"checkpoint after round {round}")
                self.points.save(round, self.growing)

    def _go_back(self) -> None:
        self.context.describe("back to the last checkpoint")
        self.sources.forget()
        self.workspace.forget_all()
        self.relations.forget()
        self._has_begun, self._done = self.points.restore(self.growing), self.points.round
        if self._has_begun:
            self.relations.place_again()

    # --- Places -----------------------------------------------------------------------------------

    def _input_rows(self) -> int:
        names = {name for rule in self.stratum.rules for name in relations_of(rule.body, self.program.shared)}
        return self.inputs.count(sorted((names | self.growing.keys()) & self.inputs.frames.keys()))

    def _settle(self, rows: int, *, adaptive: bool) -> None:
        """In how many places so many rows are from now on."""
        partitions = 1 if rows <= self.context.small_rows else self.context.partitions
        self.sources.settle(partitions, adaptive=adaptive and partitions > 1)

    def _settle_again(self, *, is_slow: bool = False) -> None:
        """From one place to several, when relations have become large or the next round will take long."""
        rows = max(self.relations.rows, sum(self.inputs.counts.values()))
        before = self._places
        is_divided = 1 < before < self.context.partitions
        if self.sources.adaptive or is_divided or (before == 1 and (is_slow or rows > self.context.small_rows)):
            self._settle(max(rows, self.context.small_rows + 1) if is_slow else rows, adaptive=False)
        elsewhere = self.relations.choose_places(self._read_whole, is_slow=is_slow)
        if self.sources.partitions != before:
            self.context.describe("more places")
            self.sources.fixed_rows.clear()
            self.relations.place_again()
            self._places = self.sources.partitions
        elif elsewhere and before > 1:
            self.context.describe("other places")
            self.relations.place_again(elsewhere)

    # --- Rules ------------------------------------------------------------------------------------

    def _first(self) -> None:
        """The facts, and what rules derive that read nothing of the stratum."""
        self.context.describe("facts and first rules")
        texts = {name: [self.inputs.text(name)] if name in self.inputs.frames else [] for name in self.growing}
        for version in self._once:
            texts[version.rule.relation].append(self._text(version))
        self.relations.begin(texts)
        self._places = self.sources.partitions
        self._end_round(0)

    def _round(self, round: int) -> None:
        self.context.describe(f"round {round}")
        texts: dict[str, list[str]] = {}
        for version in self._recursive:
            assert version.delta is not None
            if self.growing[version.delta.relation].delta is not None:
                texts.setdefault(version.rule.relation, []).append(self._text(version))
        self.relations.grow(texts)
        self._end_round(round)

    def _end_round(self, round: int) -> None:
        self.sources.end_round()
        self.context.progress(round, self.relations.new_rows, self.relations.rows)

    def _text(self, version: RuleVersion) -> str:
        self.sources.read(version)
        body = self._body(version)
        return numbered(body.schema, self.sources.plans.rows(body).text)

    def _body(self, version: RuleVersion) -> Node:
        """The tree of a version, with joins that begin at its delta: the same in every round."""
        if version.delta is None:
            return version.rule.body
        if version not in self._bodies:
            joined = Joined(self._size, self._grows)
            self._bodies[version] = delta_first(version.rule.body, version.delta, joined)
        return self._bodies[version]

    def _size(self, node: Node) -> float:
        """About how many rows a source has; nobody knows it of the stratum's own relations."""
        match node:
            case Scan():
                return inf if self._grows(node) else self.inputs.counts.get(node.relation, inf)
            case Values():
                return len(node.rows)
            case FlatMap():
                return self._size(node.input)
            case SemiJoin() | AntiJoin():
                return self._size(node.left)
        return inf

    def _grows(self, node: Node) -> bool:
        return not self.growing.keys().isdisjoint(relations_of(node, self.program.shared))

    def _limit_reached(self) -> bool:
        return limit_reached(self.program, self.stratum, lambda name: self.growing[name].rows)


def _growing(program: Program, stratum: Stratum) -> dict[str, Growing]:
    joins = joined_by(stratum.rules, stratum.relations)
    growing = {}
    for name in stratum.relations:
        best = _best(program, stratum, name)
        placed = tuple(i for i in joins.get(name, ()) if best is None or i != best.position)
        growing[name] = Growing(program.relations[name], best, placed)
    return growing


def _best(program: Program, stratum: Stratum, name: str) -> Best | None:
    """How a relation keeps the best of rows with equal keys, if it does."""
    for position, merge in enumerate(program.relations[name].merge):
        if isinstance(merge, Call):
            return Best(name, position, 1 if merge.op == "min" else -1)
    return best_of(program, stratum) if stratum.subsumptions else None
