"""Databases: a program's relations in a directory, current while facts and rules change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from os import PathLike, fspath
from pathlib import Path
from threading import RLock
from typing import Any

from flintlog.api.changes import Changes
from flintlog.api.facts import relation_for, rows_of
from flintlog.api.functors import BESIDE_THE_PROGRAM, bind_functors
from flintlog.api.requested_rows import RequestedRows
from flintlog.api.result import RelationResult, unknown_relation
from flintlog.api.run import read_inputs
from flintlog.api.user_program import Program
from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError, Report, did_you_mean
from flintlog.engines.protocol import RunOptions
from flintlog.incremental.durable.journal import Change
from flintlog.incremental.durable.store import Store
from flintlog.incremental.maintained import INLINE, Bind, Maintained
from flintlog.incremental.rules.rule_texts import (
    RuleText,
    is_inline,
    is_part_of,
    readers_of,
    rules_of,
    with_items,
    without_relation,
    without_rule,
)
from flintlog.incremental.strategies.switch import BUDGET
from flintlog.incremental.upkeep import STRATEGIES
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir import program as ir
from flintlog.provenance.explain import DEPTH, explain
from flintlog.provenance.explanation import Explanation
from flintlog.source import SourceFile
from flintlog.syntax.printer import print_program
from flintlog.types import Row

Functors = Mapping[str, Callable[..., Any]]
_NAME = "the name of a relation"


class Transaction:
    """Changes that are made together, or not at all. Of several requests for one row or rule, the last counts."""

    def __init__(self, database: Database, strategy: str = "auto") -> None:
        self._database, self._strategy = database, strategy
        self._text = self._begun_with = database.text
        self._dropped: list[str] = []
        self.warnings: list[Diagnostic] = []
        self._requested: dict[str, RequestedRows] = {}
        self._result: Changes | None = None

    def insert(self, relation: str, data: Any) -> None:
        """Adds facts: rows, a frame, an Arrow table or a path, as `Program.run` takes them."""
        self._request(relation, data, present=True)

    def delete(self, relation: str, data: Any) -> None:
        """Removes facts. Rows that the database does not have, and rows that only rules derive, are ignored."""
        self._request(relation, data, present=False)

    def add_rule(self, text: str) -> None:
        """Adds rules; the text may also declare relations."""
        self._require_open()
        _require_text(text, "a rule")
        self._text = with_items(self._text, text)

    def remove_rule(self, id: str) -> None:
        """Removes the rule with an id of `Database.rules`."""
        self._require_open()
        _require_text(id, "the id of a rule")
        self._text = without_rule(self._text, id)

    def drop(self, relation: str) -> None:
        """Drops a relation with its facts and rules, or an instance of a component with all of its relations."""
        self._require_open()
        _require_text(relation, _NAME)
        self._text = without_relation(self._text, relation)
        self._dropped.append(relation)

    @property
    def result(self) -> Changes:
        """The changes that the transaction has made. FlintlogError before it is committed."""
        if self._result is None:
            raise FlintlogError([Diagnostic("E946", "the transaction is not committed yet")])
        return self._result

    def _require_open(self) -> None:
        if self._result is not None:
            message = "the transaction is committed: nothing can be added to it"
            raise FlintlogError([Diagnostic("E946", message, note="begin another one")])

    def _request(self, name: str, data: Any, *, present: bool) -> None:
        self._require_open()
        _require_text(name, _NAME)
        program = self._database.program_of(self._text)
        _require_kept(name, program, self._text)
        rows = _checked(program, {name: data}, self._database.word_size, self.warnings)[name]
        if name not in self._requested:
            self._requested[name] = RequestedRows(program, name)
        self._requested[name].request(rows, present=present)

    def _commit(self) -> None:
        with self._database.lock:
            self._result = self._committed(self._database)
        self._database.tell(self._result)

    def _committed(self, database: Database) -> Changes:
        is_other = self._text != self._begun_with
        if database.text != self._begun_with:
            self._require_same(database.program_of(database.text), is_other)
        try:
            program = database.program_of(self._text if is_other else database.text)
        except FlintlogError:
            self._require_no_readers_of_dropped()
            raise
        for name in program.relations:
            if self._is_dropped(name):
                message = f"`{name}` is dropped and declared anew in one transaction"
                note = "drop it in one transaction, and declare it anew in the next"
                raise FlintlogError([Diagnostic("E948", message, program.relations[name].span, note)])
        requested = {name: rows for name, rows in self._requested.items() if name in program.relations}
        change = Change(
            database.epoch + 1,
            {name: rows.rows(present=False) for name, rows in requested.items()},
            {name: rows.rows(present=True) for name, rows in requested.items()},
            self._text if is_other else None,
        )
        return database.commit(change, self._strategy)

    def _require_same(self, program: ir.Program, is_other: bool) -> None:
        """Raises if another transaction has changed the program, and this one changes it, too, or requests rows of a
        relation whose columns are other ones now."""
        others = [f"`{name}`" for name, rows in self._requested.items() if not rows.fits(program)]
        if is_other or others:
            what = "the program" if is_other else ", ".join(others)
            message = f"another transaction has changed {what} since this one began"
            raise FlintlogError([Diagnostic("E973", message, note="begin it again")])

    def _is_dropped(self, relation: str) -> bool:
        return any(is_part_of(relation, name) for name in self._dropped)

    def _require_no_readers_of_dropped(self) -> None:
        """Raises for rules that read a dropped relation."""
        for name in dict.fromkeys([*filter(self._is_dropped, self._database), *self._dropped]):
            if readers := [f"{rule.id} ({rule.text})" for rule in readers_of(self._text, name)]:
                note = f"remove what reads it in the same transaction: {', '.join(readers)}"
                raise FlintlogError([Diagnostic("E975", f"`{name}` is dropped, and rules read it", note=note)])


class Database:
    """An open database; a context manager, which closes it.

    >>> from tempfile import TemporaryDirectory
    >>> program = Program('''
    ...     .decl edge(x: number, y: number)
    ...     .decl path(x: number, y: number)
    ...     path(x, y) :- edge(x, y).
    ...     path(x, z) :- path(x, y), edge(y, z).
    ... ''')
    >>> with TemporaryDirectory() as folder, Database.create(f"{folder}/paths", program, edge=[(1, 2)]) as database:
    ...     with database.transaction() as change:
    ...         change.insert("edge", [(2, 3)])
    ...     sorted(change.result["path"].inserted)
    [(1, 3), (2, 3)]
    """

    def __init__(self, maintained: Maintained) -> None:
        self._maintained = maintained
        self.lock = RLock()  # threads take turns
        self._programs: dict[str, ir.Program] = {}
        self._callbacks: list[Callable[[Changes], None]] = []

    @classmethod
    def create(
        cls,
        path: str | PathLike[str],
        program: Program,
        more_facts: Mapping[str, Any] | None = None,
        /,
        *,
        facts_dir: str | PathLike[str] | None = None,
        budget: float = BUDGET,
        functors: Functors | None = None,
        prepare: bool = True,
        **facts: Any,
    ) -> Database:
        """Computes a program, and makes a directory with its relations. Facts are given by the names of relations, as
        `Program.run` takes them; other inputs are read as their `.input` says. An update of a stratum is given up if it
        takes longer than `budget` times the time that computing the stratum took; the stratum is computed again then.
        With `prepare`, plans and indexes for updates are made now, as far as that is quick."""
        is_number: object = isinstance(budget, int | float)  # whatever the annotation says
        if not (is_number and 0 <= budget < inf):
            note = "it is a part of the time that a stratum took, as 0.2"
            raise FlintlogError([Diagnostic("E974", f"`{budget}` is no budget", note=note)])
        if not isinstance(program, Program):
            raise TypeError(f"a Program is wanted, not {program!r}: fl.Program.load reads one")
        store, compiled = _store(path), program.compilation.program
        given = _checked(compiled, {**(more_facts or {}), **facts}, program.word_size)
        folder = program.directory if facts_dir is None else Path(facts_dir)
        options = RunOptions(facts_dir=folder, word_size=program.word_size)
        inputs = [d for d in compiled.io if d.kind == "input" and d.relation not in given]
        read = {
            name: rows if isinstance(rows, ColumnFacts) else list(rows)
            for name, rows in read_inputs(compiled, inputs, options, {}, columnar=True).items()
        }
        maintained = Maintained(store, _binding({**program.functors(), **(functors or {})}, BESIDE_THE_PROGRAM))
        # The tree has what the text includes, and no macros any more.
        with deep_recursion():
            text = print_program(program.compilation.ast)
        maintained.create(text, {**read, **given}, word_size=program.word_size, budget=budget, prepare=prepare)
        return cls(maintained)

    @classmethod
    def open(cls, path: str | PathLike[str], *, read_only: bool = False, functors: Functors | None = None) -> Database:
        """Opens the last committed state. One process at a time may open a database to write, and any number to
        read."""
        maintained = Maintained(_store(path), _binding(functors or {}, "given as `functors` to `Database.open`"))
        maintained.open(writes=not read_only)
        return cls(maintained)

    def close(self) -> None:
        """Closes the directory, so that another process may write."""
        with self.lock:
            self._maintained.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # --- Looking ----------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The program, as it is now."""
        return self._maintained.text

    @property
    def epoch(self) -> int:
        """The number of transactions so far."""
        return self._maintained.epoch

    @property
    def word_size(self) -> int:
        return self._maintained.word_size

    @property
    def warnings(self) -> list[Diagnostic]:
        """Warnings about the directory, from when it was opened."""
        return self._maintained.warnings

    def rules(self) -> list[RuleText]:
        """The rules, with the ids by which they can be removed."""
        return rules_of(self.text)

    def __getitem__(self, name: str) -> RelationResult:
        with self.lock:
            program = self._maintained.program
            _require_kept(name, program, self.text)
            if name not in program.relations:
                raise unknown_relation(name, program.relations)
            return RelationResult(program.relations[name], self._maintained.rows(name), program.types)

    def __iter__(self) -> Iterator[str]:
        return iter(self._maintained.program.relations)

    def query(self, question: str, rules: str | SourceFile = "") -> RelationResult:
        """The rows for which a question holds: the body of a rule, as in `path(1, x), !edge(x, _)`. The columns are its
        variables. `rules` are declarations and rules beside those of the database, for this question only."""
        _require_text(question, "a question")
        if not isinstance(rules, SourceFile):
            _require_text(rules, "rules")
            rules = SourceFile("<rules>", rules)
        with self.lock:
            return RelationResult(*self._maintained.query(question, rules))

    def explain(self, relation: str, row: Row, *, depth: int = DEPTH) -> Explanation:
        """A proof of a row, `depth` rules deep; for a row that the database does not have, how far each rule gets."""
        _require_text(relation, _NAME)
        _require_depth(depth)
        with self.lock:
            program = self._maintained.program
            _require_kept(relation, program, self.text)
            if relation not in program.relations:
                raise unknown_relation(relation, program.relations)
            report = Report()
            rows = rows_of(program.relations[relation], [row], program.types, self.word_size, report)
            report.raise_if_errors()
            [checked] = rows
            return explain(self._maintained, relation, checked, depth)

    def explain_text(self, goal: str, *, depth: int = DEPTH) -> Explanation:
        """The same for a row as a program writes it: `path(1, 3)`."""
        _require_text(goal, "a row")
        _require_depth(depth)
        with self.lock:
            return explain(self._maintained, *self._maintained.goal(goal), depth)

    def check(self) -> list[str]:
        """Computes everything anew; returns the differences in words, none if the database is right."""
        with self.lock:
            return self._maintained.check()

    # --- Changing ---------------------------------------------------------------------------------

    @contextmanager
    def transaction(self, strategy: str = "auto") -> Iterator[Transaction]:
        """Changes that are committed at the end of the block, unless the block raises. `strategy` says how relations
        are updated: see `STRATEGIES`."""
        _require_text(strategy, "a strategy")
        if strategy not in STRATEGIES:
            note = did_you_mean(strategy, STRATEGIES) or f"there are {', '.join(STRATEGIES)}"
            raise FlintlogError([Diagnostic("E970", f"there is no strategy `{strategy}`", note=note)])
        change = Transaction(self, strategy)
        yield change
        change._commit()

    def commit(self, change: Change, strategy: str) -> Changes:
        maintained, before = self._maintained, self._maintained.program
        changed = maintained.commit(change, strategy)
        return Changes(changed, maintained.program, before, maintained.recomputed, self.word_size)

    def tell(self, changes: Changes) -> None:
        for callback in self._callbacks:
            callback(changes)

    def on_change(self, callback: Callable[[Changes], None]) -> None:
        """Calls a function with the changes of every transaction of this object, after the commit. If the function
        raises, the transaction stays committed."""
        if not callable(callback):
            raise TypeError(f"a function is wanted, not {callback!r}")
        self._callbacks.append(callback)

    def compact(self) -> None:
        """Writes a snapshot of the relations, and begins an empty journal."""
        with self.lock:
            self._maintained.compact()

    def program_of(self, text: str) -> ir.Program:
        """A version of the program, compiled once. FlintlogError for its mistakes."""
        with self.lock:
            if text == self.text:
                return self._maintained.program
            if text not in self._programs:
                self._programs = {text: self._maintained.compiled(text)}
            return self._programs[text]


def _binding(functors: Functors, where: str) -> Bind:
    return lambda program, words: bind_functors(program, functors, words, where)


def _store(path: str | PathLike[str]) -> Store:
    name = fspath(path)
    if not name or "\0" in name:
        note = "a database is a directory: name one"
        raise FlintlogError([Diagnostic("E949", f"{name!r} names no directory", note=note)])
    return Store(Path(name))


def _require_kept(name: str, program: ir.Program, text: str) -> None:
    """Raises for an inline relation, which has no rows."""
    if name not in program.relations and is_inline(text, name):
        raise FlintlogError([Diagnostic("E909", f"`{name}` is inline", note=INLINE)])


def _require_depth(depth: object) -> None:
    if not isinstance(depth, int) or depth < 1:
        note = f"it is a number from 1 on; {DEPTH} unless told otherwise"
        raise FlintlogError([Diagnostic("E974", f"a proof is not followed {depth!r} rules down", note=note)])


def _require_text(value: object, what: str) -> None:
    if not isinstance(value, str):
        raise TypeError(f"{what} is a text, not {value!r}")


def _checked(
    program: ir.Program, data: Mapping[str, Any], word_size: int, warnings: list[Diagnostic] | None = None
) -> dict[str, Sequence[Row]]:
    """The caller's facts as rows. FlintlogError with all their mistakes. A file is read as the `.input` of its relation
    says, if both have the same format; `warnings` gets the warnings about it."""
    report = Report()
    given: dict[str, Sequence[Row]] = {}
    for name, facts in data.items():
        relation = relation_for(name, program.relations, report)
        if relation is not None:
            given[name] = rows_of(relation, facts, program.types, word_size, report, program.inputs.get(name))
    report.raise_if_errors()
    if warnings is not None:
        warnings += report.warnings
    return given
