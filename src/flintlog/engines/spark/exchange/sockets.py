"""Makes and configures the connections of an exchange."""

from __future__ import annotations

import contextlib
import socket
import time

from flintlog.engines.spark.exchange.errors import Refused
from flintlog.engines.spark.exchange.handshake import introduce

HANDSHAKE_SECONDS = 10.0

# These settings notice after about half a minute that the machine behind an idle connection has vanished.
_KEEPALIVE = {"TCP_KEEPIDLE": 10, "TCP_KEEPALIVE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}
_UNACKNOWLEDGED_SECONDS = 30


def tune(connection: socket.socket) -> None:
    """Sends small messages without delay, and probes while the connection is idle."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEPALIVE.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def limit_unacknowledged(connection: socket.socket) -> None:
    """Ends a connection whose other side has acknowledged nothing for a while.

    Only for control connections, which have a reader at all times. The system also counts the time in which the other
    side does not read, and a rank may compute for minutes while a large delta waits for it.
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNACKNOWLEDGED_SECONDS * 1000)


def call(address: tuple[str, int], secret: bytes, purpose: bytes, deadline: float) -> socket.socket:
    """A connection to a listener that has proved to know the secret.

    A listener with too many callers may cut us off before the handshake: then we call again until the deadline. Raises
    Refused when the listener does not know the secret, OSError when it cannot be reached.
    """
    pause = 0.02
    while True:
        connection = None
        try:
            seconds = max(0.1, min(HANDSHAKE_SECONDS, deadline - time.monotonic()))
            connection = socket.create_connection(address, timeout=seconds)
            tune(connection)
            introduce(connection, secret, purpose, seconds)
            connection.settimeout(None)
            return connection
        except (OSError, Refused) as error:
            close(connection)
            unreachable = isinstance(error, Refused | ConnectionRefusedError | socket.gaierror)
            if unreachable or time.monotonic() + pause >= deadline:
                raise
            time.sleep(pause)
            pause = min(1.0, pause * 2)


def close(connection: socket.socket | None) -> None:
    """Ends a connection at once, also for a thread that waits in it."""
    if connection is not None:
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            connection.close()
