"""A database: a program and its relations, kept in a directory and kept current."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from flintlog.compiler import compile_source
from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.closures import Machine
from flintlog.engines.engine import Evaluation
from flintlog.engines.local.by_rows import encode
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.numbered_values import NumberedValues
from flintlog.incremental.journal import Change
from flintlog.incremental.normal import normal_form
from flintlog.incremental.state import State
from flintlog.incremental.store import Store
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir.program import Program
from flintlog.ir.words import Words
from flintlog.source import SourceFile
from flintlog.types import Row

# The functions for the functors of a program, given the words it computes with.
Bind = Callable[[Program, Words], Mapping[str, Callable[..., Any]]]


@dataclass(frozen=True)
class RowChanges:
    """What a transaction changed in a relation."""

    inserted: list[Row] = field(default_factory=list)
    deleted: list[Row] = field(default_factory=list)


class Maintained:
    """An open database. `bind` finds the functions for a program's functors."""

    def __init__(self, store: Store, bind: Bind = lambda program, words: {}) -> None:
        self._store, self._bind = store, bind
        self._functions: dict[str, Callable[..., Any]] = {}
        self.epoch = 0
        self.text = ""
        self.word_size = 64
        self.program: Program
        self.state: State
        self._machine: Machine

    # --- Making and opening -----------------------------------------------------------------------

    def create(self, text: str, facts: Mapping[str, Sequence[Row]], *, word_size: int, budget: float) -> None:
        with self._closed_on_failure():
            self._create(text, facts, word_size, budget)

    @deep_recursion()
    def _create(self, text: str, facts: Mapping[str, Sequence[Row]], word_size: int, budget: float) -> None:
        self._store.lock()
        if self._store.exists():
            message = f"there is a database in `{self._store.folder}` already"
            raise FlintlogError([Diagnostic("E944", message, note="choose another directory, or remove it first")])
        self._begin(text, word_size, budget, ())
        self.state.bootstrap(
            {name: ColumnFacts(tuple(self._columns(name, rows)), len(rows)) for name, rows in facts.items() if rows}
        )
        self.compact()

    def open(self, *, writes: bool) -> None:
        with self._closed_on_failure():
            self._open(writes)

    @contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    @deep_recursion()
    def _open(self, writes: bool) -> None:
        if writes:
            if not self._store.exists():
                self._store.read()  # which says that there is none
            self._store.lock()
        snapshot, changes = self._store.read()
        options = self._store.options
        self._begin(snapshot.program, options["word_size"], options["budget"], snapshot.values)
        self.state.restore(snapshot.relations, options["seconds"])
        self.epoch = self._store.epoch
        for change in changes:
            self._apply(change)
            self.state.keep()
            self.epoch = change.epoch

    def _begin(self, text: str, word_size: int, budget: float, values: Iterable[Any]) -> None:
        self.word_size = word_size
        self._machine = Machine(Words(word_size), self._functions, lambda message, span: None)
        self._machine.known = NumberedValues(values)
        self.text, self.program = text, self.compiled(text)
        self._functions.update(self._bind(self.program, Words(word_size)))
        evaluation = Evaluation(functions=self._functions, word_size=word_size)
        self.state = State(normal_form(self.program), self._machine, evaluation, budget=budget)

    def close(self) -> None:
        self._store.close()

    # --- Transactions -----------------------------------------------------------------------------

    @deep_recursion()
    def commit(self, change: Change) -> dict[str, RowChanges]:
        """Carries a change out and keeps it; returns what it changed, by relation. Where anything fails, there was no
        change."""
        self._store.require_lock()
        before = self.text, self.program
        try:
            self._apply(change)
            changed = self._changed()
            self._store.commit(change)
        except BaseException:
            self.state.take_back()
            self.text, self.program = before
            raise
        self.state.keep()
        self.epoch = change.epoch
        return changed

    def _apply(self, change: Change) -> None:
        normal = None
        if change.program is not None:
            program = self.compiled(change.program)
            self._functions.update(self._bind(program, Words(self.word_size)))
            self._require_same_columns(program)
            self.text, self.program, normal = change.program, program, normal_form(program)
        deleted = {name: self._columns(name, rows) for name, rows in change.deleted.items() if rows}
        inserted = {name: self._columns(name, rows) for name, rows in change.inserted.items() if rows}
        self.state.update(deleted, inserted, normal)

    def _require_same_columns(self, program: Program) -> None:
        """Rows of a relation that is declared anew with other columns would be taken for its own."""
        for name, relation in program.relations.items():
            before = self.program.relations.get(name)
            if before is not None and before.kinds != relation.kinds:
                message = f"`{name}` has other columns than before"
                note = "drop it in one transaction, and declare it anew in the next"
                raise FlintlogError([Diagnostic("E948", message, relation.span, note)])

    def _changed(self) -> dict[str, RowChanges]:
        result = {}
        for name in self.program.relations:
            lost, gained = self.state.kept[name].lost_and_gained()
            if lost.size or gained.size:
                result[name] = RowChanges(self._rows(name, gained), self._rows(name, lost))
        return result

    def compact(self) -> None:
        """Writes everything anew, without what is no longer needed."""
        options = {
            "word_size": self.word_size,
            "budget": self.state.budget,
            "seconds": self.state.seconds,
        }
        self._store.keep(self.epoch, self.text, self._machine.known, self.state.kept, options)

    # --- Rows -------------------------------------------------------------------------------------

    def rows(self, name: str) -> list[Row]:
        return self._rows(name, self.state.kept[name].present())

    def _rows(self, name: str, places: Array) -> list[Row]:
        kept, kinds = self.state.kept[name], self.program.relations[name].kinds
        if not kinds:
            return [()] * places.size
        value = self._machine.value
        columns = [column.tolist() for column in kept.columns(places)]
        return list(zip(*([value(word, k) for word in c] for c, k in zip(columns, kinds, strict=True)), strict=True))

    def _columns(self, name: str, rows: Sequence[Row]) -> list[Array]:
        return encode(rows, self.program.relations[name].kinds, self._machine)

    def compiled(self, text: str) -> Program:
        """A version of the program. FlintlogError for what is wrong with it."""
        return compile_source(SourceFile("<database>", text), word_size=self.word_size).program
