"""What a rank makes of the driver's word that the run is over, and of a peer's silence."""

from __future__ import annotations

import time

from flintlog.engines.spark.exchange.endings import END, as_error
from flintlog.engines.spark.exchange.errors import DriverGone, ExchangeError, PeerLost
from flintlog.engines.spark.exchange.line import Frame, Line

_SECONDS = 1.0


def heed(frames: list[Frame]) -> None:
    """Raises what the driver says about the end of the run, if it says so."""
    for frame in frames:
        if frame["kind"] == END:
            raise as_error(frame)


def verdict(line: Line, suspicion: PeerLost) -> ExchangeError:
    """Why a peer's connection has ended. The peer may have left because of another one's death or a failure of the run;
    the driver hears of it at the same time and knows the order, so it gets a moment to say."""
    deadline = time.monotonic() + _SECONDS
    try:
        while time.monotonic() < deadline:
            heed(line.wait(deadline - time.monotonic()))
    except ConnectionError:
        return DriverGone("the driver has closed its connection")
    except ExchangeError as known:
        return known
    return suspicion
