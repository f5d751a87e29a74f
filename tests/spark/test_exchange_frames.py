"""Messages as bytes: whatever is written is read again, and nothing else is believed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.spark.exchange_ranks import assert_same

from flintlog.engines.spark.exchange import frames
from flintlog.engines.spark.exchange.errors import ProtocolError
from flintlog.engines.spark.exchange.frames import decode, encode
from flintlog.engines.spark.exchange.message import Batch, Message

WORDS = st.integers(-(2**63), 2**63 - 1)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    batches = []
    for _ in range(draw(st.integers(0, 4))):
        rows = draw(st.integers(0, 40))
        width = draw(st.integers(0, 4))
        columns = [np.array(draw(st.lists(WORDS, min_size=rows, max_size=rows)), np.int64) for _ in range(width)]
        batches.append(Batch(draw(WORDS), columns, rows))
    return Message(tuple(draw(st.lists(WORDS, max_size=5))), batches)


def _read(data: bytes, sequence: int) -> Message:
    decoder = decode(sequence)
    unfilled = next(decoder)
    while True:
        assert len(data) >= len(unfilled)
        unfilled[:] = data[: len(unfilled)]
        data = data[len(unfilled) :]
        try:
            unfilled = next(decoder)
        except StopIteration as end:
            assert data == b""
            message: Message = end.value
            return message


@given(messages(), st.integers(0, 2**40))
def test_what_is_written_is_read(message: Message, sequence: int) -> None:
    assert_same(_read(b"".join(encode(message, sequence)), sequence), message)


@given(messages(), st.sampled_from([8, 24, 64, 200]))
def test_large_batches_go_in_pieces(message: Message, piece: int) -> None:
    """As batches of gigabytes do: with pieces this small, a few rows are many pieces."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "PIECE", piece)
        patch.setattr(frames, "SMALL", 100)
        assert_same(_read(b"".join(encode(message, 7)), 7), message)


def test_a_small_message_is_one_buffer() -> None:
    message = Message((1, 2), [Batch(tag, [np.arange(50), np.arange(50)]) for tag in range(10)])
    assert len(list(encode(message, 1))) == 1


def test_the_length_of_a_batch_without_columns_survives() -> None:
    message = _read(b"".join(encode(Message((), [Batch(5, [], 3)]), 1)), 1)
    assert [(batch.tag, batch.rows, batch.columns) for batch in message.batches] == [(5, 3, [])]


@pytest.mark.parametrize("place", [0, 4, 60])
def test_other_bytes_are_refused(place: int) -> None:
    data = bytearray(b"".join(encode(Message((1,), [Batch(0, [np.arange(4)])]), 1)))
    data[place] ^= 0xFF
    with pytest.raises(ProtocolError):
        _read(bytes(data), 1)


def test_ranks_at_different_rounds_notice() -> None:
    with pytest.raises(ProtocolError, match="message 3 where message 4"):
        _read(b"".join(encode(Message(), 3)), 4)


def test_a_batch_is_checked_when_it_is_made() -> None:
    with pytest.raises(ValueError, match="a batch of 3 rows"):
        Batch(0, [np.arange(3), np.arange(2)])
    with pytest.raises(ValueError, match="a batch of -1 rows"):
        Batch(0, [])
    with pytest.raises(TypeError, match="int64"):
        Batch(0, [np.arange(3).astype(np.float64)])
