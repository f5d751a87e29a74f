"""Where a data set's files are: folders used as they stand, archives unpacked once."""

import os
import shutil
import tarfile
import tempfile
from pathlib import Path

VARIABLE = "FLINTLOG_BENCH_DATA"


class NoData(Exception):
    """A data set that is not there, with what to do about it."""


class Facts:
    """The data sets of a directory: `NAME/` with its files or `NAME.tar.xz`, there or in its folder `data`."""

    def __init__(self, source: Path, unpacked: Path) -> None:
        if not source.is_dir():
            raise NoData(f"there is no directory {source}; --data or {VARIABLE} says where the data sets are")
        self._places = [source, source / "data"]
        self._unpacked = unpacked

    def folder(self, name: str) -> Path:
        """The folder with the files of a data set; unpacks it if need be. Raises NoData."""
        for place in [*self._places, self._unpacked]:
            if (place / name).is_dir():
                return (place / name).resolve()
        for place in self._places:
            archive = place / f"{name}.tar.xz"
            if archive.is_file():
                return _unpack(archive, self._unpacked / name).resolve()
        raise NoData(f"no {name}/ and no {name}.tar.xz in {self._places[0]}")


def from_environment(argument: Path | None) -> Path:
    """The data directory: the argument, else the environment's. Raises NoData when neither says."""
    if argument is not None:
        return argument
    if VARIABLE not in os.environ:
        raise NoData(f"say where the data sets are: --data DIR, or {VARIABLE}=DIR in the environment")
    return Path(os.environ[VARIABLE])


def stage(folder: Path, names: dict[str, str], staged: Path) -> Path:
    """A folder in which the data set's files carry the names the program reads (`names`: read name to given name).

    Without names that is the data set's own folder.
    """
    if not names:
        return folder
    shutil.rmtree(staged, ignore_errors=True)
    staged.mkdir(parents=True)
    for path in folder.iterdir():
        (staged / path.name).symlink_to(path)
    for read, given in names.items():
        (staged / read).unlink(missing_ok=True)
        (staged / read).symlink_to(folder / given)
    return staged


def _unpack(archive: Path, target: Path) -> Path:
    # Renamed into place when complete, so that an interrupted run leaves no half a data set behind.
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        with tarfile.open(archive) as tar:
            tar.extractall(scratch, filter="data")
        inner = Path(scratch) / target.name
        if not inner.is_dir():
            raise NoData(f"{archive} has no folder {target.name}")
        inner.rename(target)
    return target
