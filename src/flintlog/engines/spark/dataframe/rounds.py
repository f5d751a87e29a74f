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

# A round of so many seconds gains from more tasks, even if it then has more stages.
SLOW = 1.0
# How often a stratum goes back to a checkpoint because rows were lost.
MOST_LOSSES = 4
# How often it gets more partitions, each time so many times as many, because a task had no room.
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
        self.checkpoints = Checkpoints(workspace, context.checkpoint_dir, context.checkpoint_every)
        # Of several scans in a rule, one reads the delta, and the others whole relations.
        several = [version.scans for version in self._recursive if len(version.scans) > 1]
        self._read_whole = {scan.relation for scans in several for scan in scans}
        self._bodies: dict[RuleVersion, Node] = {}
        self._has_begun = False
        self._done = 0  # rounds
        self._partitions = 1  # of the relations' rows
        self._divisions = 0

    def run(self) -> dict[str, DataFrame]:
        """Evaluates the stratum. After rows were lost with an executor, it continues from the last checkpoint, or
        starts again. After a task had no room, it repeats the round in a way that needs less memory."""
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
            self.checkpoints.close()
            self.sources.python.close()

    def _makes_room(self) -> bool:
        """Gives tasks fewer rows; if that is not enough, no hash tables either, which cannot spill. False if nothing is
        left to try. The rows of earlier rounds stay."""
        self.sources.forget()
        self._divisions += 1
        self.context.partitions *= DIVIDED
        self.context.small_rows = -1
        self.context.hash_rows = self.context.hash_rows // DIVIDED if self._divisions == 1 else 0
        return self._divisions <= MOST_DIVISIONS

    def _result(self, growing: Growing) -> DataFrame:
        number = list(self.growing.values()).index(growing)
        return self.checkpoints.outliving(number, growing) or self.workspace.handed_over(growing.parts)

    def _to_the_end(self) -> None:
        if not self._has_begun:
            self.sources.scalars.round = 0
            self._set_partitions(self._input_rows(), adaptive=not self._divisions)
            self._first()
            self._has_begun = True
        self._adapt_partitions()
        while self._recursive and self.relations.new_rows and not self._limit_reached():
            self.sources.scalars.round = self._done
            round = self._done + 1
            begin, read = perf_counter(), self.relations.new_rows
            self._round(round)
            self._done = round
            self.relations.spread_heaps()
            # The next round is expected to take longer in proportion to the rows that it reads.
            expected = (perf_counter() - begin) * max(1, self.relations.new_rows / read)
            self._adapt_partitions(is_slow=round > 1 and expected > SLOW)
            if self.checkpoints.is_due(round):
                self.context.describe(f"checkpoint after round {round}")
                self.checkpoints.save(round, self.growing)

    def _go_back(self) -> None:
        self.context.describe("back to the last checkpoint")
        self.sources.forget()
        self.workspace.free_all()
        self.relations.forget()
        self._has_begun, self._done = self.checkpoints.restore(self.growing), self.checkpoints.round
        if self._has_begun:
            self.relations.repartition()

    # --- Partitions -------------------------------------------------------------------------------

    def _input_rows(self) -> int:
        names = {name for rule in self.stratum.rules for name in relations_of(rule.body, self.program.shared)}
        return self.inputs.count(sorted((names | self.growing.keys()) & self.inputs.frames.keys()))

    def _set_partitions(self, rows: int, *, adaptive: bool) -> None:
        """Sets the number of partitions for so many rows."""
        partitions = 1 if rows <= self.context.small_rows else self.context.partitions
        self.sources.set_partitions(partitions, adaptive=adaptive and partitions > 1)

    def _adapt_partitions(self, *, is_slow: bool = False) -> None:
        """Goes from one partition to several when relations have become large or the next round will take long, and
        repartitions relations whose columns have changed."""
        rows = max(self.relations.rows, sum(self.inputs.counts.values()))
        before = self._partitions
        is_divided = 1 < before < self.context.partitions
        if self.sources.adaptive or is_divided or (before == 1 and (is_slow or rows > self.context.small_rows)):
            self._set_partitions(max(rows, self.context.small_rows + 1) if is_slow else rows, adaptive=False)
        changed = self.relations.choose_partition_columns(self._read_whole, is_slow=is_slow)
        if self.sources.partitions != before:
            self.context.describe("more partitions")
            self.sources.fixed_rows.clear()
            self.relations.repartition()
            self._partitions = self.sources.partitions
        elif changed and before > 1:
            self.context.describe("other partitions")
            self.relations.repartition(changed)

    # --- Rules ------------------------------------------------------------------------------------

    def _first(self) -> None:
        """Begins with the facts, and with the rows of rules that read no relation of the stratum."""
        self.context.describe("facts and first rules")
        texts = {name: [self.inputs.text(name)] if name in self.inputs.frames else [] for name in self.growing}
        for version in self._once:
            texts[version.rule.relation].append(self._text(version))
        self.relations.begin(texts)
        self._partitions = self.sources.partitions
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
        self.sources.python.end_round()
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
        """An estimate of a source's rows: infinite for the stratum's own relations."""
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
        join_columns = tuple(i for i in joins.get(name, ()) if best is None or i != best.position)
        growing[name] = Growing(program.relations[name], best, join_columns)
    return growing


def _best(program: Program, stratum: Stratum, name: str) -> Best | None:
    """The column of which a relation keeps the best value for each key, if it has one."""
    for position, merge in enumerate(program.relations[name].merge):
        if isinstance(merge, Call):
            return Best(name, position, 1 if merge.op == "min" else -1)
    return best_of(program, stratum) if stratum.subsumptions else None
