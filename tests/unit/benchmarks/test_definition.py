"""Every folder of benchmarks/programs says what the harness needs to know."""

import re

import pytest
from benchmarks.definition import DefinitionError, Reference, load, rows

from flintlog.cli.main import main as flintlog

ROWS = list(rows())
BENCHMARKS = list({row.benchmark.name: row.benchmark for row in ROWS}.values())
MINIMAL = 'title = "t"\nsource = "s"\n[[data]]\nname = "d"\n'


def define(folder, text):
    (folder / "program.dl").write_text("")
    (folder / "bench.toml").write_text(text)
    return folder


def test_the_programs_of_the_table_are_there():
    names = {benchmark.name for benchmark in BENCHMARKS}
    assert names >= set(
        "andersen bipartite cc csda cspa dyck galen rdfs reach sg sssp tc tc_nonlinear".split(),
    )
    assert sum(row.data.goal is not None for row in ROWS) >= 24


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda benchmark: benchmark.name)
def test_program_is_accepted_and_has_the_expected_relations(benchmark, capsys):
    assert flintlog(["check", str(benchmark.program)]) == 0
    words = set(re.findall(r"[\w.]+", benchmark.program.read_text(encoding="utf-8")))
    assert {name for data in benchmark.data for name in data.expected} <= words


@pytest.mark.parametrize("benchmark", BENCHMARKS, ids=lambda benchmark: benchmark.name)
def test_duckdb_has_a_script_or_a_reason(benchmark):
    assert (benchmark.sql is not None) != ("duckdb" in benchmark.cannot)


def test_rows_are_selected_by_name():
    names = [row.name for row in rows(["tc:RAND-*", "reach"])]
    assert names == ["reach:RMAT-1k", "reach:gen-rmat-1m", "tc:RAND-1k", "tc:RAND-5k"]


def test_sizes_values_and_references_are_read(tmp_path):
    text = 'sizes = { A = 1_000 }\nvalues = { B = "x" }\ngoal = 2.5\nreference.duckdb = { wall = 3.0, mb = 7 }\n'
    (data,) = load(define(tmp_path, MINIMAL + text)).data
    assert data.expected == {"A": "1000", "B": "x"}
    assert data.goal == 2.5
    assert data.references == {"duckdb": Reference(wall=3.0, mb=7)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (MINIMAL, "d expects nothing"),
        (MINIMAL + "size = { A = 1 }", "unknown key size"),
        (MINIMAL + "sizes = { A = 1 }\nvalues = { A = 1 }", "a size and a value for A"),
        (MINIMAL + "sizes = { A = 1 }\nreference.oracle = { wall = 1.0 }", "unknown key oracle"),
        ('title = "t"', "source is missing"),
        ("title = ", "bench.toml"),
    ],
)
def test_a_definition_that_is_wrong_is_refused(tmp_path, text, message):
    with pytest.raises(DefinitionError, match=message):
        load(define(tmp_path, text))
