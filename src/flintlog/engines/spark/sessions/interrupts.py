"""Ctrl-C while Java is at work.

A thread that is interrupted in the middle of a call to Java must not use its connection again: the next answer on it
belongs to the call that was given up. Whatever is then still to be said to Java is said by another thread, which has a
connection of its own.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from typing import Any

# How long a thread may take to tell Java something, in seconds.
PATIENCE = 20.0

_Handler = Callable[[int, Any], Any] | int | None


def said_apart(call: Callable[[], object], patience: float = PATIENCE) -> bool:
    """Makes a call in a thread of its own. Whether it has come back; what it raises is nobody's concern."""
    done = threading.Event()

    def run() -> None:
        try:
            call()
        except Exception:
            # A session that has gone: there is nothing left to cancel or to stop.
            logging.getLogger(__name__).debug("nobody answered", exc_info=True)
        finally:
            done.set()

    threading.Thread(target=run, daemon=True).start()
    return done.wait(patience)


class Interrupts:
    """What an interrupt does while there is a session: it cancels the session's jobs, and then what it did before.
    `heard` counts them.

    Spark's own handler calls Java from the thread that was interrupted, fails, and says so on the terminal.
    """

    def __init__(self, before: _Handler) -> None:
        self.heard = 0
        self._before = before
        self._cancel: Callable[[], object] | None = None

    @classmethod
    def as_they_are(cls) -> Interrupts:
        """To be called before there is a session, whose making installs a handler."""
        return cls(signal.getsignal(signal.SIGINT) if _in_main_thread() else None)

    def cancel_with(self, cancel: Callable[[], object]) -> None:
        self._cancel = cancel
        if callable(self._before):
            _install(self._handle)
        else:
            _install(self._before)  # ignored, as in the background: then it stays so

    def restore(self) -> None:
        _install(self._before)

    def _handle(self, number: int, frame: Any) -> None:
        self.heard += 1
        if self._cancel is not None:
            said_apart(self._cancel, 2.0)
        assert callable(self._before)
        self._before(number, frame)


def _install(handler: _Handler) -> None:
    if handler is not None and _in_main_thread():
        signal.signal(signal.SIGINT, handler)


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
