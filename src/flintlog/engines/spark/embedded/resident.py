"""One task's share of strata that several tasks evaluate together, a round at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from flintlog.engines.local.fixpoint import ColumnarRun, StratumRun
from flintlog.engines.local.storage.best_relation import BestRelation
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.protocol import Evaluation, Progress
from flintlog.engines.reference.closures import Machine
from flintlog.engines.spark.embedded.placement import (
    EVERYWHERE,
    FIRST,
    Copy,
    Exchange,
    Keeper,
    Placement,
    Snapshot,
    owner,
)
from flintlog.ir.program import Stratum

Batch = tuple[int, list[Array]]
# A task remembers the rows that it has found, so as not to send them twice. It forgets them when they are more than the
# second number, and than the first number times the rows of its home.
FORGET, WORTH_FORGETTING = 8, 1 << 22


class ResidentRun:
    """All strata of a placed program, in one task of several."""

    def __init__(
        self,
        placement: Placement,
        machine: Machine,
        evaluation: Evaluation,
        exchange: Exchange,
        keeper: Keeper,
    ) -> None:
        self.placement, self.exchange, self.keeper = placement, exchange, keeper
        self.columnar = ColumnarRun(placement.program, {}, machine, 1, evaluation)
        self.store = self.columnar.store
        self.copies = [copy for copies in placement.copies.values() for copy in copies]
        self.tags = {copy.name: tag for tag, copy in enumerate(self.copies)}
        self._waiting: dict[str, list[list[Array]]] = {}

    def load(self, relation: str, columns: list[Array]) -> None:
        """Adds rows of a relation, whichever tasks they belong to."""
        self._waiting.setdefault(relation, []).append(columns)

    def run(self, resume: Snapshot | None = None) -> None:
        """Evaluates all strata, or those from a snapshot on."""
        strata = self.placement.program.strata
        first = resume.stratum if resume is not None else 0
        computed = {copy.relation for stratum in strata for copy in self._own(stratum)}
        coming = {copy.relation for stratum in strata[first:] for copy in self._own(stratum)}
        if resume is not None:
            # The snapshot has the facts of computed relations too, up to the stratum that had begun.
            current = {copy.relation for copy in self._own(strata[first])}
            known = (computed - coming) | current
            self._waiting = {name: rows for name, rows in self._waiting.items() if name not in known}
            for name, columns in resume.rows.items():
                self.load(name, columns)
        self._spread_inputs(coming)
        for place, stratum in enumerate(strata[first:], first):
            self._stratum(stratum, place, resume.round if resume is not None and place == first else None)

    def rows(self, relation: str) -> list[Array]:
        """This task's rows of a relation."""
        return _rows(self.store[self.placement.home(relation).name])

    def _own(self, stratum: Stratum) -> list[Copy]:
        return [self.copies[self.tags[name]] for name in stratum.relations]

    def _spread_inputs(self, coming: set[str]) -> None:
        """Sends the rows of relations that are not `coming`, which no stratum adds to, to the tasks that read them."""
        out: list[list[Batch]] = [[] for _ in range(self.exchange.ranks)]
        for name in [name for name in self._waiting if name not in coming]:
            columns = [np.concatenate(column) for column in zip(*self._waiting.pop(name), strict=True)]
            for copy in self.placement.copies.get(name, ()):
                self.send(copy, columns, out)
        self.receive(self.exchange.all_to_all((), out)[1])
        for copy in self.copies:
            if copy.relation not in coming:
                self.store[copy.name].next_round()

    def _stratum(self, stratum: Stratum, place: int, round: int | None) -> None:
        own = self._own(stratum)
        heads = list(dict.fromkeys(copy.relation for copy in own))
        for name, relation in [*((name, name) for name in heads), *((copy.name, copy.relation) for copy in own)]:
            if (best := self.placement.best.get(relation)) is not None:
                self.store[name] = BestRelation(self.store[name], best.position, best.sign)
        for name in heads:
            for columns in self._waiting.pop(name, ()):
                self.store[name].insert(columns[: self.store[name].arity], columns[0].size)
        _ResidentStratum(self, stratum, place, heads).run(round)
        for name in heads:
            self.store[name] = Relation(name, self.store[name].arity)
        for copy in own:
            done = self.store[copy.name]
            if isinstance(done, BestRelation):
                self.store[copy.name] = done.settled()

    def snapshot(self, place: int, round: int) -> Snapshot:
        strata = self.placement.program.strata[: place + 1]
        computed = dict.fromkeys(copy.relation for stratum in strata for copy in self._own(stratum))
        return Snapshot(place, round, {name: self.rows(name) for name in computed})

    # --- Between tasks ----------------------------------------------------------------------------

    def send(self, copy: Copy, columns: list[Array], out: list[list[Batch]]) -> None:
        """Adds rows to the batches for the tasks where a copy has them."""
        tag, ranks = self.tags[copy.name], self.exchange.ranks
        if copy.column == EVERYWHERE:
            for rank in range(ranks):
                out[rank].append((tag, columns))
        elif copy.column == FIRST or ranks == 1:
            out[0].append((tag, columns))
        elif columns[copy.column].size:
            owners = owner(columns[copy.column], ranks)
            order = np.argsort(owners, kind="stable")
            ends = np.searchsorted(owners[order], np.arange(ranks + 1))
            for rank in range(ranks):
                rows = order[ends[rank] : ends[rank + 1]]
                if rows.size:
                    out[rank].append((tag, [column[rows] for column in columns]))

    def receive(self, batches: Sequence[Batch]) -> None:
        for tag, columns in batches:
            relation = self.store[self.copies[tag].name]
            relation.insert(columns[: relation.arity], columns[0].size)


class _ResidentStratum(StratumRun):
    """A stratum whose rounds end with an exchange of what is new."""

    def __init__(self, run: ResidentRun, stratum: Stratum, place: int, heads: Sequence[str]) -> None:
        super().__init__(run.columnar, stratum)
        self.resident, self.heads, self.index = run, heads, place

    def _next_round(self) -> int:
        resident, store = self.resident, self.store
        homes = [resident.placement.home(name) for name in self.heads]
        for name in self.heads:
            store[name].next_round()
        self._meet([(store[name], home) for name, home in zip(self.heads, homes, strict=True)])
        new = sum(store[home.name].next_round() for home in homes)
        others = [copy for name in self.heads for copy in resident.placement.copies[name][1:]]
        moves = [(store[resident.placement.home(copy.relation).name], copy) for copy in others]
        size = sum(store[home.name].size for home in homes)
        all_new, all_rows, wanted = self._meet(moves, new, size, int(resident.keeper.wants(self.machine.round)))
        for copy in others:
            store[copy.name].next_round()
        self.nodes.next_round()
        self._forget(homes)
        if wanted and all_new:
            resident.keeper.keep(resident.snapshot(self.index, self.machine.round + 1))
        largest = max(self.heads, key=lambda name: store[resident.placement.home(name).name].size)
        strata = len(self.program.strata)
        self.progress(Progress(self.place, strata, self.machine.round, largest, all_rows, delta=all_new))
        return all_new

    def _forget(self, homes: Sequence[Copy]) -> None:
        for name, home in zip(self.heads, homes, strict=True):
            found = self.store[name]
            limit = max(WORTH_FORGETTING, FORGET * self.store[home.name].size)
            if not isinstance(found, BestRelation) and found.size > limit:
                self.store[name] = found.empty()

    def _tick(self) -> None:
        """Reports nothing: only the sums over all tasks tell how far the stratum is."""

    def _meet(self, moves: Sequence[tuple[Relation, Copy]], *numbers: int) -> tuple[int, ...]:
        """Sends the new rows of relations to copies; returns the sums of all tasks' numbers."""
        out: list[list[Batch]] = [[] for _ in range(self.resident.exchange.ranks)]
        for relation, copy in moves:
            if relation.visible > relation.delta:
                self.resident.send(copy, _rows(relation, relation.delta, relation.visible), out)
        sums, batches = self.resident.exchange.all_to_all(numbers, out)
        self.resident.receive(batches)
        return sums


def _rows(relation: Relation, start: int = 0, end: int | None = None) -> list[Array]:
    """Rows of a relation as they travel: without columns of its own it has one of zeros."""
    if isinstance(relation, BestRelation) and end is None:
        return relation.best_rows()
    end = relation.size if end is None else end
    if not relation.arity:
        return [np.zeros(end - start, np.int64)]
    return [relation.column(position, start, end) for position in range(relation.arity)]
