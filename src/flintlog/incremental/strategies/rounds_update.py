"""The update of one stratum kept by its rules (paper 004, algorithm 3), with work in proportion to what changes.

A row comes in the round after the last row that one of its derivations needs; only derivations of that first round
count. An update changes the rounds of some rows: they come earlier, later, not at all, or for the first time. Rounds
are gone through in order, and a row's new round is settled when its old or new one is reached. When that is another,
the instances of rules that have the row are found, once, and put off to the round in which they would have their
effect:

- *removed*: an instance that counted in the old epoch, of a row that is late. It is taken off the count of its head if
  one of its rows is still not there by then.
- *added*: an instance with a row that has come, in a round of its own. It counts in its round if nothing that it has
  changed afterwards; otherwise what changed later has put it off, too.
- *again*: an instance whose head is late, without any changed row: a derivation that came too late to count before.

Where the paper looks at every instance of a deleted row in each later round, this does so once.

Kernels do all of it (`kernels/source/update/updates.py`), and come back when they need something: room, a plan,
or the instances of a rule that computes what they do not know.
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
    """Rows are packed in another way than before, which kernels in the middle of them do not survive."""


class RoundsUpdate(RuleUpdate):
    """Keeps rounds, and counts of the rows that have lost derivations. `code` is of the clauses."""

    def __init__(self, code: StratumCode, workspace: Workspace, tick: Tick) -> None:
        super().__init__(code.kept, code.own, [clause.clause for clause in code.clauses], tick)
        self._code, self._workspace = code, workspace

    def run(self, difference: Difference) -> None:
        while not self._is_done(difference):
            for kept in self._code.own.values():
                kept.rounds.take_back_rounds()

    def _is_done(self, difference: Difference) -> bool:
        """Updates the stratum; returns whether that could be done with rows packed as they were."""
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
        for name, kept in code.own.items():
            late, come = lost.get(name, NO_ROWS), gained.get(name, NO_ROWS)
            kept.rounds.change_facts(late, come)
            kept.block.begin(kept.rounds.old.size, late, come)
            kept.let_in()
        for name in lost.keys() | gained.keys():
            if name in code.kept and name not in code.own:
                code.kept[name].block.read(lost.get(name, NO_ROWS), gained.get(name, NO_ROWS))
        workspace.begin()

    def _end(self, is_finished: bool) -> None:
        if not is_finished:
            kernels().abandon_update(self._workspace.address)
        for kept in self._code.own.values():
            kept.catch_up()
            kept.rounds.was_changed(*kept.block.saved())
        for kept in self._code.kept.values():
            kept.block.end()
        self._workspace.end(is_finished=is_finished)

    # --- What kernels need ------------------------------------------------------------------------

    def _provide(self, need: int) -> None:
        workspace, code = self._workspace, self._code
        for kept in code.own.values():
            kept.catch_up()
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
            for kept in code.own.values():
                kept.block.make_lists(rows)
        elif need == up.NEEDS_ROWS:
            kept = code.by_address[workspace[up.U_WHERE]]
            kept.make_room_for(workspace.values(kept.relation.arity))
            workspace[up.U_STALE] = 1
        elif need == up.NEEDS_RANGE:
            self._widen(code.by_address[workspace[up.U_WHERE]])
        else:
            raise InternalError("incremental", f"an update needs {need}")

    def _tell(self) -> None:
        instances, self._workspace[up.U_INSTANCES] = self._workspace[up.U_INSTANCES], 0
        self._tick(instances)

    def _widen(self, kept: MaintainedRelation) -> None:
        """Makes a log take a row with values beyond those that it has."""
        row = self._workspace.values(kept.relation.arity)
        self._workspace[up.U_STALE] = 1
        if not kept.relation.widen(row):
            kept.relation.prepare([(value, value) for value in row])
            raise _PackedAnew

    # --- Instances that kernels do not find -------------------------------------------------------

    def _search(self) -> tuple[int, int]:
        """The number of the clause that an update has come to, and of its search."""
        clause = self._workspace[up.U_CLAUSE]
        if self._workspace[up.U_PHASE] == up.COUNT:
            return clause, self._code.clauses[clause].width
        return clause, self._workspace[up.U_STEP] // 2

    def _find_instances(self) -> None:
        """Those of the search that an update has come to."""
        workspace = self._workspace
        number, place = self._search()
        step, code = workspace[up.U_STEP], self._code.clauses[number]
        clause = code.clause.instances.clause
        relation = clause.relation if place == code.width else clause.places[place].relation
        if workspace[up.U_PHASE] == up.COUNT:
            kind, rows = up.COUNTED, up.K_ASKED
        elif place == code.width:
            kind, rows = up.AGAIN, up.K_LATE
        else:
            kind = up.ADDED if step % 2 else up.REMOVED
            rows = up.K_LATE if (kind == up.REMOVED) != clause.places[place].negated else up.K_COME
        kept = self._code.kept[relation]
        chosen = ChosenRows(kept, kept.block.rows(rows))
        instances = code.clause.instances
        found = instances.of_head(chosen) if place == code.width else instances.at_place(place, chosen)
        self._take(kind, code, place, found)
        workspace[up.U_STEP] = step + 1

    def _put_off_rules(self, difference: Difference) -> None:
        """A rule is the last place of its instances."""
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
        """The places of heads, which may make the log move, or pack its rows anew: no rule is being run."""
        layout = head.relation.layout
        heads = head.enter(found.head, found.size)
        self._workspace[up.U_STALE] = 1
        head.let_in()
        if head.relation.layout != layout:
            self._code.look_after_indexes(self._workspace)  # searches of this round go on
        return heads

    def _take(self, kind: int, code: ClauseCode, place: int, found: Iterable[Found]) -> None:
        """Gives instances to the kernels. All are found first: to enter their heads may change what is searched."""
        clause, head = code.clause, self._code.kept[code.clause.relation]
        for some in list(self._counted(found)):
            if kind == up.ADDED:
                some, _ = clause.rounds.holding(some, "new")
                heads = self._enter(head, some)
            else:
                heads = head.find(some.head, some.size)
            kept = [heads, *(np.ascontiguousarray(rows) for rows in some.rows)]
            block = block_of([some.size, *map(address, kept)])
            arguments = self._workspace.address, code.block.address, kind, place, block.address
            while need := kernels().take_instances(*arguments):
                self._provide(need)
