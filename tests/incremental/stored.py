"""A small database in a directory, for tests of what is kept there."""

from __future__ import annotations

from pathlib import Path

import pytest

from flintlog.diagnostics import FlintlogError
from flintlog.incremental.durable.store import Store
from flintlog.incremental.maintained import Maintained

PATHS = """
    .decl e(x: symbol, y: symbol)
    .decl p(x: symbol, y: symbol)
    .decl n(c: number)
    p(x, y) :- e(x, y).
    p(x, z) :- p(x, y), e(y, z).
    n(c) :- c = count : { p(_, _) }.
"""
EDGES = [("a", "b"), ("b", "c")]


def opened(folder: Path, *, writes: bool = False) -> Maintained:
    database = Maintained(Store(folder))
    database.open(writes=writes)
    return database


def code_of(caught: pytest.ExceptionInfo[FlintlogError]) -> str:
    return caught.value.diagnostics[0].code


def written_in(journal: Path) -> bytes:
    """What stands in it, without the room for more."""
    return journal.read_bytes().rstrip(b"\0")
