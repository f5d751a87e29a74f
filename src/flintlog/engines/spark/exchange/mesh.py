"""A task's side: one rank of a run, connected to all others and to the driver."""

from __future__ import annotations

import base64
import contextlib
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

from flintlog.engines.spark.exchange.errors import DriverGone, PeerLost
from flintlog.engines.spark.exchange.joining import Joined, join
from flintlog.engines.spark.exchange.message import Message
from flintlog.engines.spark.exchange.ticket import Ticket
from flintlog.engines.spark.exchange.traffic import Traffic
from flintlog.engines.spark.exchange.verdict import heed, verdict

_PROGRESS_SECONDS = 0.1
_FAIL_SECONDS = 10.0
_SNAPSHOTS_PER_GENERATION = 1_000_000


class Mesh:
    """Made by `join`, used by one thread, as a context manager. Leaving it without an exception tells the driver that
    this rank has finished. Leaving it with an exception, or the death of the process, is a loss: all other ranks raise
    PeerLost."""

    def __init__(self, rank: int, ranks: int, joined: Joined) -> None:
        self.rank, self.ranks = rank, ranks
        self.generation = joined.generation
        self._line = joined.line
        self._traffic = Traffic(rank, joined.peers, joined.line.fileno())
        self._complete = joined.snapshots
        self.resume_from: int | None = joined.snapshots[-1] if joined.snapshots else None
        self._snapshots_taken = 0
        self._progress: tuple[int, float] = (-1, 0.0)

    @classmethod
    def join(cls, ticket: Ticket, rank: int, attempt: int) -> Mesh:
        """Waits for all other ranks and connects to them.

        `attempt` is Spark's task attempt id: numbers of tasks that start together follow each other, those of a later
        attempt are higher. Where they are scattered, joining takes a few seconds longer.

        Raises RanksMissing, Superseded, RunFailed, DriverGone, PeerLost or Refused.
        """
        return cls(rank, ticket.ranks, join(ticket, rank, attempt))

    def exchange(self, out: Sequence[Message]) -> list[Message]:
        """Sends out[i] to rank i; returns the messages of all ranks, in their order, once all are sent and received.

        The rank's own message is returned as it is. The columns of the others are writable and belong to the caller.
        Raises PeerLost, RunFailed, Superseded or DriverGone; the mesh cannot be used afterwards.
        """
        if len(out) != self.ranks:
            raise ValueError(f"{len(out)} messages for {self.ranks} ranks")
        try:
            if self.ranks == 1:
                self.check()
            messages = self._traffic.exchange(out)
            while messages is None:
                self.check()
                messages = self._traffic.resume()
        except PeerLost as suspicion:
            raise verdict(self._line, suspicion) from suspicion
        return messages

    def check(self) -> None:
        """Raises an error if the driver has ended the run. Does not wait; to be called during long work between
        exchanges."""
        try:
            frames = self._line.ready()
        except ConnectionError as error:
            raise DriverGone("the driver has closed its connection") from error
        heed(frames)
        for frame in frames:
            if frame["kind"] == "complete":
                self._complete = [*self._complete[-1:], frame["number"]]

    def report(self, stratum: int, round_: int, delta_rows: int, total_rows: int) -> None:
        """Sends progress to the driver, but only a few reports a second: rounds may be shorter than that."""
        stratum_before, sent = self._progress
        now = time.monotonic()
        if stratum != stratum_before or now - sent >= _PROGRESS_SECONDS:
            self._progress = (stratum, now)
            self._say("progress", numbers=[int(n) for n in (stratum, round_, delta_rows, total_rows)])

    def next_snapshot(self) -> int:
        """The number of this rank's next snapshot: higher than all earlier ones, and the same for all ranks that take
        their snapshots in the same rounds. No two generations share a number, so that an old task that has not yet
        noticed its end cannot overwrite a part of a new snapshot."""
        self._snapshots_taken += 1
        return self.generation * _SNAPSHOTS_PER_GENERATION + self._snapshots_taken

    def snapshot_written(self, number: int) -> None:
        """Tells the driver that this rank has written its part of a snapshot."""
        self._say("snapshot", number=number)

    @property
    def stale_before(self) -> int:
        """Snapshots with lower numbers may be removed: there are two newer complete ones."""
        return self._complete[-2] if len(self._complete) > 1 else 0

    def fail(self, payload: bytes) -> None:
        """Tells the driver why the run cannot succeed, however often it is tried. All other ranks raise RunFailed in
        their exchange. Returns when the driver has confirmed it."""
        self._say("failed", payload=base64.b64encode(payload).decode())
        deadline = time.monotonic() + _FAIL_SECONDS
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < deadline:
                frames = self._line.wait(deadline - time.monotonic())
                if any(frame["kind"] == "noted" for frame in frames):
                    return

    def close(self, in_good_order: bool = True) -> None:
        """Ends all connections."""
        if in_good_order:
            with contextlib.suppress(OSError):
                self._line.send("bye")
        self._traffic.close()
        self._line.close()

    def __enter__(self) -> Mesh:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close(in_good_order=kind is None)

    def _say(self, kind: str, **content: Any) -> None:
        try:
            self._line.send(kind, **content)
        except OSError as error:
            raise DriverGone("the driver has closed its connection") from error
