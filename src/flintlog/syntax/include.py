"""Finding and reading the files that a program includes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flintlog.diagnostics import Report, did_you_mean
from flintlog.source import SourceFile, Span

# Guards (`.once`, `#ifndef`) let a file include itself and come to an end; past these numbers there is no guard.
_SAME_FILE_LIMIT = 16
_DEPTH_LIMIT = 100


@dataclass(frozen=True)
class Place:
    """Where a file stands: its path, and the chain of places that led to it, innermost last."""

    path: Path
    chain: tuple[tuple[Path, str], ...] = ()

    @property
    def trail(self) -> str:
        """The chain as `__INCL__` shows it: `main.dl:3:1;lib.dl:7:1`."""
        return ";".join(written for _, written in self.chain)

    def enter(self, path: Path, at: Span) -> Place:
        """The place of a file that is included at `at`."""
        line, column = at.file.position(at.start)
        return Place(path, (*self.chain, (self.path, f"{at.file.name}:{line}:{column}")))


class Includes:
    """Opens included files: next to the including file first, then in the include directories."""

    def __init__(self, include_dirs: Sequence[Path], report: Report) -> None:
        self._include_dirs = include_dirs
        self._report = report
        self._stopped = False

    def open(self, name: str, at: Span, place: Place, *, system: bool = False) -> SourceFile | None:
        """The file called `name`, wanted at `at`; None, with a diagnostic, if there is none to be had.
        `system` is for `<name>`: the include directories come first."""
        if self._stopped:
            return None
        beside = place.path.parent
        directories = [*self._include_dirs, beside] if system else [beside, *self._include_dirs]
        path = next((p for p in (d / name for d in directories) if p.is_file()), None)
        if path is None:
            self._report_missing(name, at, directories)
            return None
        if self._goes_round(path, place):
            message = f"`{name}` includes itself without end"
            self._report.error("E111", message, at, note="begin the file with `.once`, and it is read only once")
            self._stopped = True
            return None
        try:
            text = path.read_bytes().decode("utf-8", errors="surrogateescape")
        except OSError as problem:
            self._report.error("E110", f"cannot read `{path}`: {problem.strerror}", at)
            return None
        return SourceFile(str(path), text)

    def _goes_round(self, path: Path, place: Place) -> bool:
        if len(place.chain) >= _DEPTH_LIMIT:
            return True
        real = path.resolve()
        return sum(entered.resolve() == real for entered, _ in place.chain) >= _SAME_FILE_LIMIT

    def _report_missing(self, name: str, at: Span, directories: Sequence[Path]) -> None:
        folder = Path(name).parent
        there = [entry for d in directories if (d / folder).is_dir() for entry in (d / folder).iterdir()]
        # The ending is what all of them have in common, so it must not make them look alike.
        alike = [str(folder / entry.name) for entry in there if did_you_mean(Path(name).stem, [entry.stem])]
        looked = ", ".join(f"`{d}`" for d in dict.fromkeys(directories))
        note = did_you_mean(name, alike) or f"looked in {looked}"
        self._report.error("E110", f"cannot find the file `{name}`", at, note=note)
