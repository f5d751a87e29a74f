"""A mistake in line 900 of a program of a thousand lines is reported there, and nothing else is."""

from __future__ import annotations

import pytest

from flintlog.api.user_program import Program

LINES = 1000
WRONG_LINE = 900

# The line, the code, the column.
MISTAKES = {
    "r899(x, y) :- r898(x, y), r1(y x).": ("E101", 32),
    "r899(x, y) :- r898(x, y), q1(y, x).": ("E201", 27),
    'r899(x, y) :- r898(x, y), r1(y, "one").': ("E304", 33),
    "r899(x, z) :- r898(x, y), r1(y, x).": ("E401", 9),
}


def program_of_a_thousand_lines(wrong: str) -> str:
    """A declaration and a rule in every line, but for a comment over two lines at the top and the wrong line."""
    decls = [f".decl r{i}(x: number, y: number)" for i in range(LINES)]
    lines = [f"{decl}\tr{i}(x, y) :- r{i - 1}(x, y), r1(y, x)." for i, decl in enumerate(decls)]
    lines[0] = f"{decls[0]} r0(1, 2). /* a comment"
    lines[1] = f"over two lines */ {decls[1]} r1(2, 1). .output r999 {decls[WRONG_LINE - 1]}"
    lines[WRONG_LINE - 1] = wrong
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("wrong", MISTAKES, ids=lambda wrong: MISTAKES[wrong][0])
def test_the_line_is_right(wrong: str) -> None:
    text = program_of_a_thousand_lines(wrong)
    assert text.count("\n") == LINES
    (found,) = [d for d in Program(text, name="long.dl").check() if d.is_error]
    code, column = MISTAKES[wrong]
    assert (found.code, found.span.line, found.span.column) == (code, WRONG_LINE, column)
    assert f"long.dl:{WRONG_LINE}:{column}\n {WRONG_LINE} | {wrong}" in found.render()


def test_a_program_nested_too_deep_is_refused() -> None:
    (found,) = Program(f".decl a(x: number)\n.output a\na({'(' * 50_000}1{')' * 50_000}).").check()
    assert (found.code, found.span.line) == ("E127", 3)
