"""The rows of a relation that a transaction inserts and deletes: the last request for a row counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flintlog.engines.numbered_values import key_of
from flintlog.incremental.rows.row_shape import row_shape
from flintlog.ir.program import Program
from flintlog.types import Kind, Row

_PLAIN = {Kind.NUMBER, Kind.UNSIGNED, Kind.SYMBOL}


class RequestedRows:
    """Requests for rows of one relation. The rows were checked against the declaration in `program`.

    >>> from flintlog.api.user_program import Program
    >>> requested = RequestedRows(Program(".decl r(x: float)").compilation.program, "r")
    >>> requested.request([(0.0,), (1.0,)], present=True)
    >>> requested.request([(-0.0,), (1.0,)], present=False)
    >>> requested.rows(present=True), requested.rows(present=False)
    ([(0.0,)], [(1.0,), (-0.0,)])
    """

    def __init__(self, program: Program, name: str) -> None:
        self._name, self._shape = name, row_shape(program, name)
        self._is_plain = set(program.relations[name].kinds) <= _PLAIN
        self._requested: dict[Any, bool] = {}
        self._rows: dict[Any, Row] = {}  # by their keys, where equal rows need not be the same row

    def request(self, rows: Iterable[Row], *, present: bool) -> None:
        """After the transaction, these rows shall be facts, or no facts."""
        if not self._is_plain:
            by_key = {key_of(row): row for row in rows}
            self._rows |= by_key
            rows = by_key.keys()
        self._requested.update(dict.fromkeys(rows, present))

    def rows(self, *, present: bool) -> list[Row]:
        """The rows that shall be facts, or no facts."""
        keys = [key for key, is_present in self._requested.items() if is_present == present]
        return keys if self._is_plain else [self._rows[key] for key in keys]

    def fits(self, program: Program) -> bool:
        """Whether the relation can have these rows in another version of the program."""
        return self._name in program.relations and row_shape(program, self._name) == self._shape
