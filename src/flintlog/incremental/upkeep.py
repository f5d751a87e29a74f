"""Brings strata up to date: each is updated in the way that was chosen, or computed again."""

from __future__ import annotations

import time

import numpy as np

from flintlog.engines.local.storage.relation import Relation
from flintlog.incremental.rows.maintained_relation import current
from flintlog.incremental.rows.net_changes import NO_ROWS
from flintlog.incremental.state import State
from flintlog.incremental.strategies.aggregate_update import AggregateUpdate
from flintlog.incremental.strategies.best_update import BestUpdate
from flintlog.incremental.strategies.counting import CountingUpdate, counted
from flintlog.incremental.strategies.delete_rederive import DeleteRederive
from flintlog.incremental.strategies.rounds_update import RoundsUpdate
from flintlog.incremental.strategies.rule_update import ClauseUpdate, Difference, RuleUpdate, Tick
from flintlog.incremental.strategies.stratum_code import StratumCode
from flintlog.incremental.strategies.switch import Allowance, Outcome, OverBudget
from flintlog.incremental.stratum import MaintainedStratum

# auto: rounds, or computing again where that is quicker; update: always by rounds; bootstrap: everything that a change
# reaches is computed again; dred: delete and rederive; counting: a count for every row and round.
STRATEGIES = ("auto", "update", "bootstrap", "dred", "counting")

# Seconds a row: to leave rows out that are gone, and to find the rows of groups that have changed.
COPYING, GROUPED = 1.2e-7, 4e-7
FEW_GROUPS = 64  # are updated without a thought

WRAPS = "its values may be too large for its words"


class Upkeep:
    """Of the strata of a state in one update, in their order. `strategy` is one of `STRATEGIES`; `recomputed` says
    which relations were computed again, and why."""

    def __init__(self, state: State, strategy: str) -> None:
        self._state, self._strategy = state, strategy
        self._flattened, self._relations = state.flattened, state.relations
        self._allowance = Allowance(state.budget if strategy == "auto" else None, state.planner.preparation)
        self.recomputed: dict[str, str] = {}
        # Relations as they are now, for strata that are computed again: logs may have rows that are gone. A stratum
        # reads only relations that are up to date, and do not change any more.
        self._present: dict[str, Relation] = {}

    def bring_up_to_date(self, number: int, difference: Difference, why: str) -> None:
        """The stratum of that number, from what has changed for it. It is computed again if `why` gives a reason."""
        for name in [name for name in self._present if self._flattened.last_readers[name] < number]:
            del self._present[name]
        stratum = self._state.strata[self._flattened.parts[number].stratum.relations]
        why = why or stratum.part.again or self._why_again(stratum, difference)
        if why:
            self._compute_again(stratum, why)
        elif stratum.aggregate is not None:
            self._update_groups(stratum, stratum.aggregate, difference)
        elif self._has_no_rules(stratum, difference):
            self._update_facts(stratum, difference)
        else:
            self._update_by_rules(stratum, difference)

    # --- Choices ----------------------------------------------------------------------------------

    def _why_again(self, stratum: MaintainedStratum, difference: Difference) -> str:
        """Why a stratum is computed again rather than updated; empty where it is updated."""
        if self._may_wrap(stratum):
            return WRAPS
        if self._strategy == "bootstrap" and stratum.part.stratum.rules:
            return "the update was to be a bootstrap"
        if not stratum.has_rounds and self._strategy != "dred":
            return "an update by dred has kept no rounds"
        if self._strategy == "auto" and stratum.clauses and not self._is_worth_trying(stratum, difference.size):
            stratum.switch.skipped()
            return "an update of this size goes beyond its budget"
        return ""

    def _may_wrap(self, stratum: MaintainedStratum) -> bool:
        return stratum.may_wrap(self._relations, self._state.machine.words.size)

    def _is_worth_trying(self, stratum: MaintainedStratum, size: int) -> bool:
        """Whether to begin an update with so many changed rows. The stratum is computed from rows below it, and its own
        facts."""
        if self._allowance.is_plenty(stratum.seconds):
            return True
        own = self._flattened.computed[stratum.relations]
        total = sum(self._relations[name].rounds.size for name in stratum.part.reads)
        total += sum(int(np.count_nonzero(self._relations[name].rounds.given)) for name in own)
        seconds = self._allowance.of(self._seconds_again(stratum))
        is_recursive = any(clause.instances.clause.is_recursive for clause in stratum.clauses)
        return stratum.switch.tries(size, total, seconds, is_recursive=is_recursive)

    def _seconds_again(self, stratum: MaintainedStratum) -> float:
        """How long it takes to compute a stratum again, with copies of logs that have rows which are gone."""
        read = [self._relations[name].rounds for name in stratum.part.reads - self._present.keys()]
        return stratum.seconds + COPYING * sum(rounds.size for rounds in read if not rounds.is_whole())

    def _has_no_rules(self, stratum: MaintainedStratum, difference: Difference) -> bool:
        """Whether the stratum has its facts only. (An update by counting counts facts, too.)"""
        has_rules = stratum.clauses or difference.rules_lost or stratum.part.best is not None
        return not has_rules and self._strategy != "counting"

    # --- Updates ----------------------------------------------------------------------------------

    def _update_facts(self, stratum: MaintainedStratum, difference: Difference) -> None:
        stratum.counts = None
        for name in stratum.relations:
            late, come = difference.lost.get(name, NO_ROWS), difference.gained.get(name, NO_ROWS)
            self._relations[name].rounds.change_facts(late, come)

    def _update_groups(self, stratum: MaintainedStratum, aggregate: AggregateUpdate, difference: Difference) -> None:
        keys = aggregate.affected(difference.rows())
        if (
            keys
            and keys[0].size > FEW_GROUPS
            and self._allowance.is_less_than(aggregate.rows(keys) * GROUPED, self._seconds_again(stratum))
        ):
            self._compute_again(stratum, "its groups that have changed are large")
        else:
            aggregate.run(keys)

    def _update_by_rules(self, stratum: MaintainedStratum, difference: Difference) -> None:
        for clause in difference.rules_lost:
            clause.rounds.after = False
        for clause in difference.rules_gained:
            clause.rounds.before = False
        meter = self._allowance.begin(self._seconds_again(stratum))
        update = self._by_strategy(stratum, difference, meter)
        try:
            update.run(difference)
            finished = True
        except OverBudget:
            finished = False
        seconds = self._allowance.end()
        if finished and self._may_wrap(stratum):
            self._give_up(stratum, WRAPS)
            return
        if self._strategy == "auto":
            stratum.switch.learned(Outcome(difference.size, finished, meter.instances, seconds))
        if not finished:
            self._give_up(stratum, "the update went beyond its budget")

    def _give_up(self, stratum: MaintainedStratum, why: str) -> None:
        for name in stratum.relations:
            self._relations[name].rounds.take_back_rounds()
        self._compute_again(stratum, why)

    def _by_strategy(self, stratum: MaintainedStratum, difference: Difference, tick: Tick) -> RuleUpdate:
        before = [clause for clause in stratum.clauses if clause not in difference.rules_gained]
        before += difference.rules_lost
        clauses = [*before, *difference.rules_gained]
        counts, stratum.counts = stratum.counts, None
        if stratum.part.best is not None and stratum.by_key is not None:
            return BestUpdate(self._relations, stratum.part.best, stratum.by_key, clauses, tick)
        if self._strategy == "counting":
            stratum.counts = counts or counted(stratum.relations, before, self._state.planner)
            self._forget_counts(stratum)
            return CountingUpdate(self._relations, stratum.relations, clauses, stratum.counts, tick)
        if self._strategy == "dred":
            stratum.has_rounds = not any(clause.instances.clause.is_recursive for clause in clauses)
            self._forget_counts(stratum)
            return DeleteRederive(self._relations, stratum.relations, clauses, tick)
        return RoundsUpdate(self._code(stratum, clauses), self._state.workspace, tick)

    def _code(self, stratum: MaintainedStratum, clauses: list[ClauseUpdate]) -> StratumCode:
        """That of the stratum, or, where rules come or go, one for this update only."""
        if clauses == stratum.clauses:
            return stratum.code(self._relations)
        return StratumCode(self._relations, stratum.relations, clauses)

    def _forget_counts(self, stratum: MaintainedStratum) -> None:
        """Updates by rounds keep counts, which this update does not."""
        for name in stratum.relations:
            self._relations[name].rounds.forget_counts()

    # --- Computing again --------------------------------------------------------------------------

    def _compute_again(self, stratum: MaintainedStratum, why: str) -> None:
        """Computes a stratum from its facts, and from the relations that it reads as they are now."""
        own, reads, relations = self._flattened.computed[stratum.relations], stratum.part.reads, self._relations
        self.recomputed |= dict.fromkeys(own, why)
        self._present |= current(relations, reads - self._present.keys())
        started = time.perf_counter()
        facts = {name: relations[name].facts(relations[name].rounds.facts()) for name in own}
        run = self._state.start_part(facts, {name: self._present[name] for name in reads})
        try:
            run.compute(stratum.part)
        finally:
            run.workers.close()
        for name in own:
            relation = run.store[name]
            relations[name] = relations[name].computed_again(relation, run.rounds_of(name))
            if (
                name in self._flattened.last_readers
                and not relations[name].rounds.is_whole()
                and relations[name].relation is not relation
            ):
                relation.outlive_run()
                self._present[name] = relation
        stratum.computed(run, relations, self._state.machine.words.size, time.perf_counter() - started)
