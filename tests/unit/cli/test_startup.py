"""`flintlog --help` answers at once: reading the command line loads neither the compiler nor pyarrow."""

import resource
import statistics
import subprocess
import sys
from pathlib import Path

from tests.machine import slowness

FLINTLOG = Path(sys.executable).with_name("flintlog")


def processor_seconds() -> float:
    """What ended children have taken: other processes may want the processor too."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_help_answers_within_300_ms():
    def seconds() -> float:
        started = processor_seconds()
        subprocess.run([FLINTLOG, "--help"], check=True, capture_output=True)
        return processor_seconds() - started

    seconds()  # the first start may have to write byte code
    assert statistics.median(seconds() for _ in range(7)) < 0.3 * slowness()


def test_help_loads_nothing_heavy():
    code = """
import contextlib, io, sys

from flintlog.cli.main import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main(["--help"])
print(*(name for name in ("pyarrow", "pandas", "numpy", "flintlog.compiler", "flintlog.syntax") if name in sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


INTERRUPTED = """
import signal, sys
from flintlog.cli import commands
from flintlog.__main__ import main

def check(args):
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise RuntimeError("what an import makes of it") from None

signal.signal(signal.SIGINT, signal.default_int_handler)
commands.check = check
sys.argv = ["flintlog", "check", "p.dl"]
code = main()
signal.raise_signal(signal.SIGINT)  # too late to matter
sys.exit(code)
"""


def test_an_interrupt_is_one_also_where_it_is_taken_for_something_else():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


def test_the_package_is_a_command_too():
    done = subprocess.run([sys.executable, "-m", "flintlog", "--help"], check=True, capture_output=True, text=True)
    assert done.stdout.startswith("usage: flintlog ")
