"""The update of one stratum by rounds, with work in proportion to what changes (*Towards Elastic Incrementalization for
Datalog*, algorithm 3).

A row has the round after that of the last row which one of its derivations needs; only derivations in that first round
count. An update moves rows to an earlier round, to a later one, out of the relation, or into it. The update goes
through the rounds in order, and settles a row where it reaches the row's old or new round. If the row's round changes,
the update finds all instances of rules that have the row, once, and puts each off to the round where it has its effect:

- *removed*: an instance that counted before the update, and has a row that is late. It is taken off the count of its
  head if one of its rows still does not hold in that round.
- *added*: an instance with a row that comes in another round than before. Each changed row of an instance puts a copy
  of the instance off; only the copy of the row that comes last counts.
- *again*: an instance without changed rows whose head is late: a derivation that came too late to count before.

The paper looks at every instance of a deleted row in each later round; here, each is put off once.

Kernels do all of it (`kernels/source/update/updates.py`). They return when they need room, a plan, or the instances of
a rule that only Python can evaluate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

import numpy as np

from flintlog.diagnostics import InternalError
from flintlog.engines.local.kernels import update_layout as up
from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.storage.block import block_of
from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.rows.chosen_rows import ChosenRows
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.net_changes import NO_ROWS
from flintlog.incremental.rules.instances import Found
from flintlog.incremental.strategies.rule_update import Difference, RuleUpdate, Tick
from flintlog.incremental.strategies.stratum_code import ClauseCode, StratumCode
from flintlog.incremental.strategies.switch import OverBudget
from flintlog.incremental.strategies.workspace import Workspace


class _PackedAnew(Exception):
    """Rows are packed in another way than before. Kernels that were searching them have to begin again."""


class RoundsUpdate(RuleUpdate):
    """Knows the round of each row afterwards, and the counts of rows that have lost derivations."""

    def __init__(self, code: StratumCode, workspace: Workspace, tick: Tick) -> None:
        super().__init__(code.relations, code.own, [clause.clause for clause in code.clauses], tick)
        self._code, self._workspace = code, workspace

    def run(self, difference: Difference) -> None:
        while not self._is_done(difference):
            for relation in self._code.own.values():
                relation.rounds.take_back_rounds()

    def _is_done(self, difference: Difference) -> bool:
        """Updates the stratum; returns False if rows had to be packed anew, so that the update has to begin again."""
        is_finished = False
        try:
            self._begin(difference)
            self._put_off_rules(difference)
            while (need := kernels().run_update(self._workspace.address)) != up.FINISHED:
                self._provide(need)
            is_finished = True
        except _PackedAnew:
            return False
        finally:
            self._end(is_finished)
        with suppress(OverBudget):  # too late to give up
            self._tell()
        return True

    def _begin(self, difference: Difference) -> None:
        workspace, code = self._workspace, self._code
        lost, gained = difference.lost, difference.gained
        code.lay_out(workspace)
        for name, relation in code.own.items():
            late, come = lost.get(name, NO_ROWS), gained.get(name, NO_ROWS)
            relation.rounds.change_facts(late, come)
            relation.block.begin(relation.rounds.old.size, late, come)
            relation.let_in()
        for name in lost.keys() | gained.keys():
            if name in code.relations and name not in code.own:
                code.relations[name].block.read(lost.get(name, NO_ROWS), gained.get(name, NO_ROWS))
        workspace.begin()

    def _end(self, is_finished: bool) -> None:
        if not is_finished:
            kernels().abandon_update(self._workspace.address)
        for relation in self._code.own.values():
            relation.catch_up()
            relation.rounds.was_changed(*relation.block.saved())
        for relation in self._code.relations.values():
            relation.block.end()
        self._workspace.end(is_finished=is_finished)

    # --- What kernels need ------------------------------------------------------------------------

    def _provide(self, need: int) -> None:
        workspace, code = self._workspace, self._code
        for relation in code.own.values():
            relation.catch_up()
        if need == up.NEEDS_TELLING:
            self._tell()
        elif need == up.NEEDS_SEARCH:
            clause, number = self._search()
            code.make(clause, number, workspace)
        elif need == up.NEEDS_INSTANCES:
            self._find_instances()
        elif need == up.NEEDS_INDEXES:
            code.look_after_indexes(workspace)
            workspace[up.U_STALE] = 0
        elif need == up.NEEDS_ROUNDS:
            workspace.make_rounds(workspace[up.U_WANTED])
        elif need == up.NEEDS_WAITING:
            workspace.make_waiting()
        elif need == up.NEEDS_LISTS:
            rows = workspace[up.U_WANTED]
            workspace.make_settled(rows)
            for relation in code.own.values():
                relation.block.make_lists(rows)
        elif need == up.NEEDS_ROWS:
            relation = code.by_address[workspace[up.U_WHERE]]
            relation.make_room_for(workspace.values(relation.relation.arity))
            workspace[up.U_STALE] = 1
        elif need == up.NEEDS_RANGE:
            self._widen(code.by_address[workspace[up.U_WHERE]])
        else:
            raise InternalError("incremental", f"an update needs {need}")

    def _tell(self) -> None:
        instances, self._workspace[up.U_INSTANCES] = self._workspace[up.U_INSTANCES], 0
        self._tick(instances)

    def _widen(self, relation: MaintainedRelation) -> None:
        """Prepares a log for a row whose values are beyond the ranges of its columns."""
        row = self._workspace.values(relation.relation.arity)
        self._workspace[up.U_STALE] = 1
        if not relation.relation.widen(row):
            relation.relation.prepare([(value, value) for value in row])
            raise _PackedAnew

    # --- Instances that kernels do not find -------------------------------------------------------

    def _search(self) -> tuple[int, int]:
        """The numbers of the clause and the search at which the kernels stopped."""
        clause = self._workspace[up.U_CLAUSE]
        if self._workspace[up.U_PHASE] == up.COUNT:
            return clause, self._code.clauses[clause].width
        return clause, self._workspace[up.U_STEP] // 2

    def _find_instances(self) -> None:
        """Finds the instances of the search at which the kernels stopped."""
        workspace = self._workspace
        clause_number, number = self._search()
        step, code = workspace[up.U_STEP], self._code.clauses[clause_number]
        clause = code.clause.instances.clause
        name = clause.relation if number == code.width else clause.literals[number].relation
        if workspace[up.U_PHASE] == up.COUNT:
            kind, rows = up.COUNTED, up.K_ASKED
        elif number == code.width:
            kind, rows = up.AGAIN, up.K_LATE
        else:
            kind = up.ADDED if step % 2 else up.REMOVED
            rows = up.K_LATE if (kind == up.REMOVED) != clause.literals[number].negated else up.K_COME
        relation = self._code.relations[name]
        chosen = ChosenRows(relation, relation.block.rows(rows))
        instances = code.clause.instances
        found = instances.of_head(chosen) if number == code.width else instances.at_literal(number, chosen)
        self._take(kind, code, number, found)
        workspace[up.U_STEP] = step + 1

    def _put_off_rules(self, difference: Difference) -> None:
        """Puts off all instances of rules that come or go: the rule counts as the last literal."""
        codes = {id(code.clause): code for code in self._code.clauses}
        for kind, clauses in ((up.REMOVED, difference.rules_lost), (up.ADDED, difference.rules_gained)):
            for clause in clauses:
                code = codes[id(clause)]
                self._take(kind, code, code.width, clause.instances.all())

    def _counted(self, found: Iterable[Found]) -> Iterator[Found]:
        for some in found:
            self._tick(some.size)
            yield some

    def _enter(self, head: MaintainedRelation, found: Found) -> Array:
        """The positions of heads. The log may move, or pack its rows anew: no kernel is searching it."""
        layout = head.relation.layout
        heads = head.enter(found.head, found.size)
        self._workspace[up.U_STALE] = 1
        head.let_in()
        if head.relation.layout != layout:
            self._code.look_after_indexes(self._workspace)  # for the other searches of this round
        return heads

    def _take(self, kind: int, code: ClauseCode, number: int, found: Iterable[Found]) -> None:
        """Gives instances to the kernels. All are found first: to enter their heads may change what is searched."""
        clause, head = code.clause, self._code.relations[code.clause.relation]
        for some in list(self._counted(found)):
            if kind == up.ADDED:
                some, _ = clause.rounds.holding(some, "new")
                heads = self._enter(head, some)
            else:
                heads = head.find(some.head, some.size)
            arrays = [heads, *(np.ascontiguousarray(rows) for rows in some.rows)]
            block = block_of([some.size, *map(address, arrays)])
            arguments = self._workspace.address, code.block.address, kind, number, block.address
            while need := kernels().take_instances(*arguments):
                self._provide(need)
