"""An open database: a directory, and a state in memory that agrees with it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from flintlog.check.checked import CheckedProgram
from flintlog.compiler import Compilation, compile_source
from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.local.fixpoint import words_of
from flintlog.engines.local.row_strata import StoredRows, encode
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.numbered_values import NumberedValues
from flintlog.engines.protocol import Evaluation
from flintlog.engines.reference.closures import Machine
from flintlog.incremental.durable.journal import Change
from flintlog.incremental.durable.store import Store
from flintlog.incremental.durable.uninterrupted import uninterrupted
from flintlog.incremental.epoch import Epoch
from flintlog.incremental.questions.question import Question, answers, goal_of, in_words_of, question_of
from flintlog.incremental.questions.question_types import Types, types_of
from flintlog.incremental.rows.net_changes import NO_ROWS
from flintlog.incremental.rows.row_shape import row_shape
from flintlog.incremental.rules.flattened_program import flatten
from flintlog.incremental.state import State
from flintlog.incremental.verify import differences
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir.program import Program, Relation
from flintlog.ir.words import Words
from flintlog.source import SourceFile
from flintlog.syntax import ast
from flintlog.types import Row, TypeTable

# The functions for the functors of a program, given the words it computes with.
Bind = Callable[[Program, Words], Mapping[str, Callable[..., Any]]]
Facts = Sequence[Row] | ColumnFacts


OUT_OF_MEMORY = "E803"
INLINE = "its rules stand in those that read it, and no rows are kept"
# Closing writes a database anew if its updates took so many seconds, and so many times as long as the last snapshot:
# opening would repeat these updates.
COMPACT_AFTER_SECONDS, COMPACT_AFTER_TIMES = 2.0, 4.0
# While the database is open, it is written anew after so many times these limits.
WHILE_OPEN = 4.0


@dataclass(frozen=True)
class RowChanges:
    """The rows that a transaction has inserted into a relation, and deleted."""

    inserted: StoredRows
    deleted: StoredRows


# Classes, not generators: if an interrupt strikes before a generator's `finally` block, Python runs that block when it
# frees the generator, in the middle of unrelated code.
class _ClosedOnFailure:
    def __init__(self, store: Store) -> None:
        self._store = store

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if error is not None:
            self._store.close()


class Whole:
    """An interrupt, or a lack of memory, may leave rows or indexes half written; a question writes some, too. Then the
    state is read again from the directory. If that fails as well, the database is closed."""

    def __init__(self, database: Maintained) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.make_whole()
        self._database.is_whole = False

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self._database.is_whole = error is None or (
            isinstance(error, FlintlogError) and error.diagnostics[0].code != OUT_OF_MEMORY
        )
        if error is not None:
            self._database.make_whole()


class Maintained:
    """`bind` finds the functions for a program's functors."""

    def __init__(self, store: Store, bind: Bind = lambda program, words: {}) -> None:
        self._store, self._bind = store, bind
        self._functions: dict[str, Callable[..., Any]] = {}
        self.epoch = 0
        self.text = ""
        self.word_size = 64
        self.program: Program
        self.state: State
        self.recomputed: Mapping[str, str] = {}  # what the last change computed again, and why
        self._machine: Machine
        self._snapshot_seconds = self._update_seconds = 0.0
        self.is_whole = True

    # --- Making and opening -----------------------------------------------------------------------

    def create(
        self, text: str, facts: Mapping[str, Facts], *, word_size: int, budget: float, prepare: bool = True
    ) -> None:
        try:
            self._create(text, facts, word_size, budget)
            if prepare:
                with suppress(FlintlogError):  # no memory: updates make what they need
                    self._prepare()
        except BaseException:
            self._store.take_away()
            raise

    @deep_recursion()
    def _create(self, text: str, facts: Mapping[str, Facts], word_size: int, budget: float) -> None:
        if not self._store.exists():
            self._store.require_no_namesakes()
        self._store.lock()
        if self._store.exists():
            message = f"there is a database in `{self._store.name}` already"
            raise FlintlogError([Diagnostic("E944", message, note="choose another directory, or remove it first")])
        self._store.require_no_remains()
        self._begin(text, word_size, budget, ())
        given = {name: ColumnFacts(tuple(self._columns(name, rows)), len(rows)) for name, rows in facts.items()}
        self.state.bootstrap({name: rows for name, rows in given.items() if len(rows)})
        self.compact()

    @deep_recursion()
    def _prepare(self) -> None:
        with Whole(self):
            self.state.prepare()

    def open(self, *, writes: bool) -> None:
        with _ClosedOnFailure(self._store):
            self._open(writes)

    @deep_recursion()
    def _open(self, writes: bool) -> None:
        if writes:
            if not self._store.exists():
                self._store.read()  # which raises: there is none
            self._store.lock()
        self._read()

    def _read(self) -> None:
        """Reads the state from the directory: the last snapshot, and the changes since."""
        started = time.perf_counter()
        snapshot, changes = self._store.read()
        options = self._store.options
        self._begin(snapshot.program, options["word_size"], options["budget"], snapshot.values)
        self.state.restore(snapshot.relations, options["strata"])
        self.epoch = self._store.epoch
        self._snapshot_seconds, self._update_seconds = time.perf_counter() - started, 0.0
        for change in changes:
            update = Epoch(self.state)
            self._apply(change, update)
            self._keep(change, update)

    def _begin(self, text: str, word_size: int, budget: float, values: Iterable[Any]) -> None:
        self.word_size = word_size
        self._machine = Machine(Words(word_size), self._functions, lambda message, span: None)
        self._machine.known = NumberedValues(values)
        self.text, self.program = text, self.compiled(text)
        self._functions.update(self._bind(self.program, Words(word_size)))
        evaluation = Evaluation(functions=self._functions)
        self.state = State(flatten(self.program), self._machine, evaluation, budget=budget)

    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings about the directory."""
        return self._store.warnings

    def close(self) -> None:
        """Closes the directory. If opening would have to repeat long updates, a snapshot is written first."""
        try:
            if self._store.is_locked and self.is_whole and self._takes_long_to_repeat():
                with suppress(FlintlogError):  # the disk is full: opening takes longer
                    self.compact()
        finally:
            self._store.close()

    # --- Transactions -----------------------------------------------------------------------------

    def make_whole(self) -> None:
        """Reads the state again if an interrupt may have left it half changed. (A second interrupt can stop that; the
        next call does it.)"""
        self._store.require_open()
        if not self.is_whole:
            with uninterrupted(), _ClosedOnFailure(self._store):
                self._read()
                self.is_whole = True

    @deep_recursion()
    def commit(self, change: Change, strategy: str = "auto") -> dict[str, RowChanges]:
        """Makes a change in memory and in the directory; returns the changed rows by relation. If the call raises a
        FlintlogError before the journal has the change, the database has not changed. Ctrl-C during the write is raised
        after the commit."""
        self._store.require_lock()
        with Whole(self):
            changed = self._commit(change, strategy)
        if self._store.is_worth_compacting() or self._takes_long_to_repeat(WHILE_OPEN):
            with suppress(FlintlogError):  # the disk is full: the journal has all changes, the next commit tries again
                self.compact()
        return changed

    def _commit(self, change: Change, strategy: str) -> dict[str, RowChanges]:
        before, update = (self.text, self.program), Epoch(self.state, strategy)
        try:
            self._apply(change, update)
            changed = self._changed(update) | self._dropped(before[1])
            with uninterrupted():
                self._store.commit(change)
                self._keep(change, update)
        except FlintlogError:
            if self.epoch != change.epoch:
                update.take_back()
                self.text, self.program = before
            raise
        return changed

    def _takes_long_to_repeat(self, times: float = 1.0) -> bool:
        """Whether the updates since the last snapshot took long: opening repeats them."""
        least = max(COMPACT_AFTER_SECONDS, COMPACT_AFTER_TIMES * self._snapshot_seconds)
        return self._update_seconds > times * least

    def _keep(self, change: Change, update: Epoch) -> None:
        self.epoch, self.recomputed = change.epoch, update.recomputed
        update.keep()

    def _apply(self, change: Change, update: Epoch) -> None:
        started = time.perf_counter()
        flattened = None
        if change.program is not None:
            program = self.compiled(change.program)
            self._functions.update(self._bind(program, Words(self.word_size)))
            self._require_same_columns(program)
            self.text, self.program, flattened = change.program, program, flatten(program)
        deleted = {name: self._columns(name, rows) for name, rows in change.deleted.items() if rows}
        inserted = {name: self._columns(name, rows) for name, rows in change.inserted.items() if rows}
        update.run(deleted, inserted, flattened)
        self._update_seconds += time.perf_counter() - started

    def _require_same_columns(self, program: Program) -> None:
        """Raises for a relation that is declared anew with other columns: its rows would not fit."""
        for name, relation in program.relations.items():
            if name in self.program.relations and row_shape(self.program, name) != row_shape(program, name):
                message = f"`{name}` has other columns than before"
                note = "drop it in one transaction, and declare it anew in the next"
                raise FlintlogError([Diagnostic("E948", message, relation.span, note)])

    def _changed(self, update: Epoch) -> dict[str, RowChanges]:
        result, reached = {}, update.reached()
        for name in filter(reached.__contains__, self.program.relations):
            lost, gained = self.state.relations[name].rounds.lost_and_gained()
            if lost.size or gained.size:
                result[name] = RowChanges(self._rows(name, gained), self._rows(name, lost))
        return result

    def _dropped(self, before: Program) -> dict[str, RowChanges]:
        """The rows of relations that the program no longer has."""
        result = {}
        for name in before.relations.keys() - self.program.relations.keys():
            relation, kinds = self.state.relations[name], before.relations[name].kinds
            if (present := relation.rounds.present()).size:
                none, all_rows = relation.some(NO_ROWS), relation.some(present)
                result[name] = RowChanges(
                    StoredRows(none, kinds, self._machine), StoredRows(all_rows, kinds, self._machine)
                )
        return result

    def compact(self) -> None:
        """Writes a snapshot, and begins an empty journal."""
        self.make_whole()
        started = time.perf_counter()
        options = {
            "word_size": self.word_size,
            "budget": self.state.budget,
            "strata": self.state.facts_of_strata(),
        }
        if self._store.keep(self.epoch, self.text, self._machine.known, self.state.relations, options):
            self._snapshot_seconds, self._update_seconds = time.perf_counter() - started, 0.0

    # --- Rows -------------------------------------------------------------------------------------

    def rows(self, name: str) -> StoredRows:
        self.make_whole()
        return self._rows(name, self.state.relations[name].rounds.present())

    def _rows(self, name: str, positions: Array) -> StoredRows:
        return StoredRows(self.state.relations[name].some(positions), self.program.relations[name].kinds, self._machine)

    def _columns(self, name: str, rows: Facts) -> list[Array]:
        if isinstance(rows, ColumnFacts):
            return words_of(rows, self._machine)
        return encode(rows, self.program.relations[name].kinds, self._machine)

    def compiled(self, text: str) -> Program:
        """A version of the program. FlintlogError for what is wrong with it."""
        return self._compilation(text).program

    def _compilation(self, text: str) -> Compilation:
        return compile_source(SourceFile("<database>", text), word_size=self.word_size)

    def checked(self) -> CheckedProgram:
        """The checked program, before its translation into IR."""
        return _checked(self._compilation(self.text))

    def compiled_with(self, more: str) -> Compilation:
        """The program with a text added."""
        return self._compilation(f"{self.text.rstrip()}\n{more}")

    # --- Questions --------------------------------------------------------------------------------

    @deep_recursion()
    def query(self, text: str, rules: SourceFile) -> tuple[Relation, StoredRows, TypeTable]:
        """The answer to a question: a relation whose columns are its variables, its rows, and the types of the
        program."""
        with in_words_of(rules, ""):
            compilation = self.compiled_with(rules.text)
            types = _types(compilation)
            if rules.text.strip():
                self._require_own_rules(compilation)
        question = question_of(text, types, lambda more: self.compiled_with(f"{rules.text.rstrip()}\n{more}"))
        with Whole(self):
            return self._answer(question, rules.text)

    def _require_own_rules(self, compilation: Compilation) -> None:
        """Raises for rules that would add to relations of the database, by themselves or in components."""
        heads = _heads(compilation)
        more = Counter(head.name for head in heads)
        more.subtract(head.name for head in _heads(self._compilation(self.text)))
        for head in reversed(heads):
            if more[head.name] and head.name in self.program.relations:
                message = f"a question cannot add to `{head.name}`, which the database keeps"
                note = "declare a relation of another name"
                raise FlintlogError([Diagnostic("E971", message, head.span, note)])

    def _answer(self, question: Question, rules: str = "") -> tuple[Relation, StoredRows, TypeTable]:
        compilation = self.compiled_with(f"{rules.rstrip()}\n{question.text}")
        self._functions.update(self._bind(compilation.program, Words(self.word_size)))
        declared = compilation.program.relations[question.relation]
        found = answers(self.state, compilation, [question.relation])[question.relation]
        return declared, StoredRows(found, declared.kinds, self._machine), compilation.program.types

    @deep_recursion()
    def goal(self, text: str) -> tuple[str, Row]:
        """A row as a program writes it: `path(1, 3)`. FlintlogError for what is wrong with it."""
        question, relation = goal_of(text, _types(self._compilation(self.text)), self.compiled_with)
        with Whole(self):
            _, rows, _ = self._answer(question)
        if relation not in self.program.relations:
            note = f"{INLINE}: explain a row of a relation that reads it"
            raise FlintlogError([Diagnostic("E971", f"`{relation}` is inline", note=note)])
        [row] = rows
        return relation, row

    @deep_recursion()
    def check(self) -> list[str]:
        """The differences between the state and one that is computed anew, in words."""
        with Whole(self):
            return differences(self.state)


def _checked(compilation: Compilation) -> CheckedProgram:
    """FlintlogError for what is wrong with the program."""
    compilation.report.raise_if_errors()
    assert compilation.checked is not None
    return compilation.checked


def _types(compilation: Compilation) -> Types:
    return types_of(_checked(compilation))


def _heads(compilation: Compilation) -> list[ast.Atom]:
    """The heads of all rules, also of components, in the order of the text."""
    checked = _checked(compilation)
    return [*(clause.head for clause in checked.clauses), *(clause.dominated for clause in checked.subsumptions)]
