"""The errors with which an exchange ends. A rank that cannot continue raises one of them instead of giving a wrong
answer."""

from __future__ import annotations


class ExchangeError(Exception):
    """The ranks cannot continue together. Another attempt may succeed."""


class PeerLost(ExchangeError):
    """A rank was lost during the run: its process died or its machine vanished."""

    def __init__(self, rank: int) -> None:
        super().__init__(rank)
        self.rank = rank

    def __str__(self) -> str:
        return f"rank {self.rank} was lost during the run"


class DriverGone(ExchangeError):
    """The driver ended the run, or died."""


class RunFailed(ExchangeError):
    """A rank found that the run cannot succeed, and told the driver why. Another attempt would fail too."""


class Superseded(ExchangeError):
    """Newer attempts of the same ranks have replaced this one."""


class RanksMissing(ExchangeError):
    """Some ranks did not reach the driver in time: as a rule there are fewer free slots than ranks."""


class Refused(ExchangeError):
    """The other side does not know the secret of the run, or does not speak this protocol."""


class ProtocolError(ExchangeError):
    """The bytes that arrived are not the expected message: a bug, or two ranks that are not in the same round."""


class SnapshotDamaged(ExchangeError):
    """A part of a snapshot is missing, cut short or changed."""
