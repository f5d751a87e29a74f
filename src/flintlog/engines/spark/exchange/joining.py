"""Makes a task a rank: it registers with the driver, waits until all ranks have, and connects to every other rank."""

from __future__ import annotations

import contextlib
import queue
import socket
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass

from flintlog.engines.spark.exchange.door import Door
from flintlog.engines.spark.exchange.errors import DriverGone, PeerLost, Refused
from flintlog.engines.spark.exchange.handshake import DRIVER, rank_purpose, receive_exactly
from flintlog.engines.spark.exchange.line import Frame, Line
from flintlog.engines.spark.exchange.sockets import HANDSHAKE_SECONDS, call, close
from flintlog.engines.spark.exchange.ticket import Ticket
from flintlog.engines.spark.exchange.verdict import heed, verdict

# The first bytes of a caller at another rank's door: its generation and its rank.
_HELLO = struct.Struct("<QQ")
_CONNECT_SECONDS = 30.0
_GLANCE_SECONDS = 0.05

# Generation, rank and connection of each caller.
Callers = queue.SimpleQueue[tuple[int, int, socket.socket]]


@dataclass
class Joined:
    """The connections of a rank that has joined, with the generation and the complete snapshots that the driver
    named."""

    line: Line
    peers: dict[int, socket.socket]
    generation: int
    snapshots: list[int]


def join(ticket: Ticket, rank: int, attempt: int) -> Joined:
    """Returns when all ranks of one generation are connected; raises an ExchangeError otherwise."""
    with contextlib.ExitStack() as on_failure:
        line = _reach_driver(ticket)
        on_failure.callback(line.close)
        callers: Callers = queue.SimpleQueue()
        # The address from which we reach the driver is on the network that all machines share.
        door = Door(line.local_host, ticket.secret, rank_purpose(rank), lambda caller: _hello(caller, callers))
        try:
            go = _register(line, ticket, rank, attempt, door.port)
            peers: dict[int, socket.socket] = {}
            on_failure.callback(lambda: _close_all(peers.values()))
            _connect(ticket, rank, go, peers)
            _await_callers(line, rank, go, callers, peers)
        except PeerLost as suspicion:
            raise verdict(line, suspicion) from suspicion
        finally:
            door.close()
            _close_all(callers.get()[-1] for _ in range(callers.qsize()))
        on_failure.pop_all()
        return Joined(line, peers, go["generation"], go["snapshots"])


def _close_all(connections: Iterable[socket.socket]) -> None:
    for connection in connections:
        close(connection)


def _reach_driver(ticket: Ticket) -> Line:
    try:
        return Line(call((ticket.host, ticket.port), ticket.secret, DRIVER, time.monotonic() + _CONNECT_SECONDS))
    except OSError as error:
        raise DriverGone(f"the driver cannot be reached at {ticket.host}:{ticket.port}: {error}") from error


def _register(line: Line, ticket: Ticket, rank: int, attempt: int, port: int) -> Frame:
    """Registers, and waits for the driver's frame `go`, which it sends when all ranks have registered."""
    # The driver watches the time; our deadline is for a driver that does not answer any more.
    seconds = ticket.join_seconds + _CONNECT_SECONDS
    deadline = time.monotonic() + seconds
    try:
        line.send("register", run=ticket.run, rank=rank, attempt=attempt, address=(line.local_host, port))
        while frames := line.wait(deadline - time.monotonic()):
            heed(frames)
            for frame in frames:
                if frame["kind"] == "go":
                    return frame
    except OSError as error:
        raise DriverGone("the driver has closed its connection") from error
    raise DriverGone(f"the driver has not answered for {seconds:g} s")


def _connect(ticket: Ticket, rank: int, go: Frame, peers: dict[int, socket.socket]) -> None:
    """Calls all lower ranks; the higher ones call us."""
    deadline = time.monotonic() + _CONNECT_SECONDS
    for peer in range(rank):
        host, port = go["addresses"][peer]
        try:
            peers[peer] = call((host, port), ticket.secret, rank_purpose(peer), deadline)
            peers[peer].sendall(_HELLO.pack(go["generation"], rank))
        except (OSError, Refused) as error:
            raise PeerLost(peer) from error


def _hello(connection: socket.socket, callers: Callers) -> None:
    """Reads the rank of a caller that has proved to know the secret. Runs in the caller's own thread."""
    try:
        hello = receive_exactly(connection, _HELLO.size, time.monotonic() + HANDSHAKE_SECONDS)
    except OSError:
        close(connection)
    else:
        connection.settimeout(None)
        callers.put((*_HELLO.unpack(hello), connection))


def _await_callers(line: Line, rank: int, go: Frame, callers: Callers, peers: dict[int, socket.socket]) -> None:
    deadline = time.monotonic() + _CONNECT_SECONDS
    ranks = len(go["addresses"])
    while absent := set(range(rank + 1, ranks)) - peers.keys():
        try:
            generation, peer, connection = callers.get(timeout=_GLANCE_SECONDS)
        except queue.Empty:
            _glance(line)
            if time.monotonic() > deadline:
                raise PeerLost(min(absent)) from None
            continue
        # A rank of an earlier generation may call an address that belongs to this rank now.
        if generation == go["generation"] and peer in absent:
            peers[peer] = connection
        else:
            close(connection)


def _glance(line: Line) -> None:
    try:
        heed(line.ready())
    except ConnectionError as error:
        raise DriverGone("the driver has closed its connection") from error
