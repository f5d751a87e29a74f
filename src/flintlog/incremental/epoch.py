"""One update of a state: it begins, and is kept or taken back, as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from heapq import heappop, heappush

from flintlog.diagnostics import FlintlogError
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.incremental.rows.distinct import each_once
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rules.flattened_program import FlattenedProgram
from flintlog.incremental.state import State, constant_facts
from flintlog.incremental.strategies.rule_changes import RuleChanges, changes_of
from flintlog.incremental.strategies.rule_update import Difference, Rows
from flintlog.incremental.stratum import MaintainedStratum, stratum_of
from flintlog.incremental.upkeep import Upkeep
from flintlog.ir.program import Relation as Declaration

Columns = Sequence[Array]
_NO_CHANGES = RuleChanges()


class Epoch:
    """After `run`, `keep` or `take_back` has to follow; until then, relations have their rounds before and after the
    update. `recomputed` are the relations that were computed again, each with the reason."""

    def __init__(self, state: State, strategy: str = "auto") -> None:
        self._state, self._strategy = state, strategy
        self.recomputed: Mapping[str, str] = {}
        self._before = state.flattened, state.strata
        # The strata that the update has come to, each as it was before.
        self._reached: dict[tuple[str, ...], MaintainedStratum] = {}
        self._rules: dict[tuple[str, ...], RuleChanges] = {}

    # --- Begin ------------------------------------------------------------------------------------

    def run(
        self, deleted: Mapping[str, Columns], inserted: Mapping[str, Columns], program: FlattenedProgram | None = None
    ) -> None:
        """Takes facts out and in, after the rules of another version of the program, if there is one."""
        constants = {} if program is None else self._change_program(program)
        lost = self._marked(deleted, given=False)
        gained = self._marked({**inserted, **constants}, given=True)
        self._visit(lost, gained)

    def _marked(self, facts: Mapping[str, Columns], *, given: bool) -> Rows:
        """Makes facts of rows, or no facts; returns the positions of those that were not, or were."""
        marked = {}
        for name, columns in facts.items():
            relation = self._state.relations[name]
            size = columns[0].size if len(columns) else 1
            rows = each_once(relation.enter(columns, size) if given else relation.find(columns, size))
            rows = rows[rows >= 0]
            rows = rows[relation.rounds.given[rows] != given]
            if rows.size:
                relation.rounds.set_given(rows, given)
                marked[name] = rows
        return marked

    def _visit(self, lost: Rows, gained: Rows) -> None:
        """Brings every stratum up to date that the change reaches, from below. Facts are marked so already."""
        state, upkeep = self._state, Upkeep(self._state, self._strategy)
        flattened, self.recomputed = state.flattened, upkeep.recomputed
        changed: dict[str, tuple[Array, Array]] = {}
        # The numbers of strata that have something to do: a stratum comes after all that it reads.
        waiting = {flattened.makers[name] for name in (*lost, *gained)}
        if self._rules:
            waiting |= {i for i, part in enumerate(flattened.parts) if part.stratum.relations in self._rules}
        agenda = sorted(waiting)
        while agenda:
            number = heappop(agenda)
            relations = flattened.parts[number].stratum.relations
            stratum, own = state.strata[relations], flattened.computed[relations]
            self._reached[relations] = stratum.copy()
            changes, reads = self._rules.get(relations, _NO_CHANGES), stratum.part.reads
            if changes.lost:
                reads |= changes.reads()
            below = [name for name in reads if name in changed]
            all_lost = {name: changed[name][0] for name in below} | {name: lost[name] for name in own if name in lost}
            all_gained = {name: changed[name][1] for name in below}
            all_gained |= {name: gained[name] for name in own if name in gained}
            difference = Difference(all_lost, all_gained, changes.lost, changes.gained)
            upkeep.bring_up_to_date(number, difference, changes.why)
            for name in own:
                pair = state.relations[name].rounds.lost_and_gained()
                if pair[0].size or pair[1].size:
                    changed[name] = pair
                    for reader in flattened.readers.get(name, ()):
                        if reader not in waiting:
                            waiting.add(reader)
                            heappush(agenda, reader)

    def _change_program(self, flattened: FlattenedProgram) -> dict[str, Columns]:
        """Goes over to another version of the program; returns the rows of its text that are new."""
        state, (before, strata) = self._state, self._before
        state.flattened, state.strata = flattened, {}
        for name, relation in flattened.program.relations.items():
            if name not in state.relations:
                state.relations[name] = MaintainedRelation(Relation(name, len(relation.columns)))
        for part in flattened.parts:
            relations = part.stratum.relations
            known = strata.get(relations)
            is_same = known is not None and all(
                _is_same(before.program.relations[name], flattened.program.relations[name]) for name in relations
            )
            changes, clauses = changes_of(
                part, known.part if known and is_same else None, known.clauses if known else (), state.planner
            )
            if known is None or changes.why:
                state.strata[relations] = stratum_of(part, flattened.program, state.planner, clauses)
            else:
                state.strata[relations] = replace(known, part=part, clauses=clauses)
            if changes.any():
                self._rules[relations] = changes
        new = {name: rows for name, rows in flattened.constants.items() if not state.relations[name].rounds.size}
        return {name: constant_facts(rows, state.machine).columns for name, rows in new.items()}

    # --- Keep, or take back -----------------------------------------------------------------------

    def reached(self) -> set[str]:
        """The relations of the strata that the update has come to: no other relation has changed."""
        computed = self._state.flattened.computed
        return {name for relations in self._reached for name in computed[relations]}

    def keep(self) -> None:
        """The update is done."""
        state = self._state
        self._forget_others()
        changed = [name for name in self.reached() if not state.relations[name].rounds.is_settled()]
        moved = {name for name in changed if state.relations[name].before is not None}
        for name in changed:
            state.relations[name].keep()
        for relations in self._reached:
            for counts in (state.strata[relations].counts or {}).values():
                counts.keep()
        self._end()
        for name in changed:
            with suppress(FlintlogError):  # no memory: the relation stays in its log
                other = state.relations[name].without_what_is_gone()
                if other is not state.relations[name]:
                    state.relations[name] = other
                    moved.add(name)
        self._let_go_of(moved)

    def take_back(self) -> None:
        """The update did not happen."""
        state = self._state
        if state.flattened is self._before[0]:
            state.strata |= self._reached
        state.flattened, state.strata = self._before
        self._forget_others()
        state.relations |= {name: made.before for name, made in state.relations.items() if made.before is not None}
        for relation in state.relations.values():
            relation.take_back()
        for stratum in state.strata.values():
            for counts in (stratum.counts or {}).values():
                counts.take_back()
        self._end()

    def _forget_others(self) -> None:
        """Lets go of relations that are not in the program."""
        state = self._state
        if len(state.relations) > len(state.flattened.program.relations):
            for name in state.relations.keys() - state.flattened.program.relations.keys():
                del state.relations[name]

    def _end(self) -> None:
        self._state.planner.statistics.forget()
        for changes in self._rules.values():
            for clause in (*changes.lost, *changes.gained):
                clause.rounds.before = clause.rounds.after = True

    def _let_go_of(self, moved: set[str]) -> None:
        """Makes anew what was prepared for the former logs of relations."""
        state = self._state
        for relations, stratum in state.strata.items():
            if moved.isdisjoint(stratum.part.reads) and moved.isdisjoint(relations):
                continue
            fresh = stratum_of(stratum.part, state.flattened.program, state.planner)
            counts = stratum.counts if moved.isdisjoint(relations) else None
            state.strata[relations] = replace(
                stratum, clauses=fresh.clauses, aggregate=fresh.aggregate, by_key=fresh.by_key, counts=counts
            )


def _is_same(before: Declaration, after: Declaration) -> bool:
    """Whether rows are kept in the same way by two declarations."""
    return replace(before, columns=after.columns) == after
