"""Who does not know the secret of a run is refused, at the driver's door and at a rank's, and the run goes on."""

from __future__ import annotations

import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import pytest
from tests.spark.exchange_ranks import Rank, exchange_for, exchange_nothing, ranks

from flintlog.engines.spark.exchange import door as door_module
from flintlog.engines.spark.exchange.door import Door
from flintlog.engines.spark.exchange.errors import DriverGone, Refused
from flintlog.engines.spark.exchange.handshake import DRIVER, GREETING, NONCE, PROOF, introduce, rank_purpose
from flintlog.engines.spark.exchange.mesh import Mesh
from flintlog.engines.spark.exchange.rendezvous import Rendezvous
from flintlog.engines.spark.exchange.sockets import call
from flintlog.engines.spark.exchange.ticket import Ticket

HERE = "127.0.0.1"
CHALLENGE = len(GREETING) + NONCE

Address = tuple[str, int]


def _no_secret(stranger: socket.socket) -> None:
    introduce(stranger, b"", DRIVER, 5)


def _wrong_secret(stranger: socket.socket) -> None:
    introduce(stranger, os.urandom(32), DRIVER, 5)


def _garbage(stranger: socket.socket) -> None:
    with suppress(ConnectionError):
        stranger.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n" * 1000)
    _wait_for_the_end(stranger)


def _reflection(stranger: socket.socket) -> None:
    """Answers the challenge with another listener's challenge and the bytes of the first."""
    challenge = stranger.recv(CHALLENGE)
    stranger.sendall(challenge + challenge[-PROOF:])
    _wait_for_the_end(stranger)


def _silence(stranger: socket.socket) -> None:
    assert len(stranger.recv(CHALLENGE)) == CHALLENGE
    _wait_for_the_end(stranger)


def _wait_for_the_end(stranger: socket.socket) -> None:
    """Returns when the other side has cut the stranger off; a TimeoutError fails the test."""
    with suppress(ConnectionError):
        while stranger.recv(1 << 16):
            pass


STRANGERS = [_no_secret, _wrong_secret, _garbage, _reflection, _silence]


def _meet(address: Address, behave: Callable[[socket.socket], None]) -> bool:
    """Whether a stranger who behaves like this ends up refused."""
    with closing(socket.create_connection(address, timeout=10)) as stranger:
        try:
            behave(stranger)
        except (Refused, ConnectionError):
            return True
    return behave not in (_no_secret, _wrong_secret)


def test_the_driver_refuses_strangers_while_exchanges_go_on() -> None:
    with Rendezvous(2, HERE, handshake_seconds=1.0) as rendezvous:
        address = (HERE, rendezvous.ticket.port)
        with ranks(2, exchange_for, rendezvous.ticket, 1, 1.5) as started:
            while not rendezvous.generation:
                time.sleep(0.01)
            assert all(_meet(address, behave) for behave in STRANGERS)
            assert rendezvous.refused == len(STRANGERS)
            assert min(rank.result() for rank in started) > 20
        assert rendezvous.generation == 1
        assert rendezvous.failure is None


def test_a_silent_stranger_holds_nobody_up() -> None:
    with Rendezvous(2, HERE) as rendezvous, _silent_strangers((HERE, rendezvous.ticket.port), 20):
        started = time.monotonic()
        with ranks(2, exchange_nothing, rendezvous.ticket, 1, 10) as both:
            assert all(rank.result() for rank in both)
        assert time.monotonic() - started < 5


def test_a_rank_refuses_strangers_and_closes_its_door_when_all_are_there() -> None:
    with Rendezvous(2, HERE) as rendezvous:
        first = Rank(exchange_nothing, rendezvous.ticket, 0, 1, 10)
        while not rendezvous.addresses:
            time.sleep(0.01)
        address = rendezvous.addresses[0]
        with _silent_strangers(address, 3):
            assert all(_meet(address, behave) for behave in STRANGERS if behave is not _silence)
            second = Rank(exchange_nothing, rendezvous.ticket, 1, 1, 10)
            assert all(rank.result() for rank in (first, second))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address)
        for rank in (first, second):
            rank.kill()


@contextmanager
def _silent_strangers(address: Address, count: int) -> Iterator[None]:
    strangers = [socket.create_connection(address) for _ in range(count)]
    yield
    for stranger in strangers:
        stranger.close()


Welcome = queue.Queue[socket.socket]


def _door(secret: bytes, seconds: float, purpose: bytes = DRIVER) -> tuple[Door, Welcome]:
    welcome: Welcome = queue.Queue()
    return Door(HERE, secret, purpose, welcome.put, seconds=seconds), welcome


def test_a_stranger_that_drips_bytes_meets_the_deadline_too() -> None:
    door, welcome = _door(b"secret", 0.3)
    with closing(door), closing(socket.create_connection((HERE, door.port), timeout=5)) as stranger:
        started = time.monotonic()
        stranger.recv(CHALLENGE)
        with suppress(ConnectionError):
            for byte in GREETING + bytes(NONCE):
                stranger.sendall(bytes([byte]))
                time.sleep(0.05)
        # All of these bytes would have taken two seconds.
        assert time.monotonic() - started < 1.9
        assert (door.refused, welcome.qsize()) == (1, 0)


def test_a_proof_for_one_door_opens_no_other() -> None:
    door, welcome = _door(b"secret", 5, rank_purpose(1))
    with closing(door):
        with pytest.raises(Refused):
            call((HERE, door.port), b"secret", rank_purpose(2), time.monotonic() + 5)
        with closing(call((HERE, door.port), b"secret", rank_purpose(1), time.monotonic() + 5)):
            welcome.get(timeout=5).close()


def test_who_belongs_here_comes_again_when_the_door_is_crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_module, "_AT_THE_DOOR", 2)
    door, welcome = _door(b"secret", 0.4)
    with closing(door), _silent_strangers((HERE, door.port), 2):
        time.sleep(0.1)
        with closing(call((HERE, door.port), b"secret", DRIVER, time.monotonic() + 10)):
            welcome.get(timeout=5).close()
        assert door.refused > 2


@pytest.mark.parametrize("greeting", [GREETING, b"HTTP/1.1"])
def test_a_listener_without_the_secret_is_refused(greeting: bytes) -> None:
    """Somebody else may listen where the driver was."""
    with closing(socket.create_server((HERE, 0))) as impostor:
        thread = threading.Thread(target=_impersonate, args=(impostor, greeting))
        thread.start()
        ticket = Ticket(HERE, impostor.getsockname()[1], os.urandom(32), 1, "run", 5.0)
        with pytest.raises(Refused):
            Mesh.join(ticket, 0, 1)
        thread.join()


def _impersonate(listener: socket.socket, greeting: bytes) -> None:
    connection, _ = listener.accept()
    with closing(connection):
        connection.sendall(greeting + os.urandom(NONCE) + os.urandom(PROOF))
        _wait_for_the_end(connection)


def test_nobody_there_is_said() -> None:
    with closing(socket.create_server((HERE, 0))) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(DriverGone, match="cannot be reached"):
        Mesh.join(Ticket(HERE, port, b"secret", 1, "run", 5.0), 0, 1)


def test_a_ticket_is_printed_without_its_secret() -> None:
    ticket = Ticket(HERE, 1, b"hidden treasure", 1, "run", 5.0)
    assert "treasure" not in repr(ticket)
