"""Texts of records and branches, inside of tasks: read, and written so that equal values have equal texts."""

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
    """Plain columns and notes, with the texts of records and branches settled; notes on those that cannot be read."""
    import pyarrow as pa

    nested = [place for place, kind in enumerate(schema.kinds()) if kind in (Kind.RECORD, Kind.ADT)]
    for batch in batches:
        notes = batch.column(len(schema.columns)).to_pylist()
        for place in nested:
            texts, found = _settled(schema, place, narrow(batch.column(place)))
            notes = [known or more for known, more in zip(notes, found, strict=True)]
            batch = batch.set_column(place, f"c{place}", text_array(texts))
        yield batch.set_column(len(schema.columns), NOTE, pa.array(notes, pa.string()))


def _settled(schema: Schema, place: int, array: pa.Array) -> tuple[list[str], list[str | None]]:
    """The texts of a column, and a note for each that is none of its type; each distinct text is read once."""
    column = schema.columns[place]
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
    places = encoded.indices.to_pylist()
    return [texts[index] for index in places], [notes[index] for index in places]
