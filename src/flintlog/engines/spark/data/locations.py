"""Finds the data of a relation: files of this machine, or addresses that only Spark can reach."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.io.parameters import relation_name, without_scheme
from flintlog.source import Span

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
# Addresses of these schemes may have no host, so a single slash after the scheme may be intended.
_WITHOUT_HOST = ("dbfs", "hdfs", "viewfs")
_GLOB = re.compile(r"[*?\[]")
_SPECIAL = re.compile(r"([\\*?\[\]{}])")


@dataclass(frozen=True)
class Location:
    """`files` are on this machine; there are none if only Spark can reach the data. `addresses` are for Spark.
    `directory` is the address of the files' directory, if the directive names a directory."""

    name: str
    files: tuple[Path, ...]
    addresses: tuple[str, ...]
    is_here: bool
    directory: str | None = None

    @property
    def roots(self) -> list[str]:
        """The addresses for formats that read directories themselves, such as those with partitions in them."""
        return list(self.addresses) if self.directory is None else [self.directory]

    @property
    def size(self) -> int:
        """The bytes of files of this machine."""
        return sum(file.stat().st_size for file in self.files)


def is_address(path: str | Path) -> bool:
    """Whether only Spark can reach a directory or file, such as s3a://bucket/key."""
    found = _SCHEME.match(str(path))
    return found is not None and found[1].lower() != "file"


def address_below(directory: str | Path, name: str) -> str:
    """The address of a file in a directory that is an address. A name that is an address is the result itself."""
    if is_address(name):
        return name
    base = str(directory)
    scheme, rest = base.split(":", 1)
    if isinstance(directory, Path) and scheme not in _WITHOUT_HOST:
        base = f"{scheme}://{rest.lstrip('/')}"  # a Path makes one slash of two
    return name if name.startswith("/") else f"{base.rstrip('/')}/{name}"


def locate(relation: str, params: Mapping[str, str], directory: str | Path, suffix: str) -> Location | None:
    """The data that a directive names: a file, the files of a directory, or those that match a pattern. None if this
    machine has no such files."""
    name = params.get("filename", relation_name(relation, params) + suffix)
    if is_address(name) or (is_address(directory) and not name.startswith("/")):
        address = address_below(directory, name)
        return Location(address, (), (address,), is_here=False)
    path = _local(directory) / _local(name)
    if path.is_file():
        files = [path]
    elif path.is_dir():
        files = [file for file in sorted(path.iterdir()) if file.is_file() and not is_hidden(file)]
    else:
        files = [file for file in _fitting(_local(directory), name) if file.is_file() and not is_hidden(file)]
        if not files:
            return None
    directory_address = address_of(path) if path.is_dir() else None
    return Location(str(path), tuple(files), tuple(map(address_of, files)), is_here=True, directory=directory_address)


def _fitting(directory: Path, name: str) -> list[Path]:
    if not _GLOB.search(name):
        return []
    pattern = _local(name)
    if pattern.is_absolute():
        directory, pattern = Path(pattern.anchor), pattern.relative_to(pattern.anchor)
    return sorted(directory.glob(str(pattern)))


def _local(path: str | Path) -> Path:
    return Path(without_scheme(str(path)))


def address_of(path: Path) -> str:
    """The address of a file of this machine for Spark, which would otherwise look in its default file system, and
    expand patterns in names."""
    return "file://" + _SPECIAL.sub(r"\\\1", str(path.absolute()))


def not_shared(directory: str | Path, span: Span) -> FlintlogError:
    """The error for files that executors on other machines have written to their own disks."""
    message = f"what the executors wrote to `{directory}` is not there"
    note = "the directory must be on storage that the driver and all executors share"
    return FlintlogError([Diagnostic("E712", message, span, note)])


def is_hidden(path: Path) -> bool:
    """Whether Spark silently skips a file of that name."""
    return path.name.startswith(("_", ".")) or path.name.endswith("._COPYING_")
