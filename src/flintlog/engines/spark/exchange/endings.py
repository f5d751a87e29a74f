"""The frames by which the driver tells a rank that its run is over, and the error that a rank raises for each."""

from __future__ import annotations

from typing import Any

from flintlog.engines.spark.exchange.errors import (
    DriverGone,
    ExchangeError,
    PeerLost,
    RanksMissing,
    RunFailed,
    Superseded,
)

END = "end"

Ending = dict[str, Any]

FAILED: Ending = {"reason": "failed"}
SUPERSEDED: Ending = {"reason": "superseded"}
CLOSED: Ending = {"reason": "closed"}


def lost(rank: int) -> Ending:
    return {"reason": "lost", "rank": rank}


def missing(ranks: list[int], seconds: float) -> Ending:
    return {"reason": "missing", "ranks": ranks, "seconds": seconds}


def as_error(ending: Ending) -> ExchangeError:
    """The error that a rank raises for an ending.

    >>> as_error(lost(2))
    PeerLost(2)
    """
    match ending["reason"]:
        case "lost":
            return PeerLost(ending["rank"])
        case "failed":
            return RunFailed("a rank has reported that the run cannot succeed")
        case "superseded":
            return Superseded("a newer attempt has taken over")
        case "missing":
            absent = ", ".join(map(str, ending["ranks"]))
            return RanksMissing(f"ranks that did not reach the driver within {ending['seconds']:g} s: {absent}")
        case _:
            return DriverGone("the driver has ended the run")
