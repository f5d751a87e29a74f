"""Passes on programs in the text form of the IR."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from textwrap import dedent

from flintlog.api.user_program import Program as Source
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation
from flintlog.ir.program import Program
from flintlog.ir.text import parse_program, print_node, print_program
from flintlog.ir.verify import verify
from flintlog.passes.context import PassContext
from flintlog.passes.order_shows import relations_whose_order_shows
from flintlog.passes.sequence import Transformation
from flintlog.types import Row


def lowered(text: str) -> Program:
    """The IR of a Datalog program, before any pass."""
    return Source(text).compilation.program


def passed(step: Transformation, program: Program, wanted: Iterable[str] = (), **settings: object) -> Program:
    """What a pass makes of a program, as `sequence` calls it. The result is verified, and a second time the pass finds
    nothing more to do."""
    context = PassContext(frozenset(wanted), held=relations_whose_order_shows(program))
    context = replace(context, **settings)  # type: ignore[arg-type]
    result = step(program, context)
    verify(result)
    assert print_program(step(result, context)) == print_program(result)
    return result


def body_of(program: Program, rule: int) -> str:
    """The tree of a rule, as text."""
    return next(print_node(r.body) for s in program.strata for r in s.rules if r.id == rule)


def rewritten(step: Transformation, declarations: str, tree: str, relation: str = "out") -> str:
    """A tree after a pass, where it is the one rule of a relation, recursive if it reads that."""
    recursive = "recursive " if f"scan {relation}(" in tree else ""
    lines = [dedent(declarations).strip(), f"stratum {recursive}{relation}", f"  rule 1 {relation}"]
    lines += ["    " + line for line in dedent(tree).strip().splitlines()]
    return body_of(passed(step, parse_program("\n".join(lines)), {relation}), 1)


def same_tree(left: str, right: str) -> bool:
    return dedent(left).strip() == dedent(right).strip()


def answer(
    program: Program, facts: Mapping[str, Sequence[Row]] | None = None, *, semi_naive: bool = True
) -> dict[str, set[Row]]:
    """The rows of every relation; facts of relations that the program lacks do not count."""
    known = {name: rows for name, rows in (facts or {}).items() if name in program.relations}
    rows = NaiveEngine(semi_naive=semi_naive).run(program, Evaluation(known))
    return {name: set(found) for name, found in rows.items()}
