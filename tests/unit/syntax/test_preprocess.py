import pytest
from tests.unit.syntax.reading import items, problems, read

from flintlog.diagnostics import Report
from flintlog.source import SourceFile
from flintlog.syntax import ast
from flintlog.syntax.parser import parse
from flintlog.syntax.printer import print_item


def printed(text, **options):
    return [print_item(item) for item in items(text, **options)]


def test_macros_with_and_without_arguments():
    text = '#define N 3\n#define ADD(x, y) ((x) + (y))\nr(N, ADD(N, ADD(1, 2))) :- s("N"). // N'
    assert printed(text) == ['r(3, 3 + (1 + 2)) :- s("N").']


def test_a_macro_does_not_expand_itself():
    assert printed("#define x x + 1\n#define f(y) f + y\nr(x, f(2)).") == ["r(x + 1, f + 2)."]


def test_a_name_of_a_macro_with_arguments_alone_is_a_name():
    assert printed("#define f(y) y\nr(f, f(1)).") == ["r(f, 1)."]


def test_pasting_and_stringizing():
    text = '#define NAME(a, b) a##_##b\n#define TEXT(x) #x\nNAME(p, q)(TEXT(a  + "b")).'
    assert printed(text) == [r'p_q("a + \"b\"").']


def test_pasting_with_an_empty_argument():
    assert printed("#define J(a, b) a##b\nr(J(x, 1), J(, y), J(z, )).") == ["r(x1, y, z)."]


def test_variadic_macros():
    assert printed("#define V(a, ...) [a, __VA_ARGS__]\nr(V(1, 2, 3)).") == ["r([1, 2, 3])."]


def test_long_definitions_and_undef():
    assert printed("#define X 1, \\\n  2 // comment\nr(X).\n#undef X\nr(X).") == ["r(1, 2).", "r(X)."]


def test_calls_over_several_lines():
    assert printed("#define F(x, y) r(x, y).\nF(1,\n  2)") == ["r(1, 2)."]


def test_macros_can_hold_whole_items():
    text = "#define Q inst.rel\n#define REL(n) .decl n(x: number) .output n\nREL(a)\nQ(x) :- Q(x)."
    assert printed(text) == [".decl a(x: number)", ".output a", "inst.rel(x) :- inst.rel(x)."]


def test_a_token_of_a_macro_stands_where_the_macro_is_used():
    (rule,) = items("#define HEAD r(1)\n\n  HEAD :- s(2).")
    assert isinstance(rule, ast.Rule)
    assert (rule.heads[0].span.line, rule.heads[0].span.text) == (3, "HEAD")


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("1", True),
        ("0", False),
        ("UNKNOWN", False),
        ("defined(A) && !defined B", True),
        ("A == 2", True),
        ("A * 3 - 1 < 4 || A >= 3", False),
        ("(A << 2) % 5 == 3 && -7 / 2 == -3", True),
        ("~0 == -1 && (6 & 3 | 8) == 10 && 5 ^ 1", True),
    ],
)
def test_conditions(condition, holds):
    text = f"#if {condition}\nyes().\n#else\nno().\n#endif"
    assert printed(text, defines={"A": "2"}) == (["yes()."] if holds else ["no()."])


def test_elif_and_nesting():
    text = "#ifdef A\na().\n#elif B\nb().\n#if C\nc().\n#endif\n#elif 1\nd().\n#else\ne().\n#endif\nf()."
    assert printed(text) == ["d().", "f()."]
    assert printed(text, defines={"A": ""}) == ["a().", "f()."]
    assert printed(text, defines={"B": "1"}) == ["b().", "f()."]
    assert printed(text, defines={"B": "1", "C": "1"}) == ["b().", "c().", "f()."]


def test_text_left_out_is_not_looked_at():
    text = "#if 0\n\"no end\n'x' /* #endif */ // #endif\n#if 1\n#else\n#endif\n#endif\na()."
    assert printed(text) == ["a()."]


def test_line_markers_move_the_place():
    program, report = read('#line 100 "other.dl"\na(__LINE__, __FILE__).\nb(.\n# 7 "x.dl"\nc(.')
    assert print_item(program[0]) == 'a(100, "other.dl").'
    assert [str(d.span) for d in report.errors] == ["other.dl:101:3", "x.dl:7:3"]


def test_error_warning_and_pragma():
    _, report = read("#warning careful\n#error stop here\n#pragma once\na().")
    assert [(d.code, d.message) for d in report.sorted()] == [("W104", "careful"), ("E116", "stop here")]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a().\n#if 1\nb().", "E112", 2),
        ("a().\n#else\nb().", "E113", 2),
        ("#endif", "E113", 1),
        ("#if 0\n#else\n#else\n#endif", "E113", 3),
        ("#if 1 +\n#endif", "E114", 1),
        ("#if 1 / 0\n#endif", "E114", 1),
        ("#if (1\n#endif", "E114", 1),
        ("#if 1 2\n#endif", "E114", 1),
        ("#ifdef\n#endif", "E114", 1),
        ("#define", "E114", 1),
        ("#define F(1) 2", "E114", 1),
        ("#define F(x", "E114", 1),
        ("#include nothing", "E114", 1),
        ("#define F(x, y) x\n\na(F(1)).", "E115", 3),
        ("#define F(x, y) x\n\na(F(1, 2, 3)).", "E115", 3),
        ("#define F(x) x\na(F(1.\n", "E115", 2),
        ("#define F(x) x##+\na(F(1)).", "E117", 2),
        ('#inclde "a.dl"', "E118", 1),
        ('a().\n#include "missing.dl"', "E110", 2),
        ("a().\n#include <missing.dl>", "E110", 2),
        ('a().\n.include "missing.dl"', "E110", 2),
        ("a().\n.include\n", "E101", 2),
    ],
)
def test_mistakes(text, code, line):
    assert [(found, at) for found, at, _ in problems(text)] == [(code, line)]


def test_a_second_and_different_definition_is_a_warning():
    assert problems("#define A 1\n#define A 1\n#define A 2") == [("W105", 3, 9)]


# --- Files ----------------------------------------------------------------------------------------


def program_of(path, report, **options):
    return [print_item(item) for item in parse(SourceFile(str(path), path.read_text()), report, **options).items]


@pytest.mark.parametrize("directive", [".include", "#include"])
def test_files_beside_the_including_one_and_in_the_include_directories(tmp_path, directive):
    (tmp_path / "lib").mkdir()
    (tmp_path / "main.dl").write_text(f'a().\n{directive} "beside.dl"\n{directive} "far.dl"\nd().')
    (tmp_path / "beside.dl").write_text("b().\n")
    (tmp_path / "lib" / "far.dl").write_text("c(__INCL__).\n")
    report = Report()
    lines = program_of(tmp_path / "main.dl", report, include_dirs=[tmp_path / "lib"])
    assert report.errors == []
    assert lines == ["a().", "b().", f'c("{tmp_path / "main.dl"}:3:1").', "d()."]


def test_once(tmp_path):
    (tmp_path / "main.dl").write_text('.include "lib.dl"\n.include "lib.dl"\na().')
    (tmp_path / "lib.dl").write_text('.once\n.include "lib.dl"\nb().')
    report = Report()
    assert program_of(tmp_path / "main.dl", report) == ["b().", "a()."]
    assert report.errors == []


def test_a_guard_lets_a_file_include_itself(tmp_path):
    (tmp_path / "main.dl").write_text('#ifndef GUARD\n#define GUARD\n#include "main.dl"\na().\n#endif')
    report = Report()
    assert program_of(tmp_path / "main.dl", report) == ["a()."]
    assert report.errors == []


def test_a_file_that_includes_itself_without_end_is_an_error(tmp_path):
    (tmp_path / "main.dl").write_text('.include "main.dl"\n.include "main.dl"\n')
    report = Report()
    program_of(tmp_path / "main.dl", report)
    assert [d.code for d in report.errors] == ["E111"]


def test_a_mistake_in_an_included_file_is_reported_there(tmp_path):
    (tmp_path / "main.dl").write_text('.include "lib.dl"\na().')
    (tmp_path / "lib.dl").write_text("b().\nb(.\n")
    report = Report()
    assert program_of(tmp_path / "main.dl", report) == ["b().", "a()."]
    assert [str(d.span) for d in report.errors] == [f"{tmp_path / 'lib.dl'}:2:3"]
