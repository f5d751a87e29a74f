"""`flintlog db …`, as a user calls it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.unit.cli.command_line import FLINTLOG, flintlog, refused

PROGRAM = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
.output path
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory with a database of two edges."""
    (tmp_path / "paths.dl").write_text(PROGRAM)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts/edge.facts").write_text("1\t2\n2\t3\n")
    (tmp_path / "new.facts").write_text("3\t4\n")
    done = flintlog("db", "create", "db", "paths.dl", "-F", "facts", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("db: 2 relations, 5 rows, ")
    return tmp_path


def test_facts_come_and_go(here: Path) -> None:
    done = flintlog("db", "update", "db", "--insert", "edge=new.facts", "--changes", "out", cwd=here)
    assert (done.returncode, done.stdout, done.stderr) == (0, "path\t+3\t-0\n", "")
    assert (here / "out/path.inserted.csv").read_text() == "1\t4\n2\t4\n3\t4\n"
    done = flintlog("db", "update", "db", "--delete", "edge=new.facts", "--strategy", "dred", cwd=here)
    assert done.stdout == "path\t+0\t-3\n"
    assert flintlog("db", "check", "db", cwd=here).stderr == "db: equals a new computation (5 rows, 2 transactions)\n"
    assert flintlog("db", "compact", "db", cwd=here).returncode == 0
    assert (here / "db/snapshot-2").is_dir()


def test_rules_come_and_go(here: Path) -> None:
    done = flintlog("db", "rules", "db", "--add", "path(x, x) :- edge(x, _).", "--list", cwd=here)
    changed, *rules = done.stdout.splitlines()
    assert changed == "path\t+2\t-0"
    names = {text: id for id, _, text in (line.partition("\t") for line in rules)}
    done = flintlog("db", "rules", "db", "--remove", names["path(x, x) :- edge(x, _)."], cwd=here)
    assert done.stdout == "path\t+0\t-2\n"
    assert len(flintlog("db", "rules", "db", cwd=here).stdout.splitlines()) == 2


def test_a_dropped_output_is_told(here: Path) -> None:
    added = ".decl q(x: number)  q(x) :- edge(x, _).  .output q"
    done = flintlog("db", "rules", "db", "--add", added, "--changes", "out", cwd=here)
    assert done.stdout == "q\t+2\t-0\n"
    done = flintlog("db", "rules", "db", "--drop", "q", "--changes", "out", cwd=here)
    assert done.stdout == "q\t+0\t-2\n"
    assert (here / "out/q.deleted.csv").read_text() == "1\n2\n"
    assert (here / "out/q.inserted.csv").read_text() == ""
    flintlog("db", "update", "db", "--insert", "edge=new.facts", "--changes", "out", cwd=here)


def test_what_is_computed_again_is_said_once_a_reason(here: Path) -> None:
    done = flintlog("db", "update", "db", "--insert", "edge=new.facts", "--strategy", "bootstrap", cwd=here)
    assert done.stderr == "computed again: path (the update was to be a bootstrap)\n"


def test_questions_are_answered(here: Path) -> None:
    assert flintlog("db", "query", "db", "path(1, x)", cwd=here).stdout == "2\n3\n"
    assert flintlog("db", "query", "db", "path(3, 1)", cwd=here).stdout == "false\n"
    assert "edge(2, 3)  (fact)" in flintlog("db", "explain", "db", "path(1, 3)", cwd=here).stdout
    assert "but no edge(3, 1)" in flintlog("db", "explain", "db", "path(3, 1)", cwd=here).stdout


def test_mistakes(here: Path) -> None:
    assert "E900" in refused("db", "update", "db", cwd=here)
    assert "E900" in refused("db", "update", "db", "--insert", "edge", cwd=here)
    assert "E701" in refused("db", "update", "db", "--insert", "edge=none.facts", cwd=here)
    assert "E940" in refused("db", "query", "nowhere", "path(1, x)", cwd=here)
    assert "E944" in refused("db", "create", "db", "paths.dl", "-F", "facts", cwd=here)
    assert "E970" in refused("db", "update", "db", "--insert", "edge=new.facts", "--strategy", "no", cwd=here)
    assert not (here / "nowhere").exists()
    for folder, what in (("paths.dl", "is a file"), ("paths.dl/db", "is in a file")):
        assert f"`{folder}` {what}" in refused("db", "create", folder, "paths.dl", "-F", "facts", cwd=here)


def test_nothing_is_committed_that_cannot_be_told(here: Path) -> None:
    said = refused("db", "update", "db", "--insert", "edge=new.facts", "--changes", "paths.dl", cwd=here)
    assert "E712" in said
    assert flintlog("db", "query", "db", "edge(3, 4)", cwd=here).stdout == "false\n"


def test_what_changes_nothing_and_what_is_odd_is_said(here: Path) -> None:
    done = flintlog("db", "update", "db", "--insert", "edge=facts/edge.facts", cwd=here)
    assert (done.stdout, done.stderr) == ("", "no output has changed\n")
    (here / "wide.facts").write_text("7\t8\t9\n")
    done = flintlog("db", "update", "db", "--insert", "edge=wide.facts", cwd=here)
    assert "warning[W7" in done.stderr
    assert "E974" in refused("db", "create", "other", "paths.dl", "-F", "facts", "--budget", "-1", cwd=here)
    assert "E900" in refused("db", "explain", "db", "path(1, 2)", "--depth", "0", cwd=here)


def test_files_are_read_as_inputs_are(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(
        '.decl s(x: symbol, y: symbol)\n.input s(filename="s.csv", delimiter=",", rfc4180=true)\n.output s\n'
    )
    (tmp_path / "s.csv").write_text('"com,ma",b\n')
    assert flintlog("db", "create", "db", "p.dl", cwd=tmp_path).stderr.startswith("db: 1 relations, 1 rows")
    assert flintlog("db", "update", "db", "--delete", "s=s.csv", cwd=tmp_path).stdout == "s\t+0\t-1\n"


def test_the_end_of_a_journal_that_is_no_transaction_is_said(here: Path) -> None:
    flintlog("db", "update", "db", "--insert", "edge=new.facts", cwd=here)
    journal = here / "db/journal-0"
    journal.write_bytes(journal.read_bytes().rstrip(b"\0")[:-3])
    done = flintlog("db", "query", "db", "edge(3, 4)", cwd=here)
    assert (done.returncode, done.stdout) == (0, "false\n")
    assert done.stderr.startswith("warning[W940]: the last ")


def test_what_is_committed_and_cannot_be_told_is_said(here: Path) -> None:
    (here / "out/path.inserted.csv").mkdir(parents=True)
    done = flintlog("db", "update", "db", "--insert", "edge=new.facts", "--changes", "out", cwd=here)
    assert done.returncode == 1
    assert "the transaction is committed, but its changes were not" in done.stderr
    assert flintlog("db", "query", "db", "path(1, 4)", cwd=here).stdout == "true\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_what_is_committed_and_cannot_be_shown_is_said(here: Path) -> None:
    command = [str(FLINTLOG), "db", "update", "db", "--insert", "edge=new.facts"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, cwd=here, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error[E712]: cannot write the output: ")
    assert "the transaction is committed, but its changes were not" in done.stderr
    assert flintlog("db", "query", "db", "path(1, 4)", cwd=here).stdout == "true\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_output_may_be_closed(here: Path, closed: str) -> None:
    script = f'"$0" db update db --insert edge=new.facts {closed}'
    done = subprocess.run(["sh", "-c", script, FLINTLOG], cwd=here, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert flintlog("db", "query", "db", "path(1, 4)", cwd=here).stdout == "true\n"


def test_changes_of_before_are_gone_where_new_ones_cannot_be_written(here: Path) -> None:
    flintlog("db", "update", "db", "--insert", "edge=new.facts", "--changes", "out", cwd=here)
    (here / "out/path.deleted.csv").unlink()
    (here / "out/path.deleted.csv").mkdir()
    assert "E712" in flintlog("db", "update", "db", "--delete", "edge=new.facts", "--changes", "out", cwd=here).stderr
    assert (here / "out/path.inserted.csv").read_text() == ""
