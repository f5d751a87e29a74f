"""Run a command and say what it cost."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes there, KiB everywhere else
_KEPT = 2000  # characters of stderr, from its end


@dataclass(frozen=True)
class Finished:
    """A process that ended, with what the tree below it used: the sum of CPU times, the memory of the largest process.

    The kernel counts what the starting process held as well, so `mb` is never below the harness's own size.
    """

    code: int
    wall: float
    cpu: float
    mb: float
    stdout: str
    stderr: str
    timed_out: bool


def measure(command: list[str], cwd: Path, timeout: float | None) -> Finished:
    """Run `command` to its end, or kill it and everything it started after `timeout` seconds."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        started = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        late = threading.Event()
        timer = threading.Timer(timeout or threading.TIMEOUT_MAX, _kill, (process.pid, late))
        timer.daemon = True
        timer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # an interrupt of the harness ends the measured process too
            _kill(process.pid, late)
            process.wait()
            raise
        finally:
            timer.cancel()
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)  # Popen must not wait for a process that is gone
        return Finished(
            code=process.returncode,
            wall=wall,
            cpu=usage.ru_utime + usage.ru_stime,
            mb=usage.ru_maxrss * _MAXRSS_UNIT / 1e6,
            stdout=_text(out),
            stderr=_text(err)[-_KEPT:],
            timed_out=late.is_set(),
        )


def _kill(group: int, late: threading.Event) -> None:
    late.set()
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode("utf-8", errors="replace")
