"""Standard output that is closed, or on a full disk."""

from __future__ import annotations

import errno
import os
import sys

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def is_no_room(error: OSError) -> bool:
    """Whether an error says that standard output has no room. (Errors of other files have a file name.)"""
    return error.errno in _NO_ROOM and error.filename is None


def open_what_is_closed() -> None:
    """Replaces closed standard streams by the null device."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def let_go_of_output() -> None:
    """Redirects standard output to the null device, so that flushing the rest cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
