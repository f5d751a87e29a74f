"""Deadlines of an exchange hold to the moment, whatever the other side says or leaves unsaid."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from types import SimpleNamespace

import pytest

from flintlog.engines.spark.exchange import handshake
from flintlog.engines.spark.exchange import mesh as mesh_module
from flintlog.engines.spark.exchange.handshake import DRIVER, GREETING, NONCE, admit, introduce, receive_exactly
from flintlog.engines.spark.exchange.joining import Joined
from flintlog.engines.spark.exchange.line import Line
from flintlog.engines.spark.exchange.mesh import Mesh

Ends = tuple[socket.socket, socket.socket]
NOW = 1000.0
GENEROUS = 30.0


@pytest.fixture
def ends() -> Iterator[Ends]:
    """Both ends of a connection."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    with closing(ours), closing(theirs):
        yield ours, theirs


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes between two looks at the clock."""
    monkeypatch.setattr(handshake, "time", SimpleNamespace(monotonic=lambda: NOW))


@pytest.mark.usefixtures("frozen")
@pytest.mark.parametrize("past", [0.0, 1e-6, 5.0])
def test_bytes_that_are_there_come_too_late(past: float, ends: Ends) -> None:
    ends[1].sendall(b"x")
    with pytest.raises(TimeoutError, match="silent"):
        receive_exactly(ends[0], 1, NOW - past)


@pytest.mark.usefixtures("frozen")
def test_bytes_that_are_there_before_the_deadline_are_received(ends: Ends) -> None:
    ends[1].sendall(b"xyz")
    assert receive_exactly(ends[0], 2, NOW + 0.5) == b"xy"


def test_no_byte_is_sent_after_the_deadline(ends: Ends) -> None:
    with pytest.raises(TimeoutError):
        admit(ends[0], b"secret", DRIVER, 0.0)
    ends[0].close()
    assert ends[1].recv(1) == b""


@pytest.mark.parametrize("speak", [admit, introduce])
def test_the_time_of_a_handshake_is_that_of_all_its_steps(
    speak: Callable[[socket.socket, bytes, bytes, float], None], ends: Ends
) -> None:
    """The other side says its first word in time and no other."""
    ends[1].sendall(GREETING + bytes(NONCE) * (speak is introduce))
    with pytest.raises(TimeoutError):
        speak(ends[0], b"secret", DRIVER, 0.2)


def failing_in_a_thread(line: Line) -> threading.Thread:
    mesh = Mesh(0, 1, Joined(line, {}, 1, []))
    thread = threading.Thread(target=mesh.fail, args=(b"the reason",), daemon=True)
    thread.start()
    return thread


def test_a_driver_that_stays_silent_does_not_keep_a_failed_rank(ends: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mesh_module, "_FAIL_SECONDS", 0.2)
    thread = failing_in_a_thread(Line(ends[0]))
    thread.join(GENEROUS)
    assert not thread.is_alive()


def test_a_failed_rank_waits_for_the_driver_to_have_noted_its_reason(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mesh_module, "_FAIL_SECONDS", 10 * GENEROUS)
    driver = Line(ends[1])
    thread = failing_in_a_thread(Line(ends[0]))
    (frame,) = driver.wait(GENEROUS)
    assert frame["kind"] == "failed"
    driver.send("complete", number=1)
    thread.join(0.3)
    assert thread.is_alive()
    driver.send("noted")
    thread.join(GENEROUS)
    assert not thread.is_alive()
