"""Asks relations and indexes through the kernels, as rules do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.unit.engines.local.arrays import words

from flintlog.engines.local.kernel_stage import KernelStage
from flintlog.engines.local.plan import Probe
from flintlog.engines.local.rule_code import RuleCode
from flintlog.engines.local.storage.packing import Array
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.queries.query import Rows
from flintlog.engines.reference.closures import Machine
from flintlog.ir.nodes import Node
from flintlog.ir.scalar import Column
from flintlog.ir.words import Words
from flintlog.types import Kind

Row = tuple[int, ...]
# Another relation, its columns, and those of the rows that must stand there.
FilterBy = tuple[Relation, tuple[int, ...], tuple[int, ...]]


def machine() -> Machine:
    return Machine(Words(64), {}, lambda message, span: None)


def insert(relation: Relation, rows: Sequence[Row]) -> None:
    relation.insert([words(row[i] for row in rows) for i in range(relation.arity)], len(rows))


def visible(arity: int, rows: Sequence[Row]) -> Relation:
    """A relation with these rows, all of them new."""
    relation = Relation("r", arity)
    insert(relation, rows)
    relation.next_round()
    return relation


def rows_of(relation: Relation, start: int = 0, end: int | None = None) -> list[Row]:
    end = relation.size if end is None else end
    return transposed([relation.column(p, start, end) for p in range(relation.arity)], end - start)


def transposed(columns: Sequence[Array], size: int) -> list[Row]:
    return list(zip(*(column.tolist() for column in columns), strict=True)) if columns else [()] * size


def probe(
    relation: Relation,
    key: tuple[int, ...],
    asked: Sequence[Row],
    filters: Sequence[FilterBy] = (),
    delta: bool = False,
) -> list[Row]:
    """The rows that have one of these values in the columns `key`, for one value after the other."""
    sources: dict[str | Node, Relation] = {"r": relation}
    variables = tuple(Column(f"v{i}", Kind.NUMBER) for i in range(relation.arity))
    names = [variable.name for variable in variables]
    code = RuleCode(machine(), frozenset(names), [names[p] for p in key])
    binds = tuple((p, variable) for p, variable in enumerate(variables) if p not in key)
    code.add(Probe(Rows("r", variables), key, tuple(variables[p] for p in key), binds, (), False))
    code.levels[-1].delta = delta
    for place, (other, columns, own) in enumerate(filters):
        sources[f"f{place}"] = other
        code.levels[-1].filters.append((f"f{place}", columns, own))
    batch = {names[p]: words(value[i] for value in asked) for i, p in enumerate(key)}
    return staged(code, names, batch, len(asked), sources)


def contains(relation: Relation, rows: Sequence[Row]) -> list[bool]:
    found = set(probe(relation, tuple(range(relation.arity)), rows))
    return [row in found for row in rows]


def staged(
    code: RuleCode,
    output: Sequence[str],
    batch: dict[str, Array],
    size: int,
    sources: Mapping[str | Node, Relation] | None = None,
) -> list[Row]:
    """What comes out of the kernels for a batch."""
    stage = KernelStage(code, output, (sources or {}).__getitem__)
    return [
        row
        for columns, count in stage.batches(batch, size)
        for row in transposed([columns[name] for name in output], count)
    ]
