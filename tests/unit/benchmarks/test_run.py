"""The whole command, on a program and data of a few rows."""

import json
import sys

import pytest
from benchmarks.__main__ import main
from benchmarks.results import read

PROGRAM = """.decl Arc(x: number, y: number)
.input Arc
.decl Tc(x: number, y: number)
.printsize Tc
Tc(x, y) :- Arc(x, y).
Tc(x, y) :- Tc(x, z), Arc(z, y).
"""
# Answers one row too many when interpreted, and cannot compile: Soufflé on a machine without a C++ compiler.
SOUFFLE = f"""#!{sys.executable}
import sys
if "--version" in sys.argv: print("Version: 9.9")
elif "-o" in sys.argv: sys.exit("no compiler")
else: print("Tc\\t4")
"""


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Calls `benchmarks run` with an expected size; returns the exit code and what the result file holds."""
    folder, data = tmp_path / "programs" / "tc", tmp_path / "data" / "tiny"
    folder.mkdir(parents=True)
    data.mkdir(parents=True)
    (folder / "program.dl").write_text(PROGRAM)
    (data / "Arc.facts").write_text("1\t2\n2\t3\n")
    monkeypatch.setattr("benchmarks.__main__.BUILD", tmp_path / "build")

    def run(size, *options):
        text = f'title = "t"\nsource = "s"\n[[data]]\nname = "tiny"\nsizes = {{ Tc = {size} }}\ngoal = 60.0\n'
        (folder / "bench.toml").write_text(text)
        out = tmp_path / "result.json"
        places = ["--programs", str(folder.parent), "--data", str(data.parent), "--out", str(out)]
        code = main(["run", *places, "--engine", "naive", "--threads", "1", "--repeat", "2", *options])
        return code, read(out)

    return run


def test_right_sizes_give_times(bench, capsys):
    code, results = bench(3, "--rivals", "none")
    (row,) = results.rows
    ours = row.outcomes["flintlog"]
    assert code == 0
    assert ours.status == "ok"
    assert len(ours.wall) == len(ours.cpu) == len(ours.mb) == 2
    assert min(ours.wall + ours.cpu + ours.mb) > 0
    assert results.machine["cores"] >= 1
    assert "| tc : tiny | Tc 3 |" in capsys.readouterr().out


def test_a_wrong_size_is_a_failure_and_never_a_time(bench, capsys):
    code, results = bench(4, "--rivals", "none", "--warm-up", "none")
    ours = results.rows[0].outcomes["flintlog"]
    assert code == 1
    assert (ours.status, ours.message, ours.wall) == ("wrong", "Tc is 3, expected 4", [])
    assert "**wrong**" in capsys.readouterr().out


def test_rivals_are_checked_by_the_same_rule(bench, tmp_path, monkeypatch, capsys):
    (tmp_path / "souffle").write_text(SOUFFLE)
    (tmp_path / "souffle").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, results = bench(3, "--rivals", "souffle", "--warm-up", "small")
    theirs = results.rows[0].outcomes["souffle"]
    assert code == 0
    assert results.contestants["souffle"] == "Soufflé 9.9"
    assert (theirs.status, theirs.message, theirs.wall) == ("wrong", "Tc is 4, expected 3", [])
    assert "its interpreter is measured" in capsys.readouterr().err


def test_a_rival_that_is_not_installed_is_named(bench, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    _, results = bench(3, "--rivals", "souffle", "--repeat", "1")
    assert results.absent == {"souffle": "there is no souffle on PATH"}
    assert list(results.contestants) == ["flintlog"]


def test_missing_data_leaves_out_the_row(bench, tmp_path, capsys):
    (tmp_path / "data" / "tiny").rename(tmp_path / "data" / "other")
    code, results = bench(3, "--rivals", "none")
    assert code == 0
    assert results.rows[0].outcomes["flintlog"].status == "cannot"
    assert "no tiny/" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "--only", "nothing", "--data", "."],
        ["run", "--data", "no/such/directory"],
        ["report", "no-such-file.json"],
    ],
)
def test_mistakes_are_one_line(arguments, capsys):
    assert main(arguments) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_report_and_compare_read_what_run_wrote(bench, tmp_path, capsys):
    bench(3, "--rivals", "none", "--repeat", "1")
    file = str(tmp_path / "result.json")
    capsys.readouterr()
    assert main(["report", file]) == 0
    assert "Goals met: 1 of 1." in capsys.readouterr().out
    assert main(["compare", file, file]) == 0
    assert "over 1 rows: 1.00" in capsys.readouterr().out
    (tmp_path / "result.json").write_text(json.dumps({"format": 0}))
    assert main(["report", file]) == 1
