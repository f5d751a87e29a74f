"""A mistake in line 900 of a program of a thousand lines is reported there, and nothing else is."""

from __future__ import annotations

import pytest

from flintlog.api.program import Program

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
    """In each line the declaration of a relation and a rule for it, or a comment."""
    lines = [".decl r0(x: number, y: number) r0(1, 2). /* a comment", "over two lines */ .output r999"]
    for i in range(2, LINES):
        rule = wrong if i + 1 == WRONG_LINE else f"r{i}(x, y) :- r{i - 1}(x, y), r1(y, x)."
        lines.append(f".decl r{i}(x: number, y: number)")
        lines[-1] += f"\t{rule}" if i + 1 != WRONG_LINE else ""
        if i + 1 == WRONG_LINE:
            lines[-1] = rule
    lines[1] += " .decl r1(x: number, y: number) r1(2, 1)."
    lines[1] += f" .decl r{WRONG_LINE - 1}(x: number, y: number)"
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
