"""Tasks that read texts of records and branches, and write them anew so that equal values have equal texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flintlog.engines.spark.data.plain import narrow, record_text, text_array, texts_of
from flintlog.engines.spark.data.sources.notes import NOTE, Found, Note
from flintlog.io.numerals import ValueTextError
from flintlog.io.schema import Schema
from flintlog.types import Kind

if TYPE_CHECKING:
    import pyarrow as pa


def settle_records(schema: Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Plain columns with a column of notes. Texts of records and branches are written anew; those that cannot be read
    get a note."""
    import pyarrow as pa

    nested = [position for position, kind in enumerate(schema.kinds()) if kind in (Kind.RECORD, Kind.ADT)]
    for batch in batches:
        notes = batch.column(len(schema.columns)).to_pylist()
        for position in nested:
            texts, found = _settled(schema, position, narrow(batch.column(position)))
            notes = [known or more for known, more in zip(notes, found, strict=True)]
            batch = batch.set_column(position, f"c{position}", text_array(texts))
        yield batch.set_column(len(schema.columns), NOTE, pa.array(notes, pa.string()))


def _settled(schema: Schema, position: int, array: pa.Array) -> tuple[list[str], list[str | None]]:
    """The new texts of a column, and a note for each text that is no value of the column's type. Each distinct text is
    read once."""
    column = schema.columns[position]
    parse = schema.parser(column)
    encoded = array.fill_null("").dictionary_encode()
    texts: list[str] = []
    notes: list[str | None] = []
    for text in texts_of(encoded.dictionary):
        try:
            texts.append(record_text(parse(text)))
            notes.append(None)
        except ValueTextError as error:
            code = "E704" if error.out_of_range else "E703"
            found = Found(code, f"column `{column.name}`: {error.message}", error.offset, error.offset + error.length)
            texts.append("")
            notes.append(Note(text, (found,)).packed())
    indices = encoded.indices.to_pylist()
    return [texts[index] for index in indices], [notes[index] for index in indices]
