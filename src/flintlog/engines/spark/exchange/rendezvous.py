"""The driver's side of an exchange: ranks register and report here, and are told that their run is over."""

from __future__ import annotations

import base64
import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from flintlog.engines.spark.exchange.attendance import Attendance, Member, Told
from flintlog.engines.spark.exchange.door import Door
from flintlog.engines.spark.exchange.endings import CLOSED, END, FAILED
from flintlog.engines.spark.exchange.errors import ProtocolError
from flintlog.engines.spark.exchange.handshake import DRIVER
from flintlog.engines.spark.exchange.line import Frame, Line
from flintlog.engines.spark.exchange.sockets import HANDSHAKE_SECONDS
from flintlog.engines.spark.exchange.ticket import Ticket

JOIN_SECONDS = 120.0


@dataclass(frozen=True)
class Report:
    """The progress of a rank."""

    rank: int
    stratum: int
    round: int
    delta_rows: int
    total_rows: int


class Rendezvous:
    """Listens on `host` until it is closed; tasks reach it as `advertised` where that differs.

    `on_progress` is called from threads of the rendezvous, never from two at once, and should return soon. Closing ends
    the exchanges of all ranks with an error.
    """

    def __init__(
        self,
        ranks: int,
        host: str,
        on_progress: Callable[[Report], None] = lambda report: None,
        *,
        advertised: str | None = None,
        port: int = 0,
        join_seconds: float = JOIN_SECONDS,
        handshake_seconds: float = HANDSHAKE_SECONDS,
    ) -> None:
        self._on_progress = on_progress
        self._progressing = threading.Lock()
        self._changed = threading.Condition()
        self._attendance = Attendance(ranks, join_seconds)
        self._lines: set[Line] = set()
        self._written: dict[int, set[int]] = {}
        self._snapshots: list[int] = []
        self._failure: bytes | None = None
        self._absent: list[int] = []
        self._closed = False
        secret = os.urandom(32)
        self._door = Door(
            host, secret, DRIVER, self._serve, port=port, backlog=max(128, ranks), seconds=handshake_seconds
        )
        self.ticket = Ticket(advertised or host, self._door.port, secret, ranks, os.urandom(8).hex(), join_seconds)
        self._keeper = threading.Thread(target=self._keep, name="flintlog-rendezvous", daemon=True)
        self._keeper.start()

    @property
    def generation(self) -> int:
        """How many times all ranks were complete: more than once if some were lost."""
        return self._attendance.generation

    @property
    def refused(self) -> int:
        """How many callers were cut off because they did not prove themselves."""
        return self._door.refused

    @property
    def last_snapshot(self) -> int | None:
        """The newest snapshot that all ranks of one generation have written: the one to resume from."""
        return self._snapshots[-1] if self._snapshots else None

    @property
    def failure(self) -> bytes | None:
        """The payload of the first rank that called `Mesh.fail`."""
        return self._failure

    @property
    def absent(self) -> list[int]:
        """The ranks that did not register in time: as a rule there are too few free slots."""
        return self._absent

    @property
    def addresses(self) -> dict[int, tuple[str, int]]:
        """The addresses of the ranks that wait or run."""
        with self._changed:
            members = self._attendance.waiting | self._attendance.running
            return {rank: member.address for rank, member in members.items()}

    def close(self) -> None:
        with self._changed:
            if self._closed:
                return
            self._closed = True
            # From here on no rank is told that another was lost: all of them end because of this.
            lines = list(self._lines)
            self._changed.notify_all()
        self._door.close()
        for line in lines:
            with contextlib.suppress(OSError):
                line.send(END, **CLOSED)
            line.close()
        self._keeper.join(5)

    def __enter__(self) -> Rendezvous:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _keep(self) -> None:
        """Starts complete generations, and ends ranks that have waited too long."""
        with self._changed:
            while not self._closed:
                now = time.monotonic()
                if self._attendance.assemble(now):
                    self._start()
                if told := self._attendance.expire(now):
                    self._absent = told[0][1]["ranks"]
                    self._tell(told)
                event = self._attendance.next_event()
                self._changed.wait(None if event is None else max(0.0, event - time.monotonic()))

    def _start(self) -> None:
        members = self._attendance.running
        # Parts of a snapshot that an earlier generation left incomplete never count towards one of this generation.
        self._written.clear()
        addresses = [members[rank].address for rank in range(len(members))]
        for member in members.values():
            with contextlib.suppress(OSError):
                member.line.send(
                    "go", generation=self._attendance.generation, addresses=addresses, snapshots=self._snapshots[-2:]
                )

    def _serve(self, connection: socket.socket) -> None:
        """Handles a rank's control connection until it ends, in a thread of its own."""
        line, member, orderly = Line(connection), None, False
        with self._changed:
            self._lines.add(line)
            closed = self._closed
        try:
            frames = [] if closed else line.wait(HANDSHAKE_SECONDS)
            while frames:
                for frame in frames:
                    if member is None:
                        member = self._register(frame, line)
                    else:
                        orderly |= self._handle(frame, member)
                frames = line.wait(None)
        except (OSError, ProtocolError, LookupError, TypeError, ValueError):
            pass  # The rank is gone, or sends nonsense: either way it takes no further part.
        finally:
            with self._changed:
                self._lines.discard(line)
                if member is not None and not self._closed:
                    self._tell(self._attendance.leave(member, orderly))
                self._changed.notify_all()
            line.close()

    def _register(self, frame: Frame, line: Line) -> Member:
        host, port = frame["address"]
        member = Member(int(frame["rank"]), int(frame["attempt"]), (str(host), int(port)), line, time.monotonic())
        if frame["run"] != self.ticket.run or not 0 <= member.rank < self.ticket.ranks:
            raise ProtocolError("a rank of another run")
        with self._changed:
            told = [(member, FAILED)] if self._failure is not None else self._attendance.register(member)
            self._tell(told)
            self._changed.notify_all()
        return member

    def _handle(self, frame: Frame, member: Member) -> bool:
        """Handles a frame of a rank; returns whether it says that the rank has finished."""
        match frame["kind"]:
            case "progress":
                report = Report(member.rank, *(int(number) for number in frame["numbers"]))
                with self._progressing:
                    self._on_progress(report)
            case "snapshot":
                self._snapshot_written(int(frame["number"]), member)
            case "failed":
                self._failed(base64.b64decode(frame["payload"]), member)
            case "bye":
                return True
        return False

    def _snapshot_written(self, number: int, member: Member) -> None:
        with self._changed:
            # A generation that has just ended still counts: its last frames may arrive now.
            if member.generation != self._attendance.generation:
                return
            parts = self._written.setdefault(number, set())
            parts.add(member.rank)
            if len(parts) == self.ticket.ranks and (not self._snapshots or number > self._snapshots[-1]):
                self._snapshots = [*self._snapshots[-1:], number]
                for other in self._attendance.running.values():
                    with contextlib.suppress(OSError):
                        other.line.send("complete", number=number)

    def _failed(self, payload: bytes, member: Member) -> None:
        with self._changed:
            if self._failure is None:
                self._failure = payload
            others = {**self._attendance.waiting, **self._attendance.running}
            self._tell([(other, FAILED) for other in others.values() if other is not member])
        # Only now may the failed rank close its connections: all other ranks have been told why.
        with contextlib.suppress(OSError):
            member.line.send("noted")

    def _tell(self, told: Told) -> None:
        for member, ending in told:
            with contextlib.suppress(OSError):
                member.line.send(END, **ending)
