"""What the ranks of the exchange's tests do, each in a process of its own, and how the tests start and watch them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from flintlog.engines.spark.exchange.errors import ExchangeError, PeerLost
from flintlog.engines.spark.exchange.mesh import Mesh
from flintlog.engines.spark.exchange.message import Batch, Message
from flintlog.engines.spark.exchange.rendezvous import Rendezvous
from flintlog.engines.spark.exchange.snapshots import Snapshots
from flintlog.engines.spark.exchange.ticket import Ticket

# As Spark starts its workers: forked from a process that has done nothing but import.
_PROCESSES = multiprocessing.get_context("forkserver")
_PROCESSES.set_forkserver_preload(["__main__", __name__])


class Rank:
    """One process. `result` waits for what its function returns, or the exception that it raises."""

    def __init__(self, function: Callable[..., Any], *args: Any) -> None:
        self._pipe, theirs = _PROCESSES.Pipe()
        self.process = _PROCESSES.Process(target=_run, args=(theirs, function, args), daemon=True)
        self.process.start()
        theirs.close()

    def result(self, seconds: float = 60.0) -> Any:
        assert self._pipe.poll(seconds), "the rank does not end"
        return self._pipe.recv()

    def kill(self) -> None:
        self.process.kill()
        self.process.join()
        self._pipe.close()


@contextmanager
def ranks(count: int, function: Callable[..., Any], ticket: Ticket, attempt: int, *args: Any) -> Iterator[list[Rank]]:
    """A process for each rank, all of which are gone in the end."""
    started = [Rank(function, ticket, rank, attempt, *args) for rank in range(count)]
    try:
        yield started
    finally:
        for rank in started:
            rank.kill()


def _run(pipe: Connection, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    try:
        pipe.send(function(*args))
    except ExchangeError as error:
        pipe.send(error)


def drive(pipe: Connection, count: int) -> None:
    """A driver that waits for its end."""
    with Rendezvous(count, "127.0.0.1") as rendezvous:
        pipe.send(rendezvous.ticket)
        time.sleep(60)


def start_driver(count: int) -> tuple[Any, Ticket]:
    ours, theirs = _PROCESSES.Pipe()
    process = _PROCESSES.Process(target=drive, args=(theirs, count), daemon=True)
    process.start()
    return process, ours.recv()


def expected_message(sender: int, receiver: int, round_: int, largest: int) -> Message:
    """What a rank sends in a round: anything, but both sides can make it."""
    random = np.random.default_rng((sender, receiver, round_))
    batches = []
    for tag in range(int(random.integers(0, 4))):
        width = int(random.integers(0, 5))
        rows = int(random.choice([0, 1, 7, 100, 5_000, int(random.integers(0, largest + 1))]))
        columns = [random.integers(-(2**63), 2**63 - 1, rows) for _ in range(width)]
        # A column of a matrix has gaps between its words, as a caller's column may have.
        if width > 1:
            columns[-1] = np.stack(columns, axis=1)[:, -1]
        batches.append(Batch(tag, columns, rows))
    return Message(tuple(random.integers(-(2**63), 2**63 - 1, int(random.integers(0, 5))).tolist()), batches)


def assert_same(message: Message, expected: Message) -> None:
    assert message.numbers == expected.numbers
    assert len(message.batches) == len(expected.batches)
    for batch, other in zip(message.batches, expected.batches, strict=True):
        assert (batch.tag, batch.rows, len(batch.columns)) == (other.tag, other.rows, len(other.columns))
        for column, otherwise in zip(batch.columns, other.columns, strict=True):
            np.testing.assert_array_equal(column, otherwise)


def exchange_anything(ticket: Ticket, rank: int, attempt: int, rounds: int, largest: int) -> int:
    """Sends messages of all sizes and compares all that arrive."""
    with Mesh.join(ticket, rank, attempt) as mesh:
        for round_ in range(rounds):
            out = [expected_message(rank, receiver, round_, largest) for receiver in range(mesh.ranks)]
            received = mesh.exchange(out)
            assert received[rank] is out[rank]
            for sender, message in enumerate(received):
                assert_same(message, expected_message(sender, rank, round_, largest))
                for batch in message.batches:
                    assert sender == rank or all(c.flags.writeable and c.flags.aligned for c in batch.columns)
        return rounds


def exchange_large(ticket: Ticket, rank: int, attempt: int, rows: int) -> bool:
    """Everybody sends a large batch to the next rank, all at the same time, and a middling one to the others."""
    with Mesh.join(ticket, rank, attempt) as mesh:
        sizes = [rows if to == (rank + 1) % mesh.ranks else rows // 20 for to in range(mesh.ranks)]
        received = mesh.exchange(
            [Message((rank,), [Batch(9, _large(rank, to, sizes[to]))]) for to in range(mesh.ranks)]
        )
        for sender, message in enumerate(received):
            (batch,) = message.batches
            assert batch.rows == (rows if rank == (sender + 1) % mesh.ranks else rows // 20)
            for column, expected in zip(batch.columns, _large(sender, rank, batch.rows), strict=True):
                assert np.array_equal(column, expected)
        return True


def _large(sender: int, receiver: int, rows: int) -> list[Any]:
    return [np.arange(rows) + sender, np.arange(rows) * receiver]


def exchange_nothing(ticket: Ticket, rank: int, attempt: int, rounds: int) -> float:
    """Seconds for each round without rows."""
    with Mesh.join(ticket, rank, attempt) as mesh:
        start = time.perf_counter()
        for round_ in range(rounds):
            received = mesh.exchange([Message((round_, rank))] * mesh.ranks)
            assert [message.numbers for message in received] == [(round_, peer) for peer in range(mesh.ranks)]
        return (time.perf_counter() - start) / rounds


def exchange_until(ticket: Ticket, rank: int, attempt: int, pause: float) -> None:
    """Goes on until something ends it."""
    with Mesh.join(ticket, rank, attempt) as mesh:
        while True:
            mesh.exchange([Message()] * mesh.ranks)
            time.sleep(pause)


def exchange_for(ticket: Ticket, rank: int, attempt: int, seconds: float) -> int:
    """Rounds until all ranks find that the time is over."""
    with Mesh.join(ticket, rank, attempt) as mesh:
        end, rounds, going = time.monotonic() + seconds, 0, True
        while going:
            received = mesh.exchange([Message((time.monotonic() < end,))] * mesh.ranks)
            going = all(message.numbers[0] for message in received)
            rounds += 1
        return rounds


def fail_after(ticket: Ticket, rank: int, attempt: int, failing: int, payload: bytes) -> str:
    """One rank finds in its third round that the run cannot succeed."""
    with Mesh.join(ticket, rank, attempt) as mesh:
        for round_ in range(1_000_000):
            if rank == failing and round_ == 2:
                mesh.fail(payload)
                return "failed"
            mesh.exchange([Message()] * mesh.ranks)
    return "went on"


def accumulate(
    ticket: Ticket, rank: int, attempt: int, snapshots: Snapshots, rounds: int, dies: int
) -> tuple[int | None, int, list[int]]:
    """A computation that goes wrong when a round is lost or done twice: in each round every rank's numbers depend on
    those of all. Rank `dies` is killed in round 13 of its first attempt; every fifth round has a snapshot."""
    with Mesh.join(ticket, rank, attempt) as mesh:
        first, numbers = 0, np.arange(4) + rank
        if mesh.resume_from is not None:
            tables, extra = snapshots.read(mesh.resume_from, rank)
            first, numbers = int(extra), tables["numbers"][0]
        for round_ in range(first, rounds):
            if rank == dies and attempt == 1 and round_ == 13:
                os.kill(os.getpid(), signal.SIGKILL)
            received = mesh.exchange([Message((round_,), [Batch(0, [numbers])])] * mesh.ranks)
            assert {message.numbers for message in received} == {(round_,)}
            numbers = accumulated([message.batches[0].columns[0] for message in received], rank)
            mesh.report(0, round_, len(numbers), round_)
            if (round_ + 1) % 5 == 0:
                number = mesh.next_snapshot()
                snapshots.write(number, rank, {"numbers": [numbers]}, str(round_ + 1).encode())
                mesh.snapshot_written(number)
                snapshots.prune(rank, mesh.stale_before)
        return mesh.resume_from, first, numbers.tolist()


def accumulated(parts: list[Any], rank: int) -> Any:
    return (sum(part * (index + 2) for index, part in enumerate(parts)) + rank) % 1_000_003


def lost_rank(error: object) -> int | None:
    return error.rank if isinstance(error, PeerLost) else None
