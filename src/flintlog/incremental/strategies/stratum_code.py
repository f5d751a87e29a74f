"""The clauses of a stratum, and their searches, as blocks for the kernels that update it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from flintlog.engines.local.kernels import update_layout as up
from flintlog.engines.local.storage.block import Block, block_of
from flintlog.engines.local.storage.index import Index
from flintlog.engines.reference.closures import Machine
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.rules.clause import Literal
from flintlog.incremental.rules.instances import PLAN_AGAIN
from flintlog.incremental.strategies.rule_update import ClauseUpdate
from flintlog.incremental.strategies.workspace import Workspace
from flintlog.ir.scalar import Column, Const, Scalar


class ClauseCode:
    """A clause, and its searches: one begins at each literal, and the last at the head. A search is made when an update
    needs it."""

    def __init__(self, clause: ClauseUpdate, relations: Mapping[str, MaintainedRelation]) -> None:
        self.clause, literals = clause, clause.instances.clause.literals
        self.width = len(literals)
        self.block = Block(up.C_PLACES + up.PLACE_WORDS * len(literals))
        self._searches = block_of([up.SEARCH_UNKNOWN] * (len(literals) + 1))
        self._held: list[object] = []  # what blocks point to
        self._laid_out: tuple[bool, bool] | None = None
        self.block[up.C_HEAD], self.block[up.C_LEAST] = relations[clause.relation].block.address, clause.rounds.least
        self.block[up.C_NPLACES], self.block[up.C_SEARCHES] = len(literals), self._searches.address
        for number, literal in enumerate(literals):
            where = up.C_PLACES + up.PLACE_WORDS * number
            self.block[where], self.block[where + 1] = relations[literal.relation].block.address, _kind(literal)

    def lay_out(self) -> None:
        """Tells kernels whether the rule belongs to the program before the update, and after it."""
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
        terms = [literal.values for literal in instances.clause.literals]
        terms.append(instances.clause.output)
        if search is None or not all(isinstance(term, Column | Const) for some in terms for term in some):
            self._searches[number] = up.SEARCH_OUTSIDE
            return ()
        stage = search.stage
        given = sorted(search.bindings.names) if stage is None else stage.code.given
        found = {name: column for column, name in enumerate(given if stage is None else stage.output)}
        workspace.fit_columns(max(len(given), len(found)))
        block = Block(up.Q_VALUES + len(terms))
        bindings = search.bindings
        tests = [word for position, constant in bindings.constants for word in (position, 0, constant)]
        tests += [word for first, second in bindings.same for word in (first, 1, second)]
        lists = [tests, [bindings.variables[name] for name in given]]
        lists += [_words(values, found, instances.machine) for values in terms]
        block[up.Q_NTESTS], block[up.Q_NGIVEN] = len(tests) // up.TEST_WORDS, len(given)
        for word, where in zip(
            (up.Q_TESTS, up.Q_BINDS, *range(up.Q_VALUES, up.Q_VALUES + len(terms))), self._lists(lists), strict=True
        ):
            block[word] = where
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
    """The clauses of a stratum over the relations as they are now, the stratum's own first."""

    def __init__(
        self, relations: Mapping[str, MaintainedRelation], own: Sequence[str], clauses: Sequence[ClauseUpdate]
    ) -> None:
        self.clauses = [ClauseCode(clause, relations) for clause in clauses]
        read = [literal.relation for code in self.clauses for literal in code.clause.instances.clause.literals]
        names = list(dict.fromkeys((*own, *read)))
        self.own = {name: relations[name] for name in own}
        self.relations = {name: relations[name] for name in names}
        self.by_address = {some.block.address: some for some in self.relations.values()}
        self._most = [PLAN_AGAIN * some.relation.visible + 64 for some in self.relations.values()]
        self._clause_list = block_of([code.block.address for code in self.clauses])
        self._relation_list = block_of([some.block.address for some in self.relations.values()])
        self._indexes: dict[int, Index] = {}  # by address
        self._index_list = block_of(())
        self._width = max((code.width for code in self.clauses), default=0)
        self._arity = max(some.relation.arity for some in self.relations.values())

    def fits(self, relations: Mapping[str, MaintainedRelation], clauses: Sequence[ClauseUpdate]) -> bool:
        """Whether the code is for these clauses and relations, and its plans for about as many rows as there are."""
        if len(clauses) != len(self.clauses):
            return False
        for code, clause in zip(self.clauses, clauses, strict=True):
            if code.clause is not clause:
                return False
        for (name, some), most in zip(self.relations.items(), self._most, strict=True):
            if relations[name] is not some or some.relation.visible > most:
                return False
        return True

    def lay_out(self, workspace: Workspace) -> None:
        """Makes everything ready for an update."""
        workspace.fit(self._width, self._arity)
        workspace[up.U_NCLAUSES], workspace[up.U_CLAUSES] = len(self.clauses), self._clause_list.address
        workspace[up.U_NKEPT], workspace[up.U_KEPT] = len(self.relations), self._relation_list.address
        workspace[up.U_NOWN] = len(self.own)
        for clause in self.clauses:
            clause.lay_out()
        for some in self.relations.values():
            some.places.sync()
        self.look_after_indexes(workspace)

    def look_after_indexes(self, workspace: Workspace) -> None:
        """Enters all rows into the indexes of searches, and tells kernels where the indexes are."""
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


def _kind(literal: Literal) -> int:
    if literal.negated:
        return up.PLACE_ABSENT
    return up.PLACE_OWN if literal.own else up.PLACE_BELOW


def _words(values: Sequence[Scalar], found: Mapping[str, int], machine: Machine) -> list[int]:
    words = []
    for value in values:
        if isinstance(value, Const):
            words += [up.VALUE_CONST, machine.word(value.value, value.kind)]
        else:
            assert isinstance(value, Column)
            words += [up.VALUE_FOUND, found[value.name]]
    return words
