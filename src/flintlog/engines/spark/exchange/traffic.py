"""All ranks send to all ranks at once, each in one thread.

A rank writes to every connection as much as it takes, and reads as much as has arrived. Because all ranks read while
they write, they cannot block each other, however large the messages; a small message costs one system call on either
side.
"""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Iterator, Mapping, Sequence

from flintlog.engines.spark.exchange.errors import PeerLost
from flintlog.engines.spark.exchange.frames import SMALL, Decoder, decode, encode
from flintlog.engines.spark.exchange.message import Message
from flintlog.engines.spark.exchange.sockets import close

_STASH = 64 << 10
_NOTHING = Message()


class Channel:
    """One connection to one peer, for one message each way at a time."""

    def __init__(self, rank: int, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.rank = rank
        self.fileno = connection.fileno()
        self._connection = connection
        self._pieces: Iterator[memoryview | bytes] = iter(())
        self._unsent: memoryview | None = None
        # A peer may be one message ahead of us, so a read may return the beginning of its next message.
        self._stash = memoryview(bytearray(_STASH))
        self._stashed = self._stash[:0]
        self._decoder: Decoder | None = None
        self._unfilled = self._stash[:0]
        self.message: Message | None = None

    def begin(self, message: Message, sequence: int) -> None:
        self._pieces = encode(message, sequence)
        self._unsent = memoryview(next(self._pieces))
        self._decoder = decode(sequence)
        self._unfilled = next(self._decoder)
        self.message = None

    @property
    def events(self) -> int:
        """The poll events that this channel waits for; zero when it has sent and received its messages."""
        return (select.POLLIN if self.message is None else 0) | (select.POLLOUT if self._unsent is not None else 0)

    def push(self) -> None:
        """Sends what the connection takes, a few megabytes at most. Raises OSError when the peer is gone."""
        while self._unsent is not None:
            try:
                sent = self._connection.send(self._unsent)
            except BlockingIOError:
                return
            self._unsent = self._unsent[sent:]
            if not self._unsent:
                piece = next(self._pieces, None)
                self._unsent = None if piece is None else memoryview(piece)
            if sent >= SMALL:
                return

    def pull(self) -> None:
        """Reads what the connection has, a few megabytes at most. Raises OSError when the peer is gone."""
        while self.message is None:
            if self._stashed:
                self._take_stashed()
                continue
            direct = len(self._unfilled) >= SMALL
            try:
                count = self._connection.recv_into(self._unfilled if direct else self._stash)
            except BlockingIOError:
                return
            if not count:
                raise ConnectionError("closed by the peer")
            if direct:
                self._advance(count)
                return
            self._stashed = self._stash[:count]

    def take_early(self) -> None:
        """Decodes bytes of this message that an earlier read has returned."""
        while self._stashed and self.message is None:
            self._take_stashed()

    def _take_stashed(self) -> None:
        count = min(len(self._unfilled), len(self._stashed))
        self._unfilled[:count] = self._stashed[:count]
        self._stashed = self._stashed[count:]
        self._advance(count)

    def _advance(self, count: int) -> None:
        self._unfilled = self._unfilled[count:]
        if not self._unfilled:
            assert self._decoder is not None
            try:
                self._unfilled = next(self._decoder)
            except StopIteration as end:
                self.message = end.value
                self._decoder = None

    def close(self) -> None:
        close(self._connection)


class Traffic:
    """The connections to all peers, and one more descriptor that may interrupt."""

    def __init__(self, rank: int, peers: Mapping[int, socket.socket], control: int) -> None:
        self._rank = rank
        ranks = len(peers) + 1
        # Each rank begins with the rank after it, so that not all of them send to the first one at once.
        self._channels = [Channel(peer, peers[peer]) for peer in ((rank + i) % ranks for i in range(1, ranks))]
        self._by_fileno = {channel.fileno: channel for channel in self._channels}
        self._control = control
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._sequence = 0
        self._own = _NOTHING

    def exchange(self, out: Sequence[Message]) -> list[Message] | None:
        """The messages from all ranks, or None when interrupted: then `resume` continues. Raises PeerLost."""
        self._sequence += 1
        for channel in self._channels:
            channel.begin(out[channel.rank], self._sequence)
        for channel in self._channels:
            self._serve(channel, select.POLLOUT)
        self._own = out[self._rank]
        return self.resume()

    def resume(self) -> list[Message] | None:
        pending = sum(1 for channel in self._channels if channel.events)
        while pending:
            for fileno, events in self._poll.poll():
                if fileno == self._control:
                    return None
                pending -= self._serve(self._by_fileno[fileno], events)
        return self._collect()

    def close(self) -> None:
        for channel in self._channels:
            channel.close()

    def _serve(self, channel: Channel, events: int) -> bool:
        """Sends and receives without blocking; returns whether the channel has finished."""
        try:
            if events & ~select.POLLIN:
                channel.push()
            channel.take_early()
            if events & ~select.POLLOUT:
                channel.pull()
        except OSError as error:
            raise PeerLost(channel.rank) from error
        wanted = channel.events
        if wanted:
            self._poll.register(channel.fileno, wanted)
        else:
            # A peer that has finished may close its connection while we wait for other ranks, which is no loss.
            with contextlib.suppress(KeyError):
                self._poll.unregister(channel.fileno)
        return not wanted

    def _collect(self) -> list[Message]:
        messages = [self._own] * (len(self._channels) + 1)
        for channel in self._channels:
            assert channel.message is not None
            messages[channel.rank] = channel.message
            channel.message = None
        self._own = _NOTHING
        return messages
