"""Relations as Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from flintlog.io.column_facts import ColumnFacts
from flintlog.io.formats.arrow_files import table_of
from flintlog.io.schema import Schema
from flintlog.ir.program import Relation
from flintlog.types import Row, TypeTable

if TYPE_CHECKING:
    import pyarrow as pa


def to_arrow(relation: Relation, rows: Collection[Row], types: TypeTable) -> pa.Table:
    """Numbers, floats and symbols as Arrow's own types; records and branches as text that can be read back."""
    import pyarrow as pa

    if not relation.columns:
        # A table from arrays has as many rows as its first column; this one has none, but may have a row.
        batch = pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))
        return pa.Table.from_batches([batch])
    schema = Schema(relation.name, relation.columns, types, 64)
    as_columns: Callable[[], ColumnFacts | None] = getattr(rows, "as_columns", lambda: None)
    facts = as_columns()
    if facts is None:
        return table_of(schema, list(rows))
    from flintlog.io.formats.table_columns import table_of_columns

    return table_of_columns(schema, facts)
