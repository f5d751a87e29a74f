"""What a run writes, and that another program reads it as it was."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

import flintlog as fl
from flintlog.api.run import check_outputs, evaluate, write_results
from flintlog.diagnostics import Unsupported
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.protocol import RunOptions

TYPES = """
.type List = [head: symbol, tail: List]
.type Tree = Leaf {} | Node {left: Tree, value: unsigned, right: Tree}
.decl r(n: number, u: unsigned, f: float, s: symbol, l: List, t: Tree)
"""
FACTS = r"""
r(-1, 4294967295, 0.5, "plain", nil, $Leaf()).
r(2147483647, 0, -3.25, "quote \" comma, tab\t", ["a, b", ["c]", nil]], $Node($Leaf(), 7, $Node($Leaf(), 8, $Leaf()))).
r(0, 1, 0.0, "", ["", nil], $Leaf()).
"""
SIMPLE = '.decl r(x: number, y: symbol)\nr(1, "a").\n'


def write(text: str, out: Path, facts_dir: Path = Path()) -> str:
    program = fl.Program(text, word_size=32).compilation.program
    screen = io.StringIO()
    rows = evaluate(program, LocalEngine(), RunOptions(facts_dir=facts_dir, word_size=32))
    write_results(program, rows, out, word_size=32, stdout=screen)
    return screen.getvalue()


@pytest.mark.parametrize(
    "parameters",
    [
        "IO=jsonfile",
        "IO=jsonfile, format=object",
        "IO=sqlite",
        'IO=sqlite, dbname="all.db"',
        "IO=parquet",
        "IO=arrow",
        'IO=arrow, format=stream, filename="r.stream"',
    ],
)
def test_formats_bring_every_value_back(parameters: str, tmp_path: Path) -> None:
    write(f"{TYPES}{FACTS}.output r({parameters})", tmp_path)
    read = fl.Program(f"{TYPES}.input r({parameters})", word_size=32).run(facts_dir=tmp_path)
    wanted = fl.Program(TYPES + FACTS, word_size=32).run()
    assert sorted(map(repr, read["r"])) == sorted(map(repr, wanted["r"]))
    assert len(read["r"]) == 3


def test_gzip(tmp_path: Path) -> None:
    write(SIMPLE + '.output r(compress=true)\n.output r(filename="other.gz", compress=true, headers=true)', tmp_path)
    assert gzip.decompress((tmp_path / "r.csv.gz").read_bytes()) == b"1\ta\n"
    assert gzip.decompress((tmp_path / "other.gz").read_bytes()) == b"x\ty\n1\ta\n"
    for parameters in (
        'filename="r.csv.gz"',
        'filename="other.gz", headers=true',
        'filename="r.csv.gz", compress=true',
    ):
        read = fl.Program(f".decl r(x: number, y: symbol)\n.input r({parameters})").run(facts_dir=tmp_path)
        assert read["r"].rows() == [(1, "a")]


def test_several_relations_in_one_database(tmp_path: Path) -> None:
    text = SIMPLE + '.decl s(x: symbol)\ns("a"). s("b").\n.output r, s(IO=sqlite, filename="all.sqlite")'
    write(text, tmp_path)
    write(text, tmp_path)
    reader = '.decl r(x: number, y: symbol)\n.decl s(x: symbol)\n.input r, s(IO=sqlite, filename="all.sqlite")'
    result = fl.Program(reader).run(facts_dir=tmp_path)
    assert result["r"].rows() == [(1, "a")]
    assert sorted(result["s"]) == [("a",), ("b",)]


def test_directories_are_made(tmp_path: Path) -> None:
    write(SIMPLE + '.output r(filename="x/y.csv")', tmp_path / "new" / "out")
    assert (tmp_path / "new" / "out" / "x" / "y.csv").read_text() == "1\ta\n"


def test_absolute_paths(tmp_path: Path) -> None:
    target = tmp_path / "here.csv"
    write(f'{SIMPLE}.output r(filename="{target}")', tmp_path / "elsewhere")
    assert target.read_text() == "1\ta\n"
    text = f'.decl r(x: number, y: symbol)\n.input r(filename="{target}")'
    assert fl.Program(text).run(facts_dir=tmp_path / "elsewhere")["r"].rows() == [(1, "a")]


def test_a_dash_sends_everything_to_the_screen(tmp_path: Path) -> None:
    text = SIMPLE + '.output r(IO=jsonfile, name="named")\n.output r(delimiter=",")\n.printsize r'
    table = "---------------\n{}\nx{}y\n===============\n1{}a\n===============\n"
    assert write(text, Path("-")) == table.format("named", "\t", "\t") + table.format("r", ",", ",") + "r\t1\n"


def test_a_nan_of_a_file_is_one_value(tmp_path: Path) -> None:
    (tmp_path / "f.facts").write_text("nan\nNaN\n-nan\n")
    (tmp_path / "f.json").write_text('[[NaN], ["nan"], [1.5]]')
    text = ".decl f(x: float)\n.input f\n.input f(IO=jsonfile)\n.output f(IO=stdout)"
    assert write(text, tmp_path, tmp_path).splitlines()[3:-1] == ["1.5", "nan", "-nan"]


@pytest.mark.parametrize(
    ("directive", "code"),
    [("IO=jdbc", "E931"), ("IO=table", "E931"), ("IO=parquet", "E655"), ("IO=sqlite", "E655"), ("IO=arrow", "E655")],
)
def test_outputs_are_checked_before_the_run(directive: str, code: str) -> None:
    program = fl.Program(f".decl yes()\nyes().\n.output yes({directive})").compilation.program
    with pytest.raises(fl.FlintlogError) as caught:
        check_outputs(program, Path())
    assert [d.code for d in caught.value.diagnostics] == [code]
    assert caught.value.diagnostics[0].span.start == len(".decl yes()\nyes().\n.output ")
    check_outputs(program, Path("-"))


@pytest.mark.parametrize("kind", ["jdbc", "table"])
def test_what_only_spark_reads(kind: str) -> None:
    with pytest.raises(Unsupported, match="E931"):
        fl.Program(f".decl r(x: number)\n.input r(IO={kind})").run(engine="local")
