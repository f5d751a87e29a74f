"""Makes this package importable in tasks on other machines: a zip of its source, with the kernels' machine code."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from flintlog.engines.local.kernels.library import machine_code
from flintlog.engines.spark.sessions.masters import is_connect, is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PACKAGE = Path(__file__).parents[3]

_shipped: set[str] = set()


def ship(session: SparkSession) -> None:
    """Sends the package to a session's tasks, once. Where tasks are this machine's, or the package came in a zip that
    spark-submit has sent already, there is nothing to do."""
    connected = is_connect(session)
    if not PACKAGE.is_dir() or (not connected and is_local(session.sparkContext.master or "")):
        return
    name = session.session_id if connected else session.sparkContext.applicationId  # type: ignore[attr-defined]
    if name in _shipped:
        return
    archive = str(package_archive())
    if connected:
        session.addArtifacts(archive, pyfile=True)
    else:
        session.sparkContext.addPyFile(archive)
    _shipped.add(name)


@cache
def package_archive() -> Path:
    """A zip of the package that Python can import from. Other content has another name."""
    content = _zipped()
    name = f"flintlog-{hashlib.sha256(content).hexdigest()[:16]}.zip"
    for folder in _folders():
        file = folder / name
        try:
            if file.is_file() and file.read_bytes() == content:
                return file
            folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=folder)
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            Path(temporary).replace(file)
            return file
        except OSError:
            continue
    raise AssertionError("a new directory for temporary files takes a file")


def _zipped() -> bytes:
    path, code = machine_code()
    files = [(file.relative_to(PACKAGE).as_posix(), file.read_bytes()) for file in sorted(PACKAGE.rglob("*.py"))]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in [*files, (path, code)]:
            # One date for all: the same files make the same bytes.
            archive.writestr(zipfile.ZipInfo(f"flintlog/{name}"), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _folders() -> Iterator[Path]:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - no error without a home
    yield Path(home) / "flintlog" / "shipped"
    yield Path(tempfile.mkdtemp(prefix="flintlog-"))
