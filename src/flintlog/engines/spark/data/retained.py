"""Persisted DataFrames that stay as long as an object that needs them: a DataFrame of a source, or a dictionary."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakKeyDictionary, finalize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class _Lease:
    """A right to a persisted DataFrame, which is unpersisted when nothing holds a lease of it any more."""

    def __init__(self, persisted: DataFrame) -> None:
        # Python may collect the lease during any operation, even a call into Java, so the frame waits in a list.
        finalize(self, _dropped.append, persisted).atexit = False


_leases: WeakKeyDictionary[Any, list[_Lease]] = WeakKeyDictionary()
_dropped: list[DataFrame] = []


def unpersist_with(holder: Any, persisted: DataFrame) -> None:
    """Unpersists a DataFrame after its holder was collected or released."""
    _unpersist_dropped()
    _leases[holder] = [*_leases.get(holder, ()), _Lease(persisted)]


def share_leases(holder: Any, others: Iterable[Any]) -> None:
    """Gives the holder the leases of the others, too."""
    _leases[holder] = [lease for other in others for lease in _leases.get(other, ())]


def release(holder: Any) -> None:
    """Unpersists the DataFrames of a holder, unless another holder needs them. They are computed again when they are
    used again."""
    _leases.pop(holder, None)
    _unpersist_dropped()


def _unpersist_dropped() -> None:
    while _dropped:
        with suppress(Exception):  # the session may have ended, and everything with it
            _dropped.pop().unpersist()


def read_anew(frame: DataFrame) -> DataFrame:
    """The same rows, but read from their files even if Spark has persisted a DataFrame with the same plan: a file may
    have changed since. No other plan equals the new frame's."""
    from pyspark.sql import functions as fn

    return frame.where(fn.lit(uuid4().hex).isNotNull())
