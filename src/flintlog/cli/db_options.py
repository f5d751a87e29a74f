"""The options of `flintlog db …`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

Commands = Any  # the result of `add_subparsers` has no public type
AddOptions = Callable[[argparse.ArgumentParser], None]


def add_db_commands(commands: Commands, program_options: AddOptions) -> None:
    database = commands.add_parser(
        "db", help="store and update results", description="Store the results of a program, and update them."
    )
    actions = database.add_subparsers(dest="action", metavar="ACTION", required=True)

    create = actions.add_parser("create", help="compute a program and store its relations in a new directory")
    _directory(create)
    program_options(create)
    create.add_argument(
        "-F", "--fact-dir", metavar="DIR", dest="fact_dir", default=".", help="where facts files are (default: here)"
    )
    create.add_argument(
        "--budget",
        metavar="PART",
        type=float,
        help="give an update of a stratum up after PART of the time that computing it took (default: 0.2)",
    )
    _functors(create)

    update = actions.add_parser("update", help="insert and delete facts")
    _directory(update)
    for name, what in (("insert", "facts to insert"), ("delete", "facts to delete")):
        update.add_argument(
            f"--{name}", metavar="REL=FILE", action="append", default=[], help=f"{what}; may be repeated"
        )
    _changes(update)

    rules = actions.add_parser("rules", help="add and remove rules")
    _directory(rules)
    rules.add_argument(
        "--add", metavar="RULE", action="append", default=[], help="a rule or declarations to add; may be repeated"
    )
    rules.add_argument(
        "--remove", metavar="RULE_ID", action="append", default=[], help="the id of a rule to remove; may be repeated"
    )
    rules.add_argument(
        "--drop", metavar="REL", action="append", default=[], help="a relation to drop with its rules; may be repeated"
    )
    rules.add_argument("--list", action="store_true", help="print the rules with their ids, after the changes")
    _changes(rules)

    _add_questions(actions)


def _add_questions(actions: Commands) -> None:
    """The actions that leave all relations as they are."""
    query = actions.add_parser("query", help="print the answers to a question")
    _directory(query)
    query.add_argument("question", metavar="QUESTION", help="the body of a rule: 'path(1, x)'")
    query.add_argument("--rules", metavar="FILE.dl", help="declarations and rules for this question only")
    _functors(query)

    explain = actions.add_parser("explain", help="print why a row is in the database, or why it is not")
    _directory(explain)
    explain.add_argument("row", metavar="ROW", help="a row, as in a program: 'path(1, 3)'")
    explain.add_argument("--depth", metavar="N", type=int, help="the height of the printed proof (default: 30)")
    _functors(explain)

    check = actions.add_parser("check", help="compute all relations from the facts and compare them")
    _directory(check)
    _functors(check)

    compact = actions.add_parser("compact", help="write a new snapshot and remove the journal")
    _directory(compact)
    _functors(compact)


def _directory(command: argparse.ArgumentParser) -> None:
    command.add_argument("directory", metavar="DIR", help="the directory of the database")


def _functors(command: argparse.ArgumentParser) -> None:
    command.add_argument("--functors", metavar="FILE.py", help="functors in Python")


def _changes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--changes", metavar="DIR", help="write REL.inserted.csv and REL.deleted.csv of each changed output to DIR"
    )
    command.add_argument(
        "--strategy",
        metavar="NAME",
        default="auto",
        help="auto, update, bootstrap, dred or counting (default: %(default)s)",
    )
    command.add_argument("--quiet", action="store_true", help="do not print what was computed again")
    _functors(command)
