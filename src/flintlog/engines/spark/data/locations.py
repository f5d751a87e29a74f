"""Where the data of a relation is: files of this machine, or what only Spark can reach."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.io.parameters import relation_name, without_scheme
from flintlog.source import Span

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")
# In addresses of these schemes no host need follow, so that one slash may be what was meant.
_WITHOUT_HOST = ("dbfs", "hdfs", "viewfs")
_GLOB = re.compile(r"[*?\[]")
_SPECIAL = re.compile(r"([\\*?\[\]{}])")


@dataclass(frozen=True)
class Location:
    """`files` are those of this machine, none if only Spark can reach the data; `addresses` are for Spark. `directory`
    is the address of the one in which all files are, if that was named."""

    name: str
    files: tuple[Path, ...]
    addresses: tuple[str, ...]
    is_here: bool
    directory: str | None = None

    @property
    def roots(self) -> list[str]:
        """The addresses for formats that know what to do with a directory, such as one with partitions in it."""
        return list(self.addresses) if self.directory is None else [self.directory]

    @property
    def size(self) -> int:
        """The bytes of files of this machine."""
        return sum(file.stat().st_size for file in self.files)


def is_address(place: str | Path) -> bool:
    """Whether a directory or file is one that only Spark can reach, such as s3a://bucket/key."""
    found = _SCHEME.match(str(place))
    return found is not None and found[1].lower() != "file"


def address_below(directory: str | Path, name: str) -> str:
    """The address of a file in a directory that is an address; a name that is an address itself stays."""
    if is_address(name):
        return name
    base = str(directory)
    scheme, rest = base.split(":", 1)
    if isinstance(directory, Path) and scheme not in _WITHOUT_HOST:
        base = f"{scheme}://{rest.lstrip('/')}"  # a Path makes one slash of two
    return name if name.startswith("/") else f"{base.rstrip('/')}/{name}"


def locate(relation: str, params: Mapping[str, str], directory: str | Path, suffix: str) -> Location | None:
    """The data that a directive means: a file, the files of a directory, or those that a pattern fits. None where
    there is nothing on this machine."""
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


def _local(place: str | Path) -> Path:
    return Path(without_scheme(str(place)))


def address_of(path: Path) -> str:
    """A file of this machine for Spark, which would else look where its data usually is, and expand patterns."""
    return "file://" + _SPECIAL.sub(r"\\\1", str(path.absolute()))


def not_shared(directory: str | Path, span: Span) -> FlintlogError:
    """Executors on other machines write to their own disks, and nobody notices unless the driver looks."""
    message = f"what the executors wrote to `{directory}` is not there"
    note = "the directory must be on storage that the driver and all executors share"
    return FlintlogError([Diagnostic("E712", message, span, note)])


def is_hidden(path: Path) -> bool:
    """Whether Spark would read a file of that name as empty, without a word."""
    return path.name.startswith(("_", ".")) or path.name.endswith("._COPYING_")
