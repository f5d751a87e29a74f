"""The kernels' machine code: compiled once for an installation and a processor, then loaded from disk.

Loading needs llvmlite alone, in a tenth of the time that Numba takes to be imported. The package may be a directory,
or a zip or wheel on Python's path, which then may hold machine code itself.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_HERE = Path(__file__).parent
# One copy of the machine code for all threads: a second would be freed under whoever runs it.
_loaded: list[Kernels] = []
_loading = Lock()
_addressof, _char_at = ctypes.addressof, ctypes.c_char.from_buffer


class Kernels:
    """The functions by name; each takes and returns words, addresses among them, and runs without the GIL."""

    def __init__(self, code: bytes, arities: dict[str, int]) -> None:
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()
        self._arities = arities

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name not in self._arities:
            raise AttributeError(name)
        address = self._engine.get_function_address(f"flintlog_{name}")
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * self._arities[name])
        function: Callable[..., int] = kind(address)
        setattr(self, name, function)
        return function


def kernels() -> Kernels:
    """The kernels, compiled if this is the first time."""
    if not _loaded:
        with _loading:
            if not _loaded:
                _loaded.append(_load())
    return _loaded[0]


def _load() -> Kernels:
    return Kernels(*_code())


def kernels_are_compiled() -> bool:
    """Whether the next call of `kernels` will be quick."""
    return _known(_file_name()) is not None


def machine_code() -> tuple[str, bytes]:
    """A path inside the package, and the file that spares those who find it there the compilation."""
    return f"engines/local/kernels/__pycache__/{_file_name()}", _packed(*_code())


def _code() -> tuple[bytes, dict[str, int]]:
    """The machine code, compiled and kept if nobody has done so."""
    name = _file_name()
    known = _known(name)
    if known is not None:
        return known
    from flintlog.engines.local.kernels.compile import compile_kernels

    code, arities = compile_kernels()
    _keep(name, code, arities)
    return code, arities


@cache
def _file_name() -> str:
    """Another source, compiler or processor is another file."""
    import llvmlite.binding as llvm

    digest = hashlib.sha256()
    here = _package()
    sources = [*(here / "source").iterdir(), *(here / "source" / "update").iterdir()]
    others = [here / name for name in ("layout.py", "update_layout.py", "compile.py")]
    for file in [*sorted((file for file in sources if file.name.endswith(".py")), key=str), *others]:
        digest.update(file.read_bytes())
    llvm.initialize_native_target()
    for package in ("numba", "llvmlite"):
        digest.update(_version_file(package).read_bytes())
    digest.update(f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}".encode())
    return f"kernels-{digest.hexdigest()[:24]}.bin"


def _version_file(package: str) -> Path:
    """The file that says which version of a package this is, found without importing it."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).with_name("_version.py")


def _package() -> Path | Traversable:
    """Where the source is."""
    if _HERE.is_dir():
        return _HERE
    from importlib.resources import files

    assert __package__
    return files(__package__)


def _known(name: str) -> tuple[bytes, dict[str, int]] | None:
    """The machine code of that name and what its functions take, from wherever it is kept."""
    for folder in (_package() / "__pycache__", *_folders()):
        known = _read(folder / name)
        if known is not None:
            return known
    return None


def _folders() -> Iterator[Path]:
    """Where machine code is kept: beside the source, as Python's own is, for all who share the installation; and with
    the user's caches, for the next checkout or environment with the same source."""
    yield _HERE / "__pycache__"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - no error without a home
    yield Path(home) / "flintlog"


def _read(file: Path | Traversable) -> tuple[bytes, dict[str, int]] | None:
    """What `_keep` wrote, if it is all there: LLVM does not survive half an object file."""
    try:
        first, _, code = file.read_bytes().partition(b"\n")
        facts = json.loads(first)
        return (code, facts["arities"]) if facts["digest"] == hashlib.sha256(code).hexdigest() else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _packed(code: bytes, arities: dict[str, int]) -> bytes:
    """What `_read` reads."""
    facts = {"arities": arities, "digest": hashlib.sha256(code).hexdigest()}
    return json.dumps(facts).encode() + b"\n" + code


def _keep(name: str, code: bytes, arities: dict[str, int]) -> None:
    places = 0
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                file = Path(scratch) / name
                file.write_bytes(_packed(code, arities))
                file.replace(folder / name)
        except OSError:
            continue
        places += 1
    if not places:
        sys.stderr.write("flintlog: no place to keep compiled kernels; the next run compiles them again\n")


def address(array: Any) -> int:
    """Where an array's first word is; 0 for an array without any."""
    if not array.size:
        return 0
    try:
        return _addressof(_char_at(array))  # a fifth of the time that numpy takes to say it
    except (TypeError, ValueError):  # nothing may be written there, or there are gaps
        result: int = array.__array_interface__["data"][0]
        return result
