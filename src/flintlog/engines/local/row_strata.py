"""Strata that run without kernels: their relations are decoded, evaluated row by row, and encoded again."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from flintlog.engines.local.storage.numbering import groups_of
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.reference.closures import Machine
from flintlog.engines.reference.rounds import StratumRounds
from flintlog.engines.reference.table import Table
from flintlog.io.column_facts import ColumnFacts, Symbols
from flintlog.ir.program import Program, Stratum
from flintlog.ir.visit import relations_of
from flintlog.types import Kind, Row

# How words of 64 bits are looked at.
_PLAIN: dict[Kind, type] = {
    Kind.NUMBER: np.int64,
    Kind.UNSIGNED: np.uint64,
    Kind.FLOAT: np.float64,
    Kind.SYMBOL: np.int64,
}
# Fewer rows are written before Arrow is loaded.
WORTH_COLUMNS = 20_000


def run_by_rows(program: Program, stratum: Stratum, store: dict[str, Relation], machine: Machine) -> None:
    """Runs a stratum as the reference engine does, and puts its rows into the store."""
    bodies = [r.body for r in stratum.rules] + [s.body for s in stratum.subsumptions]
    deltas = [r.name for r in program.relations.values() if r.delta_of in stratum.relations]
    own = [*stratum.relations, *deltas]
    names = set(own).union(*(relations_of(body, program.shared) for body in bodies))
    tables = {name: Table(program.relations[name], machine) for name in names}
    for name in names:
        relation = program.relations[name]
        for row in StoredRows(store[name], relation.kinds, machine):
            tables[name].load(row)
    StratumRounds(program, stratum, tables, machine).run(semi_naive=True)
    for name in own:
        relation, rows = program.relations[name], list(tables[name].rows)
        store[name] = result = store[name].empty()
        result.insert(encode(rows, relation.kinds, machine), len(rows))
        result.next_round()


def encode(rows: Sequence[Row], kinds: tuple[Kind, ...], machine: Machine) -> list[Array]:
    """The rows as columns of words."""
    return [np.array(_words([row[i] for row in rows], kind, machine), np.int64) for i, kind in enumerate(kinds)]


def _words(values: Sequence[Any], kind: Kind, machine: Machine) -> Sequence[int]:
    if kind is Kind.SYMBOL:
        return machine.intern(values)
    if kind is Kind.NUMBER and machine.words.size == 64:
        return values
    return [machine.word(value, kind) for value in values]


class Words(Protocol):
    """Columns of words: a relation, or what was taken out of one."""

    @property
    def size(self) -> int: ...

    def column(self, position: int, start: int, end: int) -> Array: ...


class StoredRows(Collection[Row]):
    """A relation's rows as Python values, made when they are looked at."""

    def __init__(self, relation: Words, kinds: tuple[Kind, ...], machine: Machine) -> None:
        self._relation, self._kinds, self._machine = relation, kinds, machine

    def __len__(self) -> int:
        return self._relation.size

    def __iter__(self) -> Iterator[Row]:
        if not self._kinds:
            return iter([()] * len(self))
        value = self._machine.value
        columns = []
        for position, kind in enumerate(self._kinds):
            words = self._relation.column(position, 0, len(self)).tolist()
            columns.append(words if kind is Kind.NUMBER else [value(word, kind) for word in words])
        return iter(zip(*columns, strict=True))

    def as_columns(self) -> ColumnFacts | None:
        """The rows as columns of plain values; None if there are few, or others among them."""
        plain = _PLAIN if self._machine.words.size == 64 else {Kind.NUMBER: np.int64, Kind.SYMBOL: np.int64}
        if len(self) < WORTH_COLUMNS or not plain.keys() >= set(self._kinds) or not self._kinds:
            return None
        columns: list[object] = []
        for position, kind in enumerate(self._kinds):
            words = self._relation.column(position, 0, len(self))
            if kind is Kind.SYMBOL:
                groups = groups_of([words], len(self))
                texts = [self._machine.value(word, kind) for word in groups.keys[0].tolist()]
                columns.append(Symbols(groups.numbers, texts))
            else:
                columns.append(words.view(plain[kind]))
        return ColumnFacts(tuple(columns), len(self))

    def __contains__(self, row: object) -> bool:
        return any(row == known for known in self)
