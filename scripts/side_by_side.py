"""Run commands beside one another.

    python scripts/side_by_side.py pytest tests/unit -- pytest tests/spark -- make lint

The first command writes where this process writes, as it goes. The output of each other command is shown whole when
that command has ended. The exit code is 0 if it is 0 for all of them. Ctrl-C, or SIGTERM, interrupts all of them.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress

PATIENCE = 30.0  # seconds in which an interrupted command may end its own children
INTERRUPTED = 130


class Command:
    """A command that runs, in a session of its own: Ctrl-C at the terminal is for this process, which passes it on."""

    def __init__(self, arguments: list[str], is_shown: bool) -> None:
        self._line = shlex.join(arguments)
        self._started = time.monotonic()
        self._output = None if is_shown else tempfile.TemporaryFile()  # noqa: SIM115 - closed when it has been shown
        self.process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=self._output and subprocess.STDOUT,
            start_new_session=True,
        )

    def has_ended(self) -> bool:
        """Whether the command has ended. If so, its output and how it ended are shown."""
        code = self.process.poll()
        if code is None:
            return False
        ending = "passed" if code == 0 else f"failed with exit code {code}"
        output = sys.stdout.buffer
        if self._output is not None:
            output.write(f"\n───── {self._line}\n".encode())
            self._output.seek(0)
            output.write(self._output.read())
            self._output.close()
        output.write(f"───── {self._line}: {ending} after {time.monotonic() - self._started:.0f} s\n".encode())
        output.flush()
        return True

    def send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


def split(arguments: list[str]) -> Iterator[list[str]]:
    """The commands between the arguments `--`.

    >>> list(split(["ls", "-l", "--", "date"]))
    [['ls', '-l'], ['date']]
    """
    while "--" in arguments:
        end = arguments.index("--")
        yield arguments[:end]
        arguments = arguments[end + 1 :]
    yield arguments


def run(given: list[list[str]]) -> int:
    """Runs all commands to their end."""
    commands: list[Command] = []
    for number in (signal.SIGINT, signal.SIGTERM):  # also where the parent ignores them
        signal.signal(number, signal.default_int_handler)
    try:
        for arguments in given:
            commands.append(Command(arguments, is_shown=not commands))
        _wait(commands)
    except KeyboardInterrupt:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        left = [command for command in commands if command.process.poll() is None]
        _end(left)
        for command in left:
            command.has_ended()
        return INTERRUPTED
    return int(any(command.process.returncode for command in commands))


def _wait(commands: list[Command]) -> None:
    running = commands
    while running:
        time.sleep(0.1)
        running = [command for command in running if not command.has_ended()]


def _end(commands: list[Command]) -> None:
    """Interrupts commands; kills what has not ended in time."""
    for command in commands:
        command.send(signal.SIGINT)
    deadline = time.monotonic() + PATIENCE
    for command in commands:
        with suppress(subprocess.TimeoutExpired):
            command.process.wait(max(0.0, deadline - time.monotonic()))
        command.send(signal.SIGKILL)
        command.process.wait()


if __name__ == "__main__":
    sys.exit(run(list(split(sys.argv[1:]))))
