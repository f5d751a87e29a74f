"""Messages as bytes, for a connection or a file.

    head     magic, sequence number, count of numbers, count of batches
    table    the numbers; for each batch its tag, its number of columns and its number of rows
    pieces   for each batch, for every PIECE bytes of it: length, Arrow record batch in IPC form

Rows travel in pieces, each made just before it is sent, so that neither side holds a large message twice. A batch of
one piece is not copied after it has arrived: its columns are views of the received bytes. The schema is not sent; it
follows from the number of columns. Batches without columns or without rows have no pieces.
"""

from __future__ import annotations

import struct
from collections.abc import Generator, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from flintlog.engines.spark.exchange.errors import ProtocolError
from flintlog.engines.spark.exchange.message import Batch, Message

if TYPE_CHECKING:
    from flintlog.engines.spark.exchange.message import Column

PIECE = 4 << 20
SMALL = 32 << 10
_HEAD = struct.Struct("<4sIQQ")
_MAGIC = b"FLM1"
_ENTRY = struct.Struct("<qQQ")
_LENGTH = struct.Struct("<Q")
# The most bytes that the flatbuffer of a record batch and the padding of its buffers add to the words.
_OVERHEAD = 4096

Decoder = Generator[memoryview, None, Message]


def encode(message: Message, sequence: int) -> Iterator[memoryview | bytes]:
    """The bytes of a message in order. Small adjacent buffers are joined, so that a small message is one buffer."""
    gathered = bytearray(_HEAD.pack(_MAGIC, sequence & 0xFFFFFFFF, len(message.numbers), len(message.batches)))
    gathered += struct.pack(f"<{len(message.numbers)}q", *message.numbers)
    for batch in message.batches:
        gathered += _ENTRY.pack(batch.tag, len(batch.columns), batch.rows)
    for batch in message.batches:
        for start, stop in _spans(len(batch.columns), batch.rows):
            piece = _serialize(batch.columns, start, stop)
            gathered += _LENGTH.pack(piece.size)
            if piece.size < SMALL:
                gathered += memoryview(piece)
                continue
            yield bytes(gathered)
            gathered.clear()
            yield memoryview(piece)
    if gathered:
        yield bytes(gathered)


def decode(sequence: int) -> Decoder:
    """A generator that reads a message: it yields buffers, each to be filled before the next step, and returns the
    message. Raises ProtocolError when the bytes are not those of message number `sequence`."""
    head = bytearray(_HEAD.size)
    yield memoryview(head)
    magic, number, numbers, batches = _HEAD.unpack(head)
    if magic != _MAGIC or number != sequence & 0xFFFFFFFF:
        raise ProtocolError(f"message {number} where message {sequence} was due")
    table = bytearray(numbers * 8 + batches * _ENTRY.size)
    if table:
        yield memoryview(table)
    read = []
    for tag, width, rows in _ENTRY.iter_unpack(memoryview(table)[numbers * 8 :]):
        columns = yield from _decode_columns(width, rows)
        read.append(Batch(tag, columns, rows))
    return Message(struct.unpack_from(f"<{numbers}q", table), read)


def _decode_columns(width: int, rows: int) -> Generator[memoryview, None, list[Column]]:
    spans = list(_spans(width, rows))
    if len(spans) == 1:
        return (yield from _decode_piece(width, rows))
    columns = [np.empty(rows, np.int64) for _ in range(width)]
    for start, stop in spans:
        piece = yield from _decode_piece(width, stop - start)
        for column, part in zip(columns, piece, strict=True):
            column[start:stop] = part
    return columns


def _decode_piece(width: int, rows: int) -> Generator[memoryview, None, list[Column]]:
    prefix = bytearray(_LENGTH.size)
    yield memoryview(prefix)
    (length,) = _LENGTH.unpack(prefix)
    # A column takes at most 16 bytes of the flatbuffer, and 64 bytes of padding.
    if not width * rows * 8 <= length <= width * (rows * 8 + 256) + _OVERHEAD:
        raise ProtocolError(f"a piece of {length} bytes for {rows} rows of {width} columns")
    received = np.empty(length, np.uint8)
    yield received.data
    buffer = pa.py_buffer(received)
    try:
        batch = pa.ipc.read_record_batch(buffer, _schema(width))
    except (pa.ArrowException, OSError) as error:
        raise ProtocolError(f"a piece that is no Arrow batch: {error}") from error
    if batch.num_rows != rows:
        raise ProtocolError(f"a piece of {batch.num_rows} rows instead of {rows}")
    # Views of our own array, because Arrow's are read-only, and compiled kernels take writable arrays.
    origin = buffer.address
    offsets = (column.buffers()[1].address - origin for column in batch.columns)
    return [received[offset : offset + rows * 8].view(np.int64) for offset in offsets]


def _spans(width: int, rows: int) -> Iterator[tuple[int, int]]:
    """The pieces of a batch as ranges of rows."""
    if width and rows:
        step = max(1, PIECE // (8 * width))
        for start in range(0, rows, step):
            yield start, min(rows, start + step)


def _serialize(columns: Sequence[Column], start: int, stop: int) -> Any:
    arrays = [pa.array(column[start:stop]) for column in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=_schema(len(arrays))).serialize()


@cache
def _schema(width: int) -> Any:
    return pa.schema([pa.field(f"c{index}", pa.int64(), nullable=False) for index in range(width)])
