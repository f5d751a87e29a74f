"""Options of `Program.run` in the spellings that people try."""

import pytest

from flintlog.api.user_program import Program
from flintlog.diagnostics import FlintlogError

PROGRAM = Program(".decl a(x: number)\n.output a\na(1).")


def test_a_memory_limit_may_have_a_unit() -> None:
    assert len(PROGRAM.run(memory_limit="2G")["a"]) == 1
    assert len(PROGRAM.run(memory_limit=2 << 30)["a"]) == 1


@pytest.mark.parametrize("limit", ["x", -3, "", 0])
def test_what_is_no_amount_of_memory_is_said(limit: int | str) -> None:
    with pytest.raises(FlintlogError, match="E910"):
        PROGRAM.run(memory_limit=limit)


def test_one_pass_needs_no_list() -> None:
    assert len(PROGRAM.run(without="magic")["a"]) == 1
