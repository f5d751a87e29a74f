"""One update of all strata, from below: each is kept up in the way that was chosen, or computed again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from heapq import heappop, heappush

import numpy as np

from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.incremental.rows.maintained_relation import MaintainedRelation, current
from flintlog.incremental.rows.net_changes import NO_ROWS
from flintlog.incremental.rules.flattened_program import FlattenedProgram
from flintlog.incremental.strategies.aggregate_update import FoldUpdate
from flintlog.incremental.strategies.best_update import BestUpdate
from flintlog.incremental.strategies.bootstrap import Bootstrap
from flintlog.incremental.strategies.counting import CountingUpdate, RoundCounts, counted
from flintlog.incremental.strategies.delete_rederive import DeleteRederive
from flintlog.incremental.strategies.rounds_update import StratumUpdate
from flintlog.incremental.strategies.rule_changes import RuleChanges
from flintlog.incremental.strategies.rule_update import ClauseUpdate, Difference, Rows, RuleUpdate, Tick
from flintlog.incremental.strategies.stratum_code import StratumCode
from flintlog.incremental.strategies.switch import Allowance, Outcome, OverBudget
from flintlog.incremental.strategies.workspace import Workspace
from flintlog.incremental.stratum import KeptStratum
from flintlog.io.column_facts import ColumnFacts

# auto: rounds, or computing again where that is quicker; update: always by rounds; bootstrap: everything that a change
# reaches is computed again; dred: delete and rederive; counting: a count for every row and round.
STRATEGIES = ("auto", "update", "bootstrap", "dred", "counting")

# Seconds a row: to leave rows out that are gone, and to find the rows of groups that have changed.
COPYING, GROUPED = 1.2e-7, 4e-7
FEW_GROUPS = 64  # are updated without a thought

WRAPS = "its values may be too large for its words"

_NO_CHANGES = RuleChanges()


class Epoch:
    """`start` begins a run over facts and known relations, `no_counts` is where counts of rounds may go. `reached` gets
    the strata that have something to do, as they are before it. `recomputed` says what was computed again, and why."""

    def __init__(
        self,
        flattened: FlattenedProgram,
        kept: MutableMapping[str, MaintainedRelation],
        strata: Mapping[tuple[str, ...], KeptStratum],
        start: Callable[[Mapping[str, ColumnFacts], Mapping[str, Relation]], Bootstrap],
        no_counts: Callable[[Iterable[str]], Mapping[str, RoundCounts]],
        strategy: str,
        allowance: Allowance,
        bits: int,
        workspace: Workspace,
        reached: MutableMapping[tuple[str, ...], KeptStratum],
    ) -> None:
        self._flattened, self._kept, self._strata, self._start = flattened, kept, strata, start
        self._no_counts, self._strategy, self._allowance, self._bits = no_counts, strategy, allowance, bits
        self._workspace, self._reached = workspace, reached
        self.recomputed: dict[str, str] = {}
        # Relations as they are now, for strata that are computed again: logs may have rows that are gone. Whatever is
        # read was settled before, and does not change any more.
        self._present: dict[str, Relation] = {}

    def run(self, lost: Rows, gained: Rows, rules: Mapping[tuple[str, ...], RuleChanges]) -> None:
        """Facts that are no longer given, and those that now are: rows are marked so already."""
        flattened = self._flattened
        changed: dict[str, tuple[Array, Array]] = {}
        # The numbers of parts that have something to do: whoever reads a relation comes after it.
        waiting = {flattened.makers[name] for some in (lost, gained) for name, rows in some.items() if rows.size}
        waiting |= {number for number, part in enumerate(flattened.parts) if rules and part.stratum.relations in rules}
        agenda = sorted(waiting)
        while agenda:
            number = heappop(agenda)
            part = flattened.parts[number]
            for name in [name for name in self._present if flattened.last_readers[name] < number]:
                del self._present[name]
            own = flattened.computed[part.stratum.relations]
            stratum = self._strata[part.stratum.relations]
            self._reached[part.stratum.relations] = stratum.copy()
            changes, reads = _NO_CHANGES, part.reads
            if stratum.relations in rules:
                changes = rules[stratum.relations]
                reads = part.reads | changes.reads()
            all_lost = {name: changed[name][0] for name in reads if name in changed}
            all_gained = {name: changed[name][1] for name in reads if name in changed}
            for given, all_changed in ((lost, all_lost), (gained, all_gained)):
                all_changed |= {name: given[name] for name in own if name in given and given[name].size}
            self._stratum(stratum, Difference(all_lost, all_gained, changes.lost, changes.gained), changes.why)
            for name in own:
                pair = self._kept[name].rounds.lost_and_gained()
                if pair[0].size or pair[1].size:
                    changed[name] = pair
                    for reader in flattened.readers.get(name, ()):
                        if reader not in waiting:
                            waiting.add(reader)
                            heappush(agenda, reader)

    def _stratum(self, stratum: KeptStratum, difference: Difference, why: str) -> None:
        why = why or stratum.part.again or self._why_again(stratum, difference)
        if why:
            self._compute_again(stratum, why)
        elif stratum.fold is not None:
            self._fold(stratum, stratum.fold, difference)
        elif self._has_no_rules(stratum, difference):
            self._facts(stratum, difference)
        else:
            self._update(stratum, difference)

    def _has_no_rules(self, stratum: KeptStratum, difference: Difference) -> bool:
        """Whether what is given is all there is to it. (What counts by rounds has its counts of facts, too.)"""
        has_rules = stratum.clauses or difference.rules_lost or stratum.part.best is not None
        return not has_rules and self._strategy != "counting"

    def _facts(self, stratum: KeptStratum, difference: Difference) -> None:
        """Updates relations that have no rules."""
        stratum.counts = None
        for name in stratum.relations:
            self._kept[name].rounds.change_facts(
                difference.lost.get(name, NO_ROWS), difference.gained.get(name, NO_ROWS)
            )

    def _fold(self, stratum: KeptStratum, fold: FoldUpdate, difference: Difference) -> None:
        keys = fold.affected(difference.rows())
        if (
            keys
            and keys[0].size > FEW_GROUPS
            and self._allowance.is_less_than(fold.rows(keys) * GROUPED, stratum.seconds + self._copying(stratum))
        ):
            self._compute_again(stratum, "its groups that have changed are large")
        else:
            fold.run(keys)

    def _why_again(self, stratum: KeptStratum, difference: Difference) -> str:
        if stratum.may_wrap(self._kept, self._bits):
            return WRAPS
        if self._strategy == "bootstrap" and stratum.part.stratum.rules:
            return "the update was to be a bootstrap"
        if not stratum.has_rounds and self._strategy != "dred":
            return "an update by dred has kept no rounds"
        if self._strategy == "auto" and stratum.clauses and not self._is_worth_trying(stratum, difference.size):
            stratum.switch.skipped()
            return "an update of this size goes beyond its budget"
        return ""

    def _is_worth_trying(self, stratum: KeptStratum, size: int) -> bool:
        """An update begins with so many rows of those that the stratum is computed from: rows below, and own facts."""
        if self._allowance.is_plenty(stratum.seconds):
            return True
        own = self._flattened.computed[stratum.relations]
        total = sum(self._kept[name].rounds.size for name in stratum.part.reads)
        total += sum(int(np.count_nonzero(self._kept[name].rounds.given)) for name in own)
        seconds = self._allowance.of(stratum.seconds + self._copying(stratum))
        is_recursive = any(clause.instances.clause.is_recursive for clause in stratum.clauses)
        return stratum.switch.tries(size, total, seconds, is_recursive=is_recursive)

    def _copying(self, stratum: KeptStratum) -> float:
        """The seconds that go into copies of what a stratum reads, if it is computed again."""
        others = stratum.part.reads - self._present.keys()
        return COPYING * sum(kept.rounds.size for name in others if not (kept := self._kept[name]).rounds.is_whole())

    def _update(self, stratum: KeptStratum, difference: Difference) -> None:
        for clause in difference.rules_lost:
            clause.rounds.after = False
        for clause in difference.rules_gained:
            clause.rounds.before = False
        meter = self._allowance.begin(stratum.seconds + self._copying(stratum))
        update = self._by_strategy(stratum, difference, meter)
        try:
            update.run(difference)
            finished = True
        except OverBudget:
            finished = False
        seconds = self._allowance.end()
        if finished and stratum.may_wrap(self._kept, self._bits):
            self._give_up(stratum, WRAPS)
            return
        if self._strategy == "auto":
            stratum.switch.learned(Outcome(difference.size, finished, meter.instances, seconds))
        if not finished:
            self._give_up(stratum, "the update went beyond its budget")

    def _give_up(self, stratum: KeptStratum, why: str) -> None:
        for name in stratum.relations:
            self._kept[name].rounds.take_back_rounds()
        self._compute_again(stratum, why)

    def _by_strategy(self, stratum: KeptStratum, difference: Difference, tick: Tick) -> RuleUpdate:
        before = [clause for clause in stratum.clauses if clause not in difference.rules_gained]
        before += difference.rules_lost
        clauses = [*before, *difference.rules_gained]
        if stratum.part.best is not None and stratum.by_key is not None:
            stratum.counts = None
            return BestUpdate(self._kept, stratum.part.best, stratum.by_key, clauses, tick)
        if self._strategy == "counting":
            if stratum.counts is None:
                stratum.counts = counted(self._no_counts(stratum.relations), before, self._kept)
            self._forget_counts(stratum)
            return CountingUpdate(self._kept, stratum.relations, clauses, stratum.counts, tick)
        stratum.counts = None
        if self._strategy == "dred":
            stratum.has_rounds = not any(clause.instances.clause.is_recursive for clause in clauses)
            self._forget_counts(stratum)
            return DeleteRederive(self._kept, stratum.relations, clauses, tick)
        return StratumUpdate(self._code(stratum, clauses), self._workspace, tick)

    def _code(self, stratum: KeptStratum, clauses: list[ClauseUpdate]) -> StratumCode:
        """Rules that come or go make another one, for this time only."""
        if clauses == stratum.clauses:
            return stratum.code(self._kept)
        return StratumCode(self._kept, stratum.relations, clauses)

    def _forget_counts(self, stratum: KeptStratum) -> None:
        """Lets go of the counts that updates by rounds keep, where an update does not."""
        for name in stratum.relations:
            self._kept[name].rounds.forget_counts()

    def _compute_again(self, stratum: KeptStratum, why: str) -> None:
        """Computes a stratum from what it reads as that is now."""
        own, reads = self._flattened.computed[stratum.relations], stratum.part.reads
        self.recomputed |= dict.fromkeys(own, why)
        self._present |= current(self._kept, reads - self._present.keys())
        started = time.perf_counter()
        given = {name: self._kept[name].rounds.facts() for name in own}
        facts = {name: self._kept[name].facts(rows) for name, rows in given.items()}
        run = self._start(facts, {name: self._present[name] for name in reads})
        try:
            run.compute(stratum.part)
        finally:
            run.workers.close()
        for name in own:
            relation = run.store[name]
            self._kept[name] = self._kept[name].computed_again(relation, run.rounds_of(name))
            if (
                name in self._flattened.last_readers
                and not self._kept[name].rounds.is_whole()
                and self._kept[name].relation is not relation
            ):
                relation.outlive_run()
                self._present[name] = relation
        stratum.computed(run, self._kept, self._bits, time.perf_counter() - started)
