"""Both ends of a new connection prove to each other that they know the secret of the run.

The standard library's `multiprocessing.connection` has such a challenge too, but with MD5 and without a deadline. Here
every message has a fixed length, and nothing is parsed before the proof:

    listener -> caller    GREETING, 32 random bytes a
    caller   -> listener  GREETING, 32 random bytes b, HMAC(secret, "caller",   purpose, a, b)
    listener -> caller                                 HMAC(secret, "listener", purpose, a, b)

The purpose names the listener (the driver, or a rank), so that a proof made for one listener is worthless at another.
The labels of the sides differ, so that no side can be made to answer its own challenge. The connection is not encrypted
afterwards: the handshake keeps out strangers, but no attacker who can alter packets on the network. Spark's own
connections are like that by default.
"""

from __future__ import annotations

import hmac
import os
import socket
import time

from flintlog.engines.spark.exchange.errors import Refused

GREETING = b"FLINTX1\n"
NONCE = 32
PROOF = 32

DRIVER = b"driver"


def rank_purpose(rank: int) -> bytes:
    return b"rank %d" % rank


def admit(connection: socket.socket, secret: bytes, purpose: bytes, seconds: float) -> None:
    """The listener's side: raises Refused or OSError unless the caller proves itself within `seconds`."""
    deadline = time.monotonic() + seconds
    ours = os.urandom(NONCE)
    _send(connection, GREETING + ours, deadline)
    # The greeting is read first, so that a caller with another protocol is refused at its first bytes.
    if receive_exactly(connection, len(GREETING), deadline) != GREETING:
        raise Refused("a caller that does not speak the exchange's language")
    answer = receive_exactly(connection, NONCE + PROOF, deadline)
    theirs, proof = answer[:NONCE], answer[NONCE:]
    if not hmac.compare_digest(proof, _proof(secret, b"caller", purpose, ours, theirs)):
        raise Refused("a caller without the secret of the run")
    _send(connection, _proof(secret, b"listener", purpose, ours, theirs), deadline)


def introduce(connection: socket.socket, secret: bytes, purpose: bytes, seconds: float) -> None:
    """The caller's side: raises Refused or OSError unless the listener proves itself within `seconds`.

    A ConnectionError means that the listener has cut off the connection before the handshake.
    """
    deadline = time.monotonic() + seconds
    challenge = receive_exactly(connection, len(GREETING) + NONCE, deadline)
    if not challenge.startswith(GREETING):
        raise Refused("a listener that does not speak the exchange's language")
    theirs, ours = challenge[len(GREETING) :], os.urandom(NONCE)
    _send(connection, GREETING + ours + _proof(secret, b"caller", purpose, theirs, ours), deadline)
    try:
        proof = receive_exactly(connection, PROOF, deadline)
    except ConnectionError as error:
        raise Refused("the listener does not accept our secret") from error
    if not hmac.compare_digest(proof, _proof(secret, b"listener", purpose, theirs, ours)):
        raise Refused("a listener without the secret of the run")


def receive_exactly(connection: socket.socket, count: int, deadline: float) -> bytes:
    """`count` bytes. Raises ConnectionError if the connection ends, and TimeoutError at the deadline, even if single
    bytes keep coming."""
    received = b""
    while len(received) < count:
        connection.settimeout(_left(deadline))
        piece = connection.recv(count - len(received))
        if not piece:
            raise ConnectionError("closed by the other side")
        received += piece
    return received


def _send(connection: socket.socket, data: bytes, deadline: float) -> None:
    connection.settimeout(_left(deadline))
    connection.sendall(data)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError("the other side is silent")
    return left


def _proof(secret: bytes, label: bytes, purpose: bytes, listener: bytes, caller: bytes) -> bytes:
    # The lengths of the random parts are fixed and a zero byte ends each name: no two inputs look alike.
    return hmac.digest(secret, label + b"\0" + purpose + b"\0" + listener + caller, "sha256")
