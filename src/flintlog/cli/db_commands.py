"""The actions of `flintlog db`: a function for each, which returns the exit code."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from flintlog.api.changes import Changes
from flintlog.api.database import Database, Transaction
from flintlog.api.functors import load_functors
from flintlog.api.user_program import Program
from flintlog.cli.output import is_no_room
from flintlog.compiler import read_source
from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.incremental.durable.uninterrupted import uninterrupted
from flintlog.incremental.strategies.switch import BUDGET
from flintlog.io.parameters import without_scheme
from flintlog.provenance.explain import DEPTH


def create(args: Namespace, program: Program) -> int:
    facts_dir = Path(without_scheme(args.fact_dir))
    budget = BUDGET if args.budget is None else args.budget
    started = time.perf_counter()
    functors = _functors(args)
    with Database.create(  # prepare=False: no update comes before `close`
        args.directory, program, facts_dir=facts_dir, budget=budget, functors=functors, prepare=False
    ) as database:
        rows = sum(len(database[name]) for name in database)
        seconds = time.perf_counter() - started
        print(f"{args.directory}: {len(list(database))} relations, {rows:,} rows, {seconds:.2f} s", file=sys.stderr)
    return 0


def update(args: Namespace) -> int:
    changes = [("delete", *_named_file(text)) for text in args.delete]  # first: a row in both stays
    changes += [("insert", *_named_file(text)) for text in args.insert]
    if not changes:
        note = "use --insert REL=FILE or --delete REL=FILE"
        raise FlintlogError([Diagnostic("E900", "no change is given", note=note)])
    with _transaction(args) as change:
        for kind, relation, file in changes:
            getattr(change, kind)(relation, file)
    return 0


def rules(args: Namespace) -> int:
    changes = args.add or args.remove or args.drop
    if changes:
        with _transaction(args) as change:
            for id in args.remove:
                change.remove_rule(id)
            for relation in args.drop:
                change.drop(relation)
            for text in args.add:
                change.add_rule(text)
    if args.list or not changes:
        with _opened(args, read_only=True) as database:
            for rule in database.rules():
                print(f"{rule.id}\t{rule.text}")
    return 0


def query(args: Namespace) -> int:
    rules = read_source(Path(args.rules)) if args.rules else ""
    with _opened(args, read_only=True) as database:
        found = database.query(args.question, rules)
        if found.columns:
            try:
                found.print(sys.stdout, word_size=database.word_size)
            except FlintlogError as error:  # its note is about output files
                raise FlintlogError([replace(some, note=None) for some in error.diagnostics]) from None
        else:
            print("true" if len(found) else "false")
    return 0


def explain(args: Namespace) -> int:
    if args.depth is not None and args.depth < 1:
        raise FlintlogError([Diagnostic("E900", f"--depth {args.depth}: a proof has at least one rule")])
    with _opened(args, read_only=True) as database:
        print(database.explain_text(args.row, depth=DEPTH if args.depth is None else args.depth))
    return 0


def check(args: Namespace) -> int:
    with _opened(args, read_only=True) as database:
        problems = database.check()
        counts = _count(sum(len(database[name]) for name in database), "row"), _count(database.epoch, "transaction")
    for problem in problems:
        print(problem)
    verdict = "differs from" if problems else "equals"
    print(f"{args.directory}: {verdict} a new computation ({', '.join(counts)})", file=sys.stderr)
    return 1 if problems else 0


def compact(args: Namespace) -> int:
    with _opened(args) as database:
        database.compact()
    return 0


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _opened(args: Namespace, *, read_only: bool = False) -> Database:
    database = Database.open(args.directory, read_only=read_only, functors=_functors(args))
    for warning in database.warnings:
        print(warning.render(), file=sys.stderr)
    return database


@contextmanager
def _transaction(args: Namespace) -> Iterator[Transaction]:
    """A transaction that is committed and printed when the block ends. An interrupt says whether it was committed."""
    outcome = "nothing has changed"
    try:
        with _opened(args) as database:
            epoch = database.epoch
            _create_changes_directory(args)
            try:
                with database.transaction(args.strategy) as change:
                    yield change
            finally:
                if database.epoch > epoch:
                    outcome = "the transaction is committed, but its changes were not printed"
            with uninterrupted():
                _show(change, args)
                outcome = "the transaction is committed"
    except KeyboardInterrupt:
        raise KeyboardInterrupt(outcome) from None


def _functors(args: Namespace) -> Mapping[str, Callable[..., Any]]:
    return load_functors(Path(args.functors)) if args.functors else {}


def _create_changes_directory(args: Namespace) -> None:
    """Creates the directory for changes. Before the transaction, so that a failure leaves the database unchanged."""
    if args.changes:
        try:
            Path(args.changes).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"cannot write to `{args.changes}`: {error.strerror or error}"
            raise FlintlogError([Diagnostic("E712", message, note="name another directory")]) from None


def _named_file(text: str) -> tuple[str, str]:
    relation, is_given, file = text.partition("=")
    if not (relation and is_given and file):
        note = "write it as in --insert edge=edges.facts"
        raise FlintlogError([Diagnostic("E900", f"`{text}` is not a relation and a file", note=note)])
    return relation.strip(), file


def _show(change: Transaction, args: Namespace) -> None:
    """Prints how many rows of each output were inserted and deleted, and writes them to the directory for changes."""
    for warning in change.warnings:
        print(warning.render(), file=sys.stderr)
    note = "the transaction is committed, but its changes were not {}"
    if args.changes:
        try:
            change.result.write(Path(args.changes))
        except FlintlogError as error:
            raise FlintlogError([replace(some, note=note.format("written")) for some in error.diagnostics]) from None
    try:
        _print(change.result, args)
        sys.stdout.flush()
    except OSError as error:
        if not is_no_room(error):
            raise
        message = f"cannot write the output: {error.strerror}"
        raise FlintlogError([Diagnostic("E712", message, note=note.format("printed"))]) from None


def _print(changes: Changes, args: Namespace) -> None:
    all_changed = dict(changes)
    changed = [(name, all_changed[name]) for name in changes.outputs() if name in all_changed]
    for name, rows in changed:
        print(f"{name}\t+{len(rows.inserted)}\t-{len(rows.deleted)}")
    if not args.quiet:
        if not changed:
            print("no output has changed", file=sys.stderr)
        for why in dict.fromkeys(changes.recomputed.values()):
            names = [name for name, other in changes.recomputed.items() if other == why]
            print(f"computed again: {', '.join(names)} ({why})", file=sys.stderr)
