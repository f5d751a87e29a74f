"""Tasks that write plain rows as lines of text, with the writers that the other engines have for whole files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from flintlog.engines.spark.data.plain import rows_of, text_array
from flintlog.io.formats.delimited import written_lines
from flintlog.io.formats.json_rows import written_json
from flintlog.io.parameters import Dialect
from flintlog.io.schema import Schema
from flintlog.types import Row

if TYPE_CHECKING:
    import pyarrow as pa


def delimited_lines(
    schema: Schema, layout: Dialect, header: str | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Lines of a delimited file. Every partition becomes a file, which begins with the header if it has rows."""
    for batch in batches:
        if not batch.num_rows:
            continue
        if header is not None:
            yield _lines([header])
            header = None
        text = "".join(written_lines(schema, _rows(schema, batch), layout))
        yield _lines(_split(text) if not layout.rfc4180 else [text.removesuffix("\n")])


def json_lines(schema: Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """An object of JSON for each row."""
    for batch in batches:
        if batch.num_rows:
            rows = _rows(schema, batch)
            yield _lines(["".join(written_json(schema, [row], as_objects=True))[1:-2] for row in rows])


def json_text(schema: Schema, as_objects: bool, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows as one array of JSON, for a single task."""
    rows = (row for batch in batches for row in _rows(schema, batch))
    yield _lines(["".join(written_json(schema, rows, as_objects)).removesuffix("\n")])


def _rows(schema: Schema, batch: pa.RecordBatch) -> list[Row]:
    import pyarrow as pa

    return rows_of(pa.Table.from_batches([batch]), schema)


def _split(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")


def _lines(texts: Iterable[str]) -> pa.RecordBatch:
    import pyarrow as pa

    return pa.record_batch([text_array(list(texts))], names=["value"])
