"""Relations as Arrow tables."""

from __future__ import annotations

from collections.abc import Collection

import pyarrow as pa

from flintlog.io import format_value
from flintlog.ir.program import Relation
from flintlog.types import Kind, Row, TypeTable

_ARROW_TYPES = {Kind.NUMBER: pa.int64(), Kind.UNSIGNED: pa.uint64(), Kind.FLOAT: pa.float64(), Kind.SYMBOL: pa.string()}


def to_arrow(relation: Relation, rows: Collection[Row], types: TypeTable) -> pa.Table:
    """Numbers, floats and symbols as Arrow's own types; records and branches as the text a facts file has."""
    arrays = []
    for i, (field, kind) in enumerate(zip(relation.columns, relation.kinds, strict=True)):
        values: list[object] = [row[i] for row in rows]
        if kind not in _ARROW_TYPES:
            values = [format_value(v, field.type, types, 64) for v in values]  # type: ignore[arg-type]
        arrays.append(pa.array(values, type=_ARROW_TYPES.get(kind, pa.string())))
    return pa.table(arrays, names=[field.name for field in relation.columns])
