"""Why an exchange ended. What a rank raises is never a wrong answer: it is one of these."""

from __future__ import annotations


class ExchangeError(Exception):
    """The ranks cannot go on together. Another attempt may."""


class PeerLost(ExchangeError):
    """A rank went away in the middle of the run: its process died or its machine vanished."""

    def __init__(self, rank: int) -> None:
        super().__init__(rank)
        self.rank = rank

    def __str__(self) -> str:
        return f"rank {self.rank} went away in the middle of the run"


class DriverGone(ExchangeError):
    """The driver ended the run, or is no more."""


class RunFailed(ExchangeError):
    """Some rank found that the run cannot succeed; the driver has its reasons. Another attempt would fail too."""


class Superseded(ExchangeError):
    """This attempt is an old one: newer attempts of the same ranks have taken over."""


class RanksMissing(ExchangeError):
    """Not all ranks came in time: as a rule there are fewer free slots than ranks."""


class Refused(ExchangeError):
    """The other side does not know the secret of the run, or does not speak our language."""


class ProtocolError(ExchangeError):
    """What arrived is not what was to arrive: a bug, or two ranks that are not at the same round."""


class SnapshotDamaged(ExchangeError):
    """A part of a snapshot is missing, cut short or changed."""
