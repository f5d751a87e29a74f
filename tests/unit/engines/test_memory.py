"""The memory limit: what it reads as, and what happens beyond it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.command_line import flintlog, refused

from flintlog.diagnostics import FlintlogError
from flintlog.engines import memory
from flintlog.engines.memory import MemoryGuard, in_words, parse_size, total_memory, used_memory

PROGRAM = """
.decl small(x: number)
.output small
small(1).
.decl node(x: number)
node(range(0, 4000)).
.decl pair(x: number, y: number)
.output pair
pair(x, y) :- node(x), node(y).
"""


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("100", 100),
        ("1K", 1 << 10),
        ("1k", 1 << 10),
        ("1KB", 1 << 10),
        ("1kib", 1 << 10),
        (" 500 M ", 500 << 20),
        ("2G", 2 << 30),
        ("1.5GiB", 3 << 29),
        ("1T", 1 << 40),
        ("100B", 100),
        ("1e3", 1000),
    ],
)
def test_sizes(text: str, size: int):
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text", ["", " ", "lots", "0", "-1G", "1X", "G", "1GG", "1 G M", "inf", "nan", "1e999", "0.1", "1,5G", "0x10"]
)
def test_what_is_no_size(text: str):
    with pytest.raises(FlintlogError) as caught:
        parse_size(text)
    (problem,) = caught.value.diagnostics
    assert (problem.code, problem.message) == ("E910", f"`{text}` is not an amount of memory")
    assert problem.note


def test_sizes_in_words():
    assert [in_words(size) for size in (0, 1023, 1024, 5 << 20, 3 << 30, 2 << 40, 5 << 50)] == [
        "0.0 B",
        "1023.0 B",
        "1.0 KiB",
        "5.0 MiB",
        "3.0 GiB",
        "2.0 TiB",
        "5120.0 TiB",
    ]


def test_a_process_uses_some_of_the_memory_there_is():
    assert 1 << 20 < used_memory() < total_memory()
    assert MemoryGuard().limit == total_memory() * 4 // 5


def test_a_guard_grants_what_fits_and_names_what_does_not(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory, "used_memory", lambda: 100 << 20)
    guard = MemoryGuard(200 << 20)
    guard.request(100 << 20, "r")
    guard.request(memory.WORTH_CHECKING - 1, "r")
    for relation, name in (("r", "the relation `r`"), ("", "an intermediate result")):
        with pytest.raises(FlintlogError) as caught:
            guard.request((100 << 20) + 1, relation)
        (problem,) = caught.value.diagnostics
        assert (problem.code, problem.message) == ("E803", f"{name} grows beyond the memory limit of 200.0 MiB")
        assert problem.note is not None
        assert "--memory-limit" in problem.note


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_run_beyond_its_limit_names_the_relation_and_writes_nothing(tmp_path: Path, threads: str):
    (tmp_path / "pairs.dl").write_text(PROGRAM)
    said = refused("run", "pairs.dl", "-D", "results", "--memory-limit", "50M", "-j", threads, cwd=tmp_path)
    assert "error[E803]: the relation `pair` grows beyond the memory limit of 50.0 MiB" in said
    assert not (tmp_path / "results").exists()


def test_a_run_within_its_limit_is_as_any_other(tmp_path: Path):
    (tmp_path / "pairs.dl").write_text(PROGRAM.replace("4000", "40"))
    done = flintlog("run", "pairs.dl", "-D", "results", "--memory-limit", "8G", cwd=tmp_path)
    assert done.returncode == 0
    assert len((tmp_path / "results/pair.csv").read_text().splitlines()) == 1600


def test_a_limit_that_is_no_size_is_said_before_anything_runs(tmp_path: Path):
    (tmp_path / "pairs.dl").write_text(PROGRAM)
    assert "error[E910]: `lots` is not" in refused("run", "pairs.dl", "--memory-limit", "lots", cwd=tmp_path)
