"""The package runs from the zip that tasks on other machines get, and compiles its kernels there if it must."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numba
import pytest

from flintlog.engines.spark.sessions.ship import package_archive

# Large enough for kernels: small programs are done without them.
PROGRAM = """
import flintlog
from flintlog.engines.local.kernels.library import kernels_are_compiled
print(flintlog.__file__)
print(kernels_are_compiled())
text = '''.decl e, p(x: number, y: number)
e(x, x + 1) :- x = range(0, 400).
p(x, y) :- e(x, y).
p(x, z) :- p(x, y), e(y, z).
'''
print(len(flintlog.Program(text).run()["p"]))
"""


def run_from(archive: Path, home: Path) -> list[str]:
    """What the program prints in a Python that knows this package from the archive alone."""
    packages = Path(numba.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": f"{archive}{os.pathsep}{packages}", "XDG_CACHE_HOME": str(home)}
    # Without `site`, an editable installation is not found.
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_program_runs_from_the_archive(tmp_path: Path):
    archive = package_archive()
    assert run_from(archive, tmp_path) == [str(archive / "flintlog" / "__init__.py"), "True", "80200"]
    assert list(tmp_path.rglob("*.bin")) == []  # the machine code came along


@pytest.mark.slow
def test_without_machine_code_kernels_are_compiled_and_kept(tmp_path: Path):
    bare = tmp_path / "bare.zip"
    with zipfile.ZipFile(package_archive()) as whole, zipfile.ZipFile(bare, "w") as archive:
        for name in whole.namelist():
            if not name.endswith(".bin"):
                archive.writestr(name, whole.read(name))
    home = tmp_path / "home"
    assert run_from(bare, home)[1:] == ["False", "80200"]
    assert len(list(home.rglob("*.bin"))) == 1
    assert run_from(bare, home)[1:] == ["True", "80200"]


def test_the_same_package_is_the_same_archive():
    first = package_archive()
    package_archive.cache_clear()
    assert package_archive() == first
