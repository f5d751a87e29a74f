"""Standard output, which may be closed, or have no room."""

from __future__ import annotations

import errno
import os
import sys

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}


def is_no_room(error: OSError) -> bool:
    """Whether what standard output goes to cannot take it. Errors of files have their names."""
    return error.errno in _NO_ROOM and error.filename is None


def open_what_is_closed() -> None:
    """What is written to a closed stream goes nowhere."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w", encoding="utf-8"))


def let_go_of_output() -> None:
    """What is still to be written to standard output goes nowhere: nobody takes it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
