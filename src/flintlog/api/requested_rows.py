"""What a transaction is told of a relation's rows: what is said last about a row counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flintlog.engines.numbered_values import key_of
from flintlog.incremental.rows.row_shape import row_shape
from flintlog.ir.program import Program
from flintlog.types import Kind, Row

_PLAIN = {Kind.NUMBER, Kind.UNSIGNED, Kind.SYMBOL}


class RequestedRows:
    """Rows of a relation of a program, for which they were checked.

    >>> from flintlog.api.user_program import Program
    >>> said = RequestedRows(Program(".decl r(x: float)").compilation.program, "r")
    >>> said.say([(0.0,), (1.0,)], there=True)
    >>> said.say([(-0.0,), (1.0,)], there=False)
    >>> said.rows(there=True), said.rows(there=False)
    ([(0.0,)], [(1.0,), (-0.0,)])
    """

    def __init__(self, program: Program, name: str) -> None:
        self._name, self._shape = name, row_shape(program, name)
        self._is_plain = set(program.relations[name].kinds) <= _PLAIN
        self._said: dict[Any, bool] = {}
        self._rows: dict[Any, Row] = {}  # by what tells them apart, where they do not do so themselves

    def say(self, rows: Iterable[Row], *, there: bool) -> None:
        if not self._is_plain:
            by_key = {key_of(row): row for row in rows}
            self._rows |= by_key
            rows = by_key.keys()
        self._said.update(dict.fromkeys(rows, there))

    def rows(self, *, there: bool) -> list[Row]:
        """Those of which that was said last."""
        keys = [key for key, is_there in self._said.items() if is_there == there]
        return keys if self._is_plain else [self._rows[key] for key in keys]

    def fits(self, program: Program) -> bool:
        """Whether the relation can have these rows in another version of the program."""
        return self._name in program.relations and row_shape(program, self._name) == self._shape
