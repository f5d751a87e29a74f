"""The update of one stratum by counting: every row has the number of its derivations in each round.

Differential dataflow keeps these counts: they take more memory than one round for each row, but no derivation of a row
has to be searched. An instance of a rule counts in the round after its last row; a row has the first round with a count
above zero. If a row changes its round, the instances that have the row move to other rounds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.incremental.rows.lookup import Lookup
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.rows.planner import Planner
from flintlog.incremental.rules.instance_rounds import Version
from flintlog.incremental.rules.instances import Found
from flintlog.incremental.strategies.rule_update import (
    ClauseUpdate,
    Difference,
    Rows,
    RuleUpdate,
    Tick,
    all_instances,
    no_tick,
)
from flintlog.ir.scalar import Column
from flintlog.types import Kind


class RoundCounts:
    """The number of derivations of each row of a relation in each round, as counts of pairs of a row and a round."""

    def __init__(self, name: str, planner: Planner) -> None:
        self._pairs = MaintainedRelation(Relation(f"{name} by rounds", 2))
        schema = Column("row", Kind.NUMBER), Column("round", Kind.NUMBER)
        self._by_row = Lookup(lambda: self._pairs, schema, ("row",), planner)

    def add(self, rows: Array, rounds: Array, number: Array | int) -> None:
        """Adds to the counts of pairs; a negative `number` takes derivations away."""
        pairs = self._pairs.enter([rows, rounds], rows.size)
        changed, at = np.unique(pairs, return_inverse=True)
        more = np.bincount(at, np.broadcast_to(number, rows.shape), minlength=changed.size).astype(np.int64)
        self._pairs.rounds.set_counts(changed, np.maximum(self._pairs.rounds.counts[changed], 0) + more)

    def of(self, rows: Array, round: int) -> Array:
        found = self._pairs.find([rows, np.full(rows.size, round, np.int64)], rows.size)
        counts: Array = np.where(found >= 0, np.maximum(self._pairs.rounds.counts[found], 0), 0)
        return counts

    def rounds_of(self, rows: Array) -> tuple[Array, Array]:
        """All pairs of one of these rows and a round in which it has derivations."""
        pairs = self._by_row.positions([rows])
        row, round = self._pairs.columns(pairs[self._pairs.rounds.counts[pairs] > 0])
        return row, round

    def all(self) -> dict[tuple[int, int], int]:
        """Every count that is not zero, by row and round."""
        pairs = np.flatnonzero(self._pairs.rounds.counts[: self._pairs.rounds.known] > 0)
        row, round = self._pairs.columns(pairs)
        counts = self._pairs.rounds.counts[pairs].tolist()
        return dict(zip(zip(row.tolist(), round.tolist(), strict=True), counts, strict=True))

    def keep(self) -> None:
        self._pairs.keep()

    def take_back(self) -> None:
        self._pairs.take_back()


@dataclass
class _Moving:
    """Instances with changed rows, and the rounds of their last rows before the change."""

    clause: ClauseUpdate
    found: Found
    before: Array


class CountingUpdate(RuleUpdate):
    """`counts` are those of the relations `own` before the update."""

    def __init__(
        self,
        relations: Mapping[str, MaintainedRelation],
        own: Iterable[str],
        clauses: Iterable[ClauseUpdate],
        counts: Mapping[str, RoundCounts],
        tick: Tick = no_tick,
    ) -> None:
        super().__init__(relations, own, clauses, tick)
        self._counts = counts
        self._waiting: dict[int, dict[str, list[Array]]] = defaultdict(lambda: defaultdict(list))

    def run(self, difference: Difference) -> None:
        lost, gained = difference.lost, difference.gained
        for name in self._own:
            if name in lost:
                self._count(name, lost[name], np.zeros(lost[name].size, np.int64), -1)
            if name in gained:
                self._count(name, gained[name], np.zeros(gained[name].size, np.int64), 1)
        changed = {name: rows for name, rows in difference.rows().items() if name not in self._own}
        rules = [*difference.rules_lost, *difference.rules_gained]
        self._move([*self._having(changed, "old", but=rules), *self._all_of(rules)])
        while self._waiting:
            round = min(self._waiting)
            self._round(round, self._waiting.pop(round))

    def _round(self, round: int, waiting: Mapping[str, list[Array]]) -> None:
        settled: dict[str, tuple[Array, Any]] = {}
        for name, parts in waiting.items():
            rounds = self._relations[name].rounds
            rows = np.unique(np.concatenate(parts))
            rows = rows[rounds.new[rows] >= round]  # others have come before
            is_there, here = self._counts[name].of(rows, round) > 0, rounds.new[rows] == round
            late, come = rows[here & ~is_there], rows[~here & is_there]
            if late.size:
                for row, other in _by_round(*self._counts[name].rounds_of(late)):
                    self._waiting[other][name].append(row)
            if late.size or come.size:
                new = np.concatenate((np.full(late.size, NEVER), np.full(come.size, round)))
                settled[name] = np.concatenate((late, come)), new
        moving = list(self._having({name: rows for name, (rows, _) in settled.items()}, "new"))
        for name, (rows, new) in settled.items():
            self._relations[name].rounds.set_round(rows, new)
        self._move(moving)

    # --- Instances --------------------------------------------------------------------------------

    def _having(self, rows: Rows, epoch: Version, but: Iterable[ClauseUpdate] = ()) -> Iterator[_Moving]:
        """Every instance that has one of these rows, once, with its round so far."""
        rows = {name: np.sort(some) for name, some in rows.items() if some.size}
        chosen, others = self._chosen(rows), list(but)
        for clause in self._clauses:
            literals = clause.instances.clause.literals if clause not in others else ()
            for number, literal in enumerate(literals):
                if literal.relation not in rows:
                    continue
                for found in clause.instances.at_literal(number, chosen[literal.relation]):
                    self._tick(found.size)
                    first = np.ones(found.size, np.bool_)
                    for earlier, other in zip(literals[:number], found.rows, strict=False):
                        if earlier.relation in rows:
                            first &= ~np.isin(other, rows[earlier.relation])
                    yield self._moving(clause, found.chosen(first), epoch)

    def _all_of(self, clauses: Iterable[ClauseUpdate]) -> Iterator[_Moving]:
        for clause, found in all_instances(clauses):
            self._tick(found.size)
            yield self._moving(clause, found, "old")

    def _moving(self, clause: ClauseUpdate, found: Found, epoch: Version) -> _Moving:
        return _Moving(clause, found, clause.rounds.latest(found, epoch))

    def _move(self, instances: Iterable[_Moving]) -> None:
        """Moves instances from the rounds where they counted to those where they count now."""
        for some in instances:
            after = some.clause.rounds.latest(some.found, "new")
            moved = np.flatnonzero(some.before != after)
            found, name = some.found.chosen(moved), some.clause.relation
            heads = self._relations[name].enter(found.head, found.size)
            for latest, number in ((some.before[moved], -1), (after[moved], 1)):
                there = np.flatnonzero(latest != NEVER)
                self._count(name, heads[there], latest[there].astype(np.int64) + 1, number)

    def _count(self, name: str, rows: Array, rounds: Array, number: int) -> None:
        if rows.size:
            self._counts[name].add(rows, rounds, number)
            for row, round in _by_round(rows, rounds):
                self._waiting[round][name].append(row)


def counted(names: Iterable[str], clauses: Iterable[ClauseUpdate], planner: Planner) -> Mapping[str, RoundCounts]:
    """The counts of relations before an update, from the rounds of rows."""
    relations, result = planner.relations, {name: RoundCounts(name, planner) for name in names}
    for name, counts in result.items():
        rounds = relations[name].rounds
        facts = np.flatnonzero(rounds.old[: rounds.known] == 0)
        counts.add(facts, np.zeros(facts.size, np.int64), 1)
    for clause, found in all_instances(clauses):
        found, latest = clause.rounds.holding(found, "old")
        heads = relations[clause.relation].find(found.head, found.size)
        result[clause.relation].add(heads, latest.astype(np.int64) + 1, 1)
    for counts in result.values():
        counts.keep()
    return result


def _by_round(rows: Array, rounds: Array) -> Iterator[tuple[Array, int]]:
    for round in np.unique(rounds).tolist():
        yield rows[rounds == round], round
