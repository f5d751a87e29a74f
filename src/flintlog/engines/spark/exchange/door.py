"""A listener for callers that know the secret of the run. Other callers cannot delay it."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable

from flintlog.engines.spark.exchange.errors import Refused
from flintlog.engines.spark.exchange.handshake import admit
from flintlog.engines.spark.exchange.sockets import HANDSHAKE_SECONDS, close, tune

# So many callers may be proving themselves at once. Further ones are cut off; ranks call again.
_AT_THE_DOOR = 256


class Door:
    """Listens on one interface, at a port that the system chooses unless one is given. Every caller gets a thread, in
    which it has `seconds` to prove itself; then that thread runs `welcome(connection)`. A caller that fails is cut off
    and counted."""

    def __init__(
        self,
        host: str,
        secret: bytes,
        purpose: bytes,
        welcome: Callable[[socket.socket], None],
        *,
        port: int = 0,
        backlog: int = 128,
        seconds: float = HANDSHAKE_SECONDS,
    ) -> None:
        self._secret, self._purpose, self._welcome, self._seconds = secret, purpose, welcome, seconds
        self._slots = threading.BoundedSemaphore(_AT_THE_DOOR)
        self._strangers: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.refused = 0
        self.closed = False
        self._listener = _listener(host, port, backlog)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, name="flintlog-door", daemon=True).start()

    def close(self) -> None:
        """Stops listening, and cuts off callers that have not yet proved themselves."""
        with self._lock:
            self.closed = True
            strangers = list(self._strangers)
        close(self._listener)
        for stranger in strangers:
            close(stranger)

    def _accept(self) -> None:
        while not self.closed:
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            except OSError:
                # Closed, or out of file descriptors: strangers give theirs back at their deadline.
                if not self.closed:
                    time.sleep(0.05)
                continue
            if not self._slots.acquire(blocking=False):
                self._refuse(connection)
                continue
            caller = threading.Thread(target=self._receive, args=(connection,), name="flintlog-caller", daemon=True)
            try:
                caller.start()
            except RuntimeError:
                # The system has no thread to spare at the moment.
                self._slots.release()
                self._refuse(connection)

    def _receive(self, connection: socket.socket) -> None:
        try:
            with self._lock:
                if self.closed:
                    close(connection)
                    return
                self._strangers.add(connection)
            try:
                tune(connection)
                admit(connection, self._secret, self._purpose, self._seconds)
                connection.settimeout(None)
            except (OSError, Refused):
                self._refuse(connection)
                return
            finally:
                with self._lock:
                    self._strangers.discard(connection)
        finally:
            self._slots.release()
        self._welcome(connection)

    def _refuse(self, connection: socket.socket) -> None:
        with self._lock:
            self.refused += 1
        close(connection)


def _listener(host: str, port: int, backlog: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        with contextlib.suppress(OSError):
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(backlog)
        # On some systems, closing a listener does not wake the thread that waits in accept().
        listener.settimeout(0.5)
    except OSError:
        listener.close()
        raise
    return listener
