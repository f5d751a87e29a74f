"""The options of `flintlog db …`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

Commands = Any  # what `add_subparsers` gives has no public name
AddOptions = Callable[[argparse.ArgumentParser], None]


def add_db_commands(commands: Commands, program_options: AddOptions) -> None:
    database = commands.add_parser(
        "db", help="keep results current", description="Keep the results of a program current in a directory."
    )
    actions = database.add_subparsers(dest="action", metavar="ACTION", required=True)

    create = actions.add_parser("create", help="compute a program and keep its relations in a new directory")
    _directory(create)
    program_options(create)
    create.add_argument(
        "-F", "--fact-dir", metavar="DIR", dest="fact_dir", default=".", help="where facts files are (default: here)"
    )
    create.add_argument(
        "--budget",
        metavar="PART",
        type=float,
        help="the part of a stratum's time that its update may take before it is computed again (default: 0.2)",
    )
    _functors(create)

    update = actions.add_parser("update", help="take facts in and out")
    _directory(update)
    for name, what in (("insert", "facts that come"), ("delete", "facts that go")):
        update.add_argument(
            f"--{name}", metavar="REL=FILE", action="append", default=[], help=f"{what}; may be repeated"
        )
    _changes(update)

    rules = actions.add_parser("rules", help="take rules in and out")
    _directory(rules)
    rules.add_argument(
        "--add", metavar="RULE", action="append", default=[], help="a rule, or declarations; may be repeated"
    )
    rules.add_argument(
        "--remove", metavar="RULE_ID", action="append", default=[], help="the name of a rule; may be repeated"
    )
    rules.add_argument(
        "--drop", metavar="REL", action="append", default=[], help="a relation with its rules; may be repeated"
    )
    rules.add_argument("--list", action="store_true", help="print the rules with their names, after any change")
    _changes(rules)

    query = actions.add_parser("query", help="print the rows for which a question holds")
    _directory(query)
    query.add_argument("question", metavar="QUESTION", help="the body of a rule: 'path(1, x)'")
    query.add_argument("--rules", metavar="FILE.dl", help="declarations and rules for this question only")
    _functors(query)

    explain = actions.add_parser("explain", help="print why a row is there, or why it is not")
    _directory(explain)
    explain.add_argument("row", metavar="ROW", help="a row, as a program writes it: 'path(1, 3)'")
    explain.add_argument("--depth", metavar="N", type=int, help="how far down a proof is followed (default: 30)")
    _functors(explain)

    check = actions.add_parser("check", help="compare the database with what computing everything anew gives")
    _directory(check)
    _functors(check)

    compact = actions.add_parser("compact", help="write the directory anew, without what is no longer needed")
    _directory(compact)
    _functors(compact)


def _directory(command: argparse.ArgumentParser) -> None:
    command.add_argument("directory", metavar="DIR", help="the database")


def _functors(command: argparse.ArgumentParser) -> None:
    command.add_argument("--functors", metavar="FILE.py", help="functors in Python")


def _changes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--changes", metavar="DIR", help="where REL.inserted.csv and REL.deleted.csv go, for every output that changed"
    )
    command.add_argument(
        "--strategy",
        metavar="NAME",
        default="auto",
        help="auto, update, bootstrap, dred or counting (default: %(default)s)",
    )
    command.add_argument("--quiet", action="store_true", help="do not say what was computed again")
    _functors(command)
