"""Turns the driver's frame that the run is over, or the end of a peer's connection, into the error that a rank
raises."""

from __future__ import annotations

import time

from flintlog.engines.spark.exchange.endings import END, as_error
from flintlog.engines.spark.exchange.errors import DriverGone, ExchangeError, PeerLost
from flintlog.engines.spark.exchange.line import Frame, Line

_SECONDS = 1.0


def heed(frames: list[Frame]) -> None:
    """Raises an error if one of the driver's frames says that the run is over."""
    for frame in frames:
        if frame["kind"] == END:
            raise as_error(frame)


def verdict(line: Line, suspicion: PeerLost) -> ExchangeError:
    """The reason why a peer's connection has ended. The peer may have ended because a third rank died or the run
    failed; the driver notices that at the same time, and knows the order of events, so we wait a moment for its
    word."""
    deadline = time.monotonic() + _SECONDS
    try:
        while time.monotonic() < deadline:
            heed(line.wait(deadline - time.monotonic()))
    except ConnectionError:
        return DriverGone("the driver has closed its connection")
    except ExchangeError as known:
        return known
    return suspicion
