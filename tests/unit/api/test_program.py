"""A program in Python's hands: loading, checking, explaining, and its mistakes as one exception."""

from __future__ import annotations

from pathlib import Path

import pytest

import flintlog as fl

REACH = """
.decl edge(x: number, y: number)
.input edge
.decl path(x: number, y: number)
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
.output path
"""


def test_a_program_may_run_many_times() -> None:
    program = fl.Program(REACH)
    first = program.run(edge=[(1, 2), (2, 3)])
    second = program.run(edge=[(7, 8)])
    assert sorted(first["path"]) == [(1, 2), (1, 3), (2, 3)]
    assert sorted(second["path"]) == [(7, 8)]


def test_load_looks_for_facts_beside_the_program(tmp_path: Path) -> None:
    (tmp_path / "reach.dl").write_text(REACH)
    (tmp_path / "edge.facts").write_text("1\t2\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "edge.facts").write_text("5\t6\n")
    program = fl.Program.load(tmp_path / "reach.dl")
    assert program.run()["path"].rows() == [(1, 2)]
    assert program.run(facts_dir=tmp_path / "other")["path"].rows() == [(5, 6)]
    assert program.run(edge=[(8, 9)])["path"].rows() == [(8, 9)]
    assert fl.Program.load(str(tmp_path / "reach.dl")).run(facts_dir=str(tmp_path))["path"].rows() == [(1, 2)]


def test_a_program_that_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.dl", tmp_path):
        with pytest.raises(fl.FlintlogError) as caught:
            fl.Program.load(path)
        assert [d.code for d in caught.value.diagnostics] == ["E110"]


def test_all_mistakes_come_together() -> None:
    program = fl.Program(".decl r(x: nothing)\nr(x) :- s(x).\nr(y) :- r(x).")
    with pytest.raises(fl.FlintlogError) as caught:
        program.run()
    assert [d.code for d in caught.value.diagnostics] == ["E209", "E201", "E401"]
    assert "E209" in str(caught.value)
    assert [d.code for d in program.check() if d.is_error] == ["E209", "E201", "E401"]


def test_check_has_warnings_and_positions() -> None:
    [warning] = fl.Program(".decl a(x: number)\n.decl b(x: number)\na(1).\nb(1) :- a(x).\n.output b").check()
    assert not warning.is_error
    assert warning.span.file.position(warning.span.start) == (4, 11)


def test_facts_of_missing_files() -> None:
    program = fl.Program('.decl a(x: number)\n.input a\n.decl b(x: number)\n.input b(filename="c.facts")')
    with pytest.raises(fl.FlintlogError) as caught:
        program.run(facts_dir="nowhere")
    assert [d.code for d in caught.value.diagnostics] == ["E701", "E701"]


def test_word_size() -> None:
    text = ".decl a(x: number)\n.decl b(x: number)\nb(x + 1) :- a(x).\n.decl f(x: float)\nf(0.1)."
    narrow = fl.Program(text, word_size=32).run(a=[(2**31 - 1,)])
    assert narrow["b"].rows() == [(-(2**31),)]
    assert narrow["f"].rows() == [(0.10000000149011612,)]
    wide = fl.Program(text).run(a=[(2**31 - 1,)])
    assert wide["b"].rows() == [(2**31,)]
    assert wide["f"].rows() == [(0.1,)]
    with pytest.raises(fl.FlintlogError, match="E904"):
        fl.Program(text, word_size=32).run(a=[(2**31,)])
    with pytest.raises(fl.FlintlogError, match="E900"):
        fl.Program(text, word_size=16)


def test_includes_and_macros(tmp_path: Path) -> None:
    (tmp_path / "more.dl").write_text("a(TEN).")
    text = '.decl a(x: number)\n.include "more.dl"'
    for directory in (tmp_path, str(tmp_path)):
        assert fl.Program(text, include_dirs=[directory], defines={"TEN": "10"}).run()["a"].rows() == [(10,)]


@pytest.mark.parametrize(
    ("stage", "has"),
    [("ast", ".output path"), ("checked", "// stratum 1, recursive: path"), ("ir", "stratum recursive path")],
)
def test_explain(stage: str, has: str) -> None:
    assert has in fl.Program(REACH).explain(stage)


def test_explain_of_what_is_not_there() -> None:
    assert fl.Program(REACH).explain() == fl.Program(REACH).explain("ir")
    with pytest.raises(fl.FlintlogError, match="E905"):
        fl.Program(REACH).explain("magic")
    with pytest.raises(fl.FlintlogError, match="E201"):
        fl.Program("a(1).").explain("ir")


def test_an_unknown_engine() -> None:
    with pytest.raises(fl.FlintlogError, match="E901"):
        fl.Program(REACH).run(engine="fast", edge=[])


def test_warnings_of_a_run_are_in_its_result(tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\t2\t3\n")
    assert [d.code for d in fl.Program(REACH).run(facts_dir=tmp_path).warnings] == ["W701"]
    assert [d.code for d in fl.Program(REACH).run(edge=tmp_path / "edge.facts").warnings] == ["W701"]
