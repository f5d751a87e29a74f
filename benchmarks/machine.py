"""What a measurement was made on."""

import os
import platform
import subprocess
from pathlib import Path


def describe(root: Path) -> dict[str, str | int | float]:
    """The machine and the state of the checkout, as far as the system tells."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {
        "cpu": _cpu_model(),
        "cores": cores,
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load": load(),
        "revision": _revision(root),
    }


def later_changes(revision: str) -> str:
    """A sentence for a page of results: how its reader finds out how old the figures are."""
    known = revision.removesuffix("-dirty")
    return f"`git log --oneline {known}.. -- src | wc -l` counts the changes of the source since this revision."


def load() -> float:
    """How many processes wanted to run during the last minute, on average."""
    return round(os.getloadavg()[0], 2)


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _revision(root: Path) -> str:
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.strip() or "unknown"
