"""Machine code is compiled once and kept where it can be; what cannot be read is compiled again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flintlog.engines.local.kernels import compile as compiler
from flintlog.engines.local.kernels import library
from flintlog.engines.local.kernels.library import Kernels, address


class Installation:
    """A place for the code beside the source, one with the user's caches, and how often something was compiled."""

    def __init__(self, folder: Path, code: bytes, arities: dict[str, int]) -> None:
        self.beside, self.caches = folder / "installed" / "__pycache__", folder / "home" / "flintlog"
        self.beside.parent.mkdir()
        self.compiled = 0
        self._result = code, arities

    def compile(self) -> tuple[bytes, dict[str, int]]:
        self.compiled += 1
        return self._result

    @property
    def files(self) -> list[Path]:
        return [path for folder in (self.beside, self.caches) if folder.is_dir() for path in sorted(folder.iterdir())]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    library.kernels()  # so that there is code to be found
    known = next(found for folder in library._folders() if (found := library._read(folder / library._file_name())))
    place = Installation(tmp_path, *known)
    monkeypatch.setattr(library, "_HERE", place.beside.parent)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place.caches.parent))
    monkeypatch.setattr(compiler, "compile_kernels", place.compile)
    return place


load: Callable[[], Kernels] = library._load


def works(kernels: Kernels) -> bool:
    """Whether they can number words."""
    values, table, found = np.array([7, 9, 7]), np.zeros(128, np.int64), np.empty(3, np.int64)
    count = kernels.number_words(address(values), 3, address(table), 6, address(found), 0)
    return (count, found.tolist()) == (2, [0, 1, 0])


def test_the_first_run_compiles_and_later_ones_read(place: Installation):
    assert not library.kernels_are_compiled()
    for _ in range(3):
        assert works(load())
        assert library.kernels_are_compiled()
        # in both places, and nothing half-written
        assert place.files == [folder / library._file_name() for folder in (place.beside, place.caches)]
    assert place.compiled == 1


def test_another_checkout_finds_what_the_first_has_compiled(
    place: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    load()
    another = tmp_path / "another checkout"
    another.mkdir()
    monkeypatch.setattr(library, "_HERE", another)
    assert library.kernels_are_compiled()
    assert works(load())
    assert place.compiled == 1


def test_where_the_source_cannot_be_written_the_users_caches_are_enough(place: Installation):
    place.beside.touch()  # no folder can be made here
    for _ in range(2):
        assert works(load())
    assert place.files == [place.caches / library._file_name()]
    assert place.compiled == 1


def test_without_any_place_every_run_compiles_and_says_so(place: Installation, capsys: pytest.CaptureFixture[str]):
    place.beside.touch()
    place.caches.parent.touch()
    for _ in range(2):
        assert works(load())
        assert "compiles them again" in capsys.readouterr().err
    assert place.compiled == 2
    assert not library.kernels_are_compiled()


@pytest.mark.parametrize("content", [b"", b"\n", b"{\n", b"\xff\xfe\n1234", b"no json\ncode"])
def test_a_damaged_file_is_compiled_again(place: Installation, content: bytes):
    place.beside.mkdir()
    (place.beside / library._file_name()).write_bytes(content)
    assert works(load())
    assert works(load())
    assert place.compiled == 1


def test_the_file_appears_all_at_once(place: Installation, monkeypatch: pytest.MonkeyPatch):
    seen: list[tuple[bool, int]] = []
    replace = Path.replace

    def watched(self: Path, to: Path) -> Path:
        seen.append((to.exists(), self.stat().st_size))
        return replace(self, to)

    monkeypatch.setattr(Path, "replace", watched)
    load()
    assert seen == [(False, file.stat().st_size) for file in place.files]
    assert len(seen) == 2


def test_a_kernel_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError):
        _ = library.kernels().no_such_kernel


def test_the_address_of_an_array():
    words = np.arange(10)
    expected = words.__array_interface__["data"][0]
    assert (address(words), address(words[2:]), address(words[2::3])) == (expected, expected + 16, expected + 16)
    words.setflags(write=False)
    assert address(words) == expected
    assert address(np.empty(0, np.int64)) == 0


def test_half_a_file_is_not_read(place: Installation):
    load()
    target = place.beside / library._file_name()
    target.write_bytes(target.read_bytes()[: target.stat().st_size // 2])
    assert library._read(target) is None
