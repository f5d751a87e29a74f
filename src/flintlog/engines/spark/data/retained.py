"""What Spark keeps of sources and dictionaries, while somebody has the DataFrame or dictionary that needs it."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakKeyDictionary, finalize

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class _Lease:
    """Stands for a persisted DataFrame; who needs it has the lease."""

    def __init__(self, persisted: DataFrame) -> None:
        # Garbage is found in the middle of anything, even of a conversation with Java; so it waits to be given back.
        finalize(self, _dropped.append, persisted).atexit = False


_leases: WeakKeyDictionary[Any, list[_Lease]] = WeakKeyDictionary()
_dropped: list[DataFrame] = []


def keep_for(holder: Any, persisted: DataFrame) -> None:
    """Has a persisted DataFrame given back when the holder has gone, or is released."""
    _give_back()
    _leases[holder] = [*_leases.get(holder, ()), _Lease(persisted)]


def share(holder: Any, others: Iterable[Any]) -> None:
    """The holder needs what others need."""
    _leases[holder] = [lease for other in others for lease in _leases.get(other, ())]


def release(holder: Any) -> None:
    """Gives back what Spark keeps for a DataFrame or dictionary, unless another one needs it too. It is computed again
    when it is used again."""
    _leases.pop(holder, None)
    _give_back()


def _give_back() -> None:
    while _dropped:
        with suppress(Exception):  # the session may have ended, and everything with it
            _dropped.pop().unpersist()


def never_kept(frame: DataFrame) -> DataFrame:
    """The same rows, read anew. Spark takes a DataFrame for another one that it keeps if their plans are the same,
    though a file may have changed since; no other plan is the same as this one."""
    from pyspark.sql import functions as fn

    return frame.where(fn.lit(uuid4().hex).isNotNull())
