"""Subjects of commits are checked until they land, in a clone and by the hook that `make hooks` installs."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
FILES = ["scripts/check_commits.py", "scripts/hooks.sh", "scripts/find-python.sh", ".githooks/commit-msg"]
WHO = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
# Neither the machine's configuration nor a hook that runs the tests may reach the folders of a test.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
ENVIRONMENT |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PYTHON": sys.executable}


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_commits", ROOT / "scripts/check_commits.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        ("Wipe what is not needed", None),
        ("Add a" + "b" * 67, None),
        ("Add a" + "b" * 68, "has 73 characters, 72 at most"),
        ("wip", "begins with `wip`"),
        ("WIP: tests", "begins with `WIP`"),
        ("fixup! Add a", "begins with `fixup!`"),
        ("squash! Add a", "begins with `squash!`"),
        ("", "is empty"),
    ],
)
def test_subjects(subject: str, said: str | None) -> None:
    assert script().problem(subject) == said


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        ("Add a\n\nwip is in the body", "Add a"),
        ("# a comment\n\nAdd a\nand b\n\nbody\n", "Add a and b"),
        ("Add a\n# ------------------------ >8 ------------------------\ndiff\n", "Add a"),
        ("# nothing\n", ""),
    ],
)
def test_the_subject_of_a_message(message: str, subject: str) -> None:
    assert script().subject_of(message) == subject


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def git(folder: Path, *arguments: str) -> None:
    done = run(folder, "git", *WHO, *arguments)
    assert done.returncode == 0, done.stderr


def commit(folder: Path, subject: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "git", *WHO, "commit", "--allow-empty", "-m", subject)


def checked(folder: Path) -> tuple[int, str]:
    done = run(folder, sys.executable, "scripts/check_commits.py")
    return done.returncode, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The scripts in a folder without history."""
    if not shutil.which("git"):
        pytest.skip("there is no git on this machine")
    folder = tmp_path / "project"
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def clone(folder: Path) -> Path:
    """A clone of a repository on whose main branch a bad subject has landed."""
    git(folder, "init", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "wip")
    clone = folder.parent / "clone"
    git(folder, "clone", ".", str(clone))
    return clone


def test_what_has_landed_is_left_alone(clone: Path) -> None:
    assert checked(clone) == (0, "")


def test_a_commit_that_has_not_landed_is_checked(clone: Path) -> None:
    commit(clone, "Add a")
    assert checked(clone) == (0, "")
    commit(clone, "wip: b")
    commit(clone, "Add c")
    code, said = checked(clone)
    assert code == 1
    assert "`wip: b` begins with `wip`" in said
    assert "Add" not in said


def test_there_may_be_no_history_or_one_that_landed_nowhere(folder: Path) -> None:
    assert checked(folder) == (0, "")
    git(folder, "init", "--initial-branch=main")
    assert checked(folder) == (0, "")
    commit(folder, "wip")
    assert checked(folder) == (0, "")


def test_the_history_around_the_sources_is_not_theirs(clone: Path) -> None:
    """As of an archive that was unpacked in another project."""
    shutil.copytree(clone / "scripts", clone / "unpacked" / "scripts")
    commit(clone, "wip")
    assert checked(clone)[0] == 1
    assert checked(clone / "unpacked") == (0, "")


def test_a_shallow_clone_is_checked_no_further_than_it_goes(clone: Path) -> None:
    shallow = clone.parent / "shallow"
    git(clone.parent, "clone", "--depth=1", (clone.parent / "project").as_uri(), str(shallow))
    assert checked(shallow) == (0, "")


def test_the_hook_refuses_a_subject(clone: Path) -> None:
    assert run(clone, "sh", "scripts/hooks.sh").returncode == 0
    refused = commit(clone, "wip")
    assert refused.returncode != 0
    assert "begins with `wip`" in refused.stderr
    assert commit(clone, "Add a").returncode == 0
    assert "already" in run(clone, "sh", "scripts/hooks.sh").stdout


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg"])
def test_hooks_that_are_there_stay(name: str, clone: Path) -> None:
    hook = clone / ".git/hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 0\n")
    done = run(clone, "sh", "scripts/hooks.sh")
    assert done.returncode == 1
    assert name in done.stderr
    assert run(clone, "git", "config", "core.hooksPath").stdout == ""


def test_a_folder_of_hooks_stays(clone: Path) -> None:
    git(clone, "config", "core.hooksPath", "mine")
    done = run(clone, "sh", "scripts/hooks.sh")
    assert done.returncode == 1
    assert "core.hooksPath is mine" in done.stderr
