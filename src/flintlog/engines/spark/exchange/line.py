"""The control connection between the driver and a rank: either side may send small JSON frames at any time."""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
import time
from typing import Any

from flintlog.engines.spark.exchange.errors import ProtocolError
from flintlog.engines.spark.exchange.sockets import close, limit_unacknowledged

_LENGTH = struct.Struct("<I")
_LONGEST = 64 << 20
_SEND_SECONDS = 10

Frame = dict[str, Any]


class Line:
    """Frames are objects with a `kind`. Any thread may send; one at a time may receive."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(None)
        # A side that no longer reads must not block the other for ever.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", _SEND_SECONDS, 0))
        limit_unacknowledged(connection)
        self._connection = connection
        self._sending = threading.Lock()
        self._received = bytearray()

    def fileno(self) -> int:
        return self._connection.fileno()

    @property
    def local_host(self) -> str:
        """The address by which this end of the line reaches the other."""
        return str(self._connection.getsockname()[0])

    def send(self, kind: str, **content: Any) -> None:
        """Raises OSError when the other side is gone or does not read."""
        body = json.dumps({"kind": kind, **content}).encode()
        with self._sending:
            self._connection.sendall(_LENGTH.pack(len(body)) + body)

    def ready(self) -> list[Frame]:
        """The frames that have arrived, without waiting. Raises ConnectionError once the line has ended and all its
        frames were returned."""
        ended = False
        while not ended:
            try:
                piece = self._connection.recv(1 << 16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                break
            except OSError:
                piece = b""
            self._received += piece
            ended = not piece
        frames = self._frames()
        if ended and not frames:
            raise ConnectionError("the control connection has ended")
        return frames

    def wait(self, seconds: float | None) -> list[Frame]:
        """The next frames, at least one; none after `seconds`. Raises ConnectionError at the end of the line."""
        deadline = None if seconds is None else time.monotonic() + seconds
        poll = select.poll()
        try:
            poll.register(self._connection, select.POLLIN)
        except ValueError as error:
            raise ConnectionError("the control connection was closed") from error
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            readable = poll.poll(None if left is None else left * 1000)
            frames = self.ready() if readable else []
            if frames or left == 0.0:
                return frames

    def close(self) -> None:
        close(self._connection)

    def _frames(self) -> list[Frame]:
        frames = []
        while len(self._received) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._received)
            if length > _LONGEST:
                raise ProtocolError("a control frame longer than any that is sent")
            end = _LENGTH.size + length
            if len(self._received) < end:
                break
            try:
                frame = json.loads(self._received[_LENGTH.size : end])
            except ValueError as error:
                raise ProtocolError("a control frame that is no JSON") from error
            if not isinstance(frame, dict) or not isinstance(frame.get("kind"), str):
                raise ProtocolError("a control frame without a kind")
            frames.append(frame)
            del self._received[:end]
        return frames
