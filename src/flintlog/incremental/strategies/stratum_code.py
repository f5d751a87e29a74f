"""The clauses of a stratum as blocks that kernels update it by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from flintlog.engines.local.kernels import update_layout as up
from flintlog.engines.local.storage.block import Block, block_of
from flintlog.engines.local.storage.index import Index
from flintlog.engines.reference.closures import Machine
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.rules.clause import Place
from flintlog.incremental.rules.instances import PLAN_AGAIN
from flintlog.incremental.strategies.rule_update import ClauseUpdate
from flintlog.incremental.strategies.workspace import Workspace
from flintlog.ir.scalar import Column, Const, Scalar


class ClauseCode:
    """A clause, and the searches that begin at each of its places and, last, at its head: these are made when somebody
    needs them."""

    def __init__(self, clause: ClauseUpdate, kept: Mapping[str, MaintainedRelation]) -> None:
        self.clause, places = clause, clause.instances.clause.places
        self.width = len(places)
        self.block = Block(up.C_PLACES + up.PLACE_WORDS * len(places))
        self._searches = block_of([up.SEARCH_UNKNOWN] * (len(places) + 1))
        self._held: list[object] = []  # what blocks point to
        self._laid_out: tuple[bool, bool] | None = None
        self.block[up.C_HEAD], self.block[up.C_LEAST] = kept[clause.relation].block.address, clause.rounds.least
        self.block[up.C_NPLACES], self.block[up.C_SEARCHES] = len(places), self._searches.address
        for number, place in enumerate(places):
            where = up.C_PLACES + up.PLACE_WORDS * number
            self.block[where], self.block[where + 1] = kept[place.relation].block.address, _kind(place)

    def lay_out(self) -> None:
        """The rule belongs to the program before and after this update, or it comes or goes."""
        rounds = self.clause.rounds
        if self._laid_out == (rounds.before, rounds.after):
            return
        self._laid_out = rounds.before, rounds.after
        self.block[up.C_BEFORE], self.block[up.C_AFTER] = 0 if rounds.before else NEVER, 0 if rounds.after else NEVER

    def make(self, number: int, workspace: Workspace) -> Sequence[Index]:
        """Makes a search; returns the indexes that it uses."""
        if self._searches[number] != up.SEARCH_UNKNOWN:
            return ()
        instances = self.clause.instances
        search = instances.search(number if number < self.width else None)
        terms = [place.values for place in instances.clause.places]
        terms.append(instances.clause.output)
        if search is None or not all(isinstance(term, Column | Const) for some in terms for term in some):
            self._searches[number] = up.SEARCH_OUTSIDE
            return ()
        stage = search.stage
        given = sorted(search.bindings.names) if stage is None else stage.code.given
        found = {name: place for place, name in enumerate(given if stage is None else stage.output)}
        workspace.fit_columns(max(len(given), len(found)))
        block = Block(up.Q_VALUES + len(terms))
        bindings = search.bindings
        tests = [word for position, constant in bindings.constants for word in (position, 0, constant)]
        tests += [word for first, second in bindings.same for word in (first, 1, second)]
        lists = [tests, [bindings.variables[name] for name in given]]
        lists += [_words(values, found, instances.machine) for values in terms]
        block[up.Q_NTESTS], block[up.Q_NGIVEN] = len(tests) // up.TEST_WORDS, len(given)
        for place, where in zip(
            (up.Q_TESTS, up.Q_BINDS, *range(up.Q_VALUES, up.Q_VALUES + len(terms))), self._lists(lists), strict=True
        ):
            block[place] = where
        if stage is not None:
            block[up.Q_RULE], block[up.Q_THREAD], block[up.Q_OUT] = stage.rule.address, stage.thread.address, stage.out
            block[up.Q_BATCH] = stage.batch_columns.address
        self._held += [block, stage]
        self._searches[number] = block.address
        return () if stage is None else stage.indexes()

    def _lists(self, lists: Sequence[Sequence[int]]) -> Iterator[int]:
        """Addresses of lists of words."""
        block = block_of(list(chain.from_iterable(lists)))
        self._held.append(block)
        where = block.address
        for words in lists:
            yield where
            where += 8 * len(words)


class StratumCode:
    """The clauses of a stratum over what is kept now, `own` relations first."""

    def __init__(
        self, kept: Mapping[str, MaintainedRelation], own: Sequence[str], clauses: Sequence[ClauseUpdate]
    ) -> None:
        self.clauses = [ClauseCode(clause, kept) for clause in clauses]
        read = [place.relation for code in self.clauses for place in code.clause.instances.clause.places]
        names = list(dict.fromkeys((*own, *read)))
        self.own = {name: kept[name] for name in own}
        self.kept = {name: kept[name] for name in names}
        self.by_address = {some.block.address: some for some in self.kept.values()}
        self._most = [PLAN_AGAIN * some.relation.visible + 64 for some in self.kept.values()]
        self._clause_list = block_of([code.block.address for code in self.clauses])
        self._kept_list = block_of([some.block.address for some in self.kept.values()])
        self._indexes: dict[int, Index] = {}  # by address
        self._index_list = block_of(())
        self._width = max((code.width for code in self.clauses), default=0)
        self._arity = max(some.relation.arity for some in self.kept.values())

    def fits(self, kept: Mapping[str, MaintainedRelation], clauses: Sequence[ClauseUpdate]) -> bool:
        """Whether it stands for these clauses, and plans were made for about as many rows as there are."""
        if len(clauses) != len(self.clauses):
            return False
        for code, clause in zip(self.clauses, clauses, strict=True):
            if code.clause is not clause:
                return False
        for (name, some), most in zip(self.kept.items(), self._most, strict=True):
            if kept[name] is not some or some.relation.visible > most:
                return False
        return True

    def lay_out(self, workspace: Workspace) -> None:
        """Makes everything ready for an update."""
        workspace.fit(self._width, self._arity)
        workspace[up.U_NCLAUSES], workspace[up.U_CLAUSES] = len(self.clauses), self._clause_list.address
        workspace[up.U_NKEPT], workspace[up.U_KEPT] = len(self.kept), self._kept_list.address
        workspace[up.U_NOWN] = len(self.own)
        for clause in self.clauses:
            clause.lay_out()
        for some in self.kept.values():
            some.places.sync()
        self.look_after_indexes(workspace)

    def look_after_indexes(self, workspace: Workspace) -> None:
        """Enters all rows into the indexes, and tells kernels which there are."""
        for index in self._indexes.values():
            index.sync()
        workspace[up.U_NINDEXES], workspace[up.U_INDEXES] = len(self._indexes), self._index_list.address

    def make(self, clause: int, number: int, workspace: Workspace) -> None:
        """Makes a search."""
        for index in self.clauses[clause].make(number, workspace):
            if index.block.address not in self._indexes:
                self._indexes[index.block.address] = index
                index.make_room()
        self._index_list = block_of(self._indexes)
        self.look_after_indexes(workspace)

    def searches(self) -> Iterator[tuple[int, int]]:
        """The numbers of all clauses, each with those of its searches."""
        for clause, code in enumerate(self.clauses):
            for number in range(code.width + 1):
                yield clause, number


def _kind(place: Place) -> int:
    if place.negated:
        return up.PLACE_ABSENT
    return up.PLACE_OWN if place.own else up.PLACE_BELOW


def _words(values: Sequence[Scalar], found: Mapping[str, int], machine: Machine) -> list[int]:
    words = []
    for value in values:
        if isinstance(value, Const):
            words += [up.VALUE_CONST, machine.word(value.value, value.kind)]
        else:
            assert isinstance(value, Column)
            words += [up.VALUE_FOUND, found[value.name]]
    return words
