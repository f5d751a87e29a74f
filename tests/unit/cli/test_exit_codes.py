"""Exit codes and streams: 0 done, 1 the user's mistake, 2 a bug; results on stdout and in files, all else on stderr."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.unit.cli.command_line import PROGRAM, flintlog, refused


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A directory with a right, a wrong and an empty program, and one that reads facts."""
    (tmp_path / "reach.dl").write_text(PROGRAM)
    (tmp_path / "wrong.dl").write_text(".decl a(x: number)\n.output a\na(b).\n")
    (tmp_path / "empty.dl").write_text("")
    (tmp_path / "reads.dl").write_text(".decl a(x: number)\n.input a\n.output a\n")
    return tmp_path


def test_run_writes_results_and_makes_their_directory(here: Path):
    done = flintlog("run", "reach.dl", "-D", "new/results", cwd=here)
    assert (done.returncode, done.stdout) == (0, "path\t3\n")
    assert (here / "new/results/path.csv").read_text() == "1\t2\n1\t3\n2\t3\n"
    assert done.stderr.startswith("engine:")


def test_a_facts_directory_that_nobody_reads_may_be_missing(here: Path):
    assert flintlog("run", "reach.dl", "-F", "nowhere", cwd=here).returncode == 0


def test_quiet_says_nothing_on_stderr(here: Path):
    assert flintlog("run", "reach.dl", "--quiet", cwd=here).stderr == ""


def test_results_on_stdout(here: Path):
    done = flintlog("run", "reach.dl", "--quiet", "-D", "-", cwd=here)
    assert done.stdout.splitlines()[1:5] == ["path", "x\ty", "===============", "1\t2"]
    assert not (here / "path.csv").exists()


def test_an_empty_program_is_a_program(here: Path):
    done = flintlog("run", "empty.dl", "--quiet", cwd=here)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_check_counts_problems(here: Path):
    assert flintlog("check", "reach.dl", cwd=here).stderr == "reach.dl: no problems\n"
    said = refused("check", "wrong.dl", cwd=here)
    assert "wrong.dl:3:3" in said
    assert said.endswith("wrong.dl: 1 error\n")


def test_warnings_do_not_make_check_fail(here: Path):
    (here / "odd.dl").write_text(".decl a(x: number)\na(1).\n")
    done = flintlog("check", "odd.dl", cwd=here)
    assert (done.returncode, done.stdout) == (0, "")
    assert "warning[W202]" in done.stderr
    assert done.stderr.endswith("odd.dl: 1 warning\n")
    assert flintlog("check", "odd.dl", "--no-warn", cwd=here).stderr == "odd.dl: no problems\n"


def test_explain_prints_the_program_on_stdout(here: Path):
    done = flintlog("explain", "reach.dl", "--stage", "ast", cwd=here)
    assert (done.returncode, done.stderr) == (0, "")
    assert "path(x, z) :- path(x, y), edge(y, z)." in done.stdout
    assert "error[E212]" in refused("explain", "wrong.dl", cwd=here)


def test_a_wrong_program_writes_nothing(here: Path):
    assert refused("run", "wrong.dl", "-D", "results", cwd=here).count("error[") == 1
    assert not (here / "results").exists()


def test_an_error_while_running_writes_nothing(here: Path):
    text = ".decl a(x: number)\n.output a\na(1).\n.decl b(x: number)\n.output b\nb(1 / (x - x)) :- a(x).\n"
    (here / "zero.dl").write_text(text)
    said = refused("run", "zero.dl", "-D", "results", cwd=here)
    assert "error[E801]: division by zero\n  --> zero.dl:6:1" in said
    assert not (here / "results").exists()


MISTAKES = {
    ("run", "none.dl"): "error[E110]: cannot read the program `none.dl`: no such file or directory",
    ("run", "."): "error[E110]: cannot read the program `.`: is a directory",
    ("run", "-"): "`-` does not stand for standard input",
    ("run", "reach.dl", "--frobnicate"): "error[E900]: unrecognized arguments: --frobnicate",
    ("run",): "error[E900]: the following arguments are required: PROGRAM.dl",
    (): "error[E900]: the following arguments are required: COMMAND",
    ("fly", "reach.dl"): "invalid choice: 'fly'",
    ("run", "reach.dl", "--word-size", "16"): "error[E900]: argument --word-size: invalid choice: 16",
    ("run", "reads.dl", "-F", "nowhere"): "error[E906]: there is no facts directory `nowhere`",
    ("run", "reads.dl", "-F", "reach.dl"): "error[E906]: there is no facts directory `reach.dl`",
    ("run", "reach.dl", "-j", "many"): "error[E900]: -j many: not a number of threads",
    ("run", "reach.dl", "--engine", "niave"): "error[E901]: there is no engine `niave`",
    ("run", "reach.dl", "--functors", "none.py"): "error[E902]: cannot read the functors `none.py`",
    ("run", "reach.dl", "--functors", "wrong.dl"): "error[E902]",
    ("explain", "reach.dl", "--stage", "asd"): "error[E905]: there is no stage `asd`\n  note: did you mean `ast`?",
    ("run", "reach.dl", "-D", "reach.dl"): "error[E712]: cannot write `reach.dl/path.csv`",
    ("run", "reach.dl", "-D", "reach.dl/results"): "error[E712]: cannot write `reach.dl/results/path.csv`",
}


@pytest.mark.parametrize("arguments", MISTAKES, ids=" ".join)
def test_a_mistake_is_explained(here: Path, arguments: tuple[str, ...]):
    assert MISTAKES[arguments] in refused(*arguments, cwd=here)


def test_standard_output_as_a_file(here: Path):
    """Wherever it leads: what was written to it before and after stays."""
    (here / "said.dl").write_text(
        '.decl r(x: number)\nr(1). r(2).\n.output r(filename="/dev/stdout")\n.printsize r\n.output r(IO=stdout)\n'
    )
    command = [sys.executable, "-m", "flintlog", "run", "said.dl", "--quiet"]
    piped = subprocess.run(command, cwd=here, capture_output=True, check=True).stdout
    assert sorted(piped.splitlines()[:2]) == [b"1", b"2"]
    assert b"r\t2" in piped.splitlines()
    (here / "log").write_bytes(b"before\n")
    with (here / "log").open("ab") as log:
        subprocess.run(command, cwd=here, stdout=log, check=True)
    assert (here / "log").read_bytes() == b"before\n" + piped
    with (here / "log").open("wb") as log:
        subprocess.run(command, cwd=here, stdout=log, check=True)
    assert (here / "log").read_bytes() == piped
    with Path("/dev/full").open("wb") as full:
        failed = subprocess.run(command, cwd=here, stdout=full, stderr=subprocess.PIPE, check=False)
    assert failed.returncode == 1
    assert b"error[E712]: cannot write `/dev/stdout`" in failed.stderr


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no file system in memory")
def test_files_below_dev_are_files(here: Path):
    with TemporaryDirectory(dir="/dev/shm") as memory:
        flintlog("run", "reach.dl", "-D", f"{memory}/new/results", cwd=here)
        assert [path.name for path in Path(memory, "new/results").iterdir()] == ["path.csv"]


def test_where_nothing_can_be_written_nothing_is_computed(here: Path):
    (here / "late.py").write_text("def twice(x):\n    raise ValueError('it ran')\n")
    (here / "late.dl").write_text(
        '.functor twice(x: number): number\n.decl r(x: number)\nr(@twice(1)).\n.output r(filename="reach.dl/r")\n'
    )
    said = refused("run", "late.dl", "--functors", "late.py", cwd=here)
    assert "error[E712]: cannot write `reach.dl/r`: a file stands where its directory should be" in said
    assert "it ran" not in said
    (here / "late.dl").write_text((here / "late.dl").read_text().replace("reach.dl/r", "r"))
    assert "it ran" in refused("run", "late.dl", "--functors", "late.py", cwd=here)


def test_a_functors_file_that_fails_is_named(here: Path):
    (here / "broken.py").write_text("import no_such_module_at_all\n")
    said = refused("run", "reach.dl", "--functors", "broken.py", cwd=here)
    assert "error[E902]: `broken.py` fails when it is imported: ModuleNotFoundError" in said


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_what_may_not_be_read_or_written(here: Path):
    (here / "reach.dl").chmod(0)
    assert "permission denied" in refused("run", "reach.dl", cwd=here)
    (here / "reach.dl").chmod(0o600)
    (here / "closed").mkdir(0o500)
    assert "error[E712]" in refused("run", "reach.dl", "-D", "closed", cwd=here)


@pytest.mark.parametrize(
    "data", [b"\x00\x01\x02", b"\xff\xfe\x80 \x81 a(1).", b"\x7fELF\x02\x01\x01\x00", b"\r\r\n\t\x0c}"]
)
def test_a_program_of_garbage_is_refused(here: Path, data: bytes):
    (here / "garbage.dl").write_bytes(data)
    assert "error[E1" in refused("check", "garbage.dl", cwd=here)


def test_a_bug_is_exit_code_two_and_no_traceback(here: Path):
    (here / "functors.py").write_text(
        "import flintlog.engines.local.engine as n\n\n\ndef f(x):\n    return x\n\n\n"
        "def broken(*_):\n    raise RuntimeError('inside out')\n\n\nn.LocalEngine.run = broken\n"
    )
    text = ".functor f(x: number): number\n.decl a(x: number)\n.output a\na(@f(1)).\n"
    (here / "bug.dl").write_text(text)
    done = flintlog("run", "bug.dl", "--quiet", cwd=here)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("internal error: RuntimeError: inside out\n  note: this is a bug of Flintlog's")


def test_a_program_that_needs_too_much_memory_is_told_so(here: Path):
    """A text that doubles for ever, under a limit that it soon reaches."""
    (here / "endless.dl").write_text('.decl a(x: symbol) .output a a("text"). a(cat(x, x)) :- a(x).')
    limited = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30));"
    code = limited + "from flintlog.cli.main import main; sys.exit(main(['run', 'endless.dl']))"
    run = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "error[E802]: the program needs more memory than there is" in run.stderr
    assert not (here / "a.csv").exists()
