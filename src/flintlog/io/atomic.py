"""A file appears under its name only when it is complete."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EACCES
from pathlib import Path
from typing import BinaryIO

from flintlog.diagnostics import Diagnostic, FlintlogError


def encode(text: str) -> bytes:
    """UTF-8, with the bytes that were no UTF-8 when they were read given back as they were."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # Half of a surrogate pair, which JSON can spell: no bytes stand for it, so its code point does.
        return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write `path` with: it takes the name `path` at the end of the block, unless the block fails. Missing
    directories are made. A path that is no plain file, such as /dev/stdout, is written directly."""
    try:
        if _is_no_file(path):
            with _stream_at(path) as direct:
                yield direct
            return
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as stream:
                yield stream
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def require_place(path: Path) -> None:
    """Raises what would keep a file from being written, as far as its directory, or the nearest that is there, tells:
    to be asked before anybody computes what shall be in it."""
    try:
        if _is_no_file(path):
            return  # written directly, or by somebody who replaces directories
        place = path.resolve().parent
        while not place.exists():
            place = place.parent
        if not place.is_dir():
            raise FileExistsError
        if not os.access(place, os.W_OK | os.X_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
    except OSError as error:
        raise cannot_write(path, error) from error


_OWN_STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}


def _stream_at(path: Path) -> BinaryIO:
    """Something that is no plain file, to write on; a stream of this process goes on where it is."""
    number = _OWN_STREAMS.get(str(path))
    if number is None:
        return path.open("wb")
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    return os.fdopen(os.dup(number), "wb")


def _is_no_file(path: Path) -> bool:
    """Whether a path leads to something else; a stream of this process is one even if a file is behind it."""
    return str(path) in _OWN_STREAMS or (path.exists() and not path.is_file())


def cannot_write(path: Path, error: Exception) -> FlintlogError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    if isinstance(error, FileExistsError):
        reason = "a file stands where its directory should be"
    note = "choose another output directory with -D, or another file with filename=…"
    return FlintlogError([Diagnostic("E712", f"cannot write `{path}`: {reason}", note=note)])
