"""Walking and rewriting, and that what does not change stays the same object."""

from __future__ import annotations

from hypothesis import given, settings
from tests.unit.ir.strategies import nodes, programs

from flintlog.ir.nodes import Node, Scan, Shared, Unit, Where, children
from flintlog.ir.program import Program
from flintlog.ir.scalar import Call, Column, Compare, Const, MakeRecord, Part, Scalar
from flintlog.ir.text import parse_node, parse_program, print_condition, print_head, print_node, print_scalar
from flintlog.ir.visit import (
    columns_of,
    relations_of,
    rewrite,
    rewrite_bodies,
    rewrite_condition,
    rewrite_scalar,
    rewrite_step,
    substitute,
    terms_of,
    walk,
    walk_scalar,
)
from flintlog.types import Kind

x, y = Column("x", Kind.NUMBER), Column("y", Kind.NUMBER)
ONE = Const(1, Kind.NUMBER)
SUM = Call("+", (x, Part(MakeRecord((y, ONE)), 0, Kind.NUMBER)), Kind.NUMBER)
TREE = """\
join [x] (x, n)
  where (x != n)
  scan a(x: number)
  aggregate count by [x] into n: number
    concat
      scan b(x: number)
      shared 1 (x: number)
    keys
      scan c(x: number)"""


def rename(node: Node) -> Node:
    return Scan(node.relation.upper(), node.schema) if isinstance(node, Scan) else node


def test_walk_goes_from_the_root_down_and_left_to_right() -> None:
    words = [print_head(node).split("(")[0].strip() for node in walk(parse_node(TREE))]
    assert words == [
        "join [x]",
        "scan a",
        "aggregate count by [x] into n: number",
        "concat",
        "scan b",
        "shared 1",
        "scan c",
    ]


def test_walk_scalar_and_columns() -> None:
    assert [print_scalar(part) for part in walk_scalar(SUM)] == [
        "(x + part([y, 1], 0): number)",
        "x",
        "part([y, 1], 0): number",
        "[y, 1]",
        "y",
        "1",
    ]
    assert columns_of(SUM) == {"x", "y"}
    assert columns_of(Compare("<", SUM, ONE)) == {"x", "y"}
    assert terms_of(Where(Compare("<", x, y))) == (Compare("<", x, y),)


def test_rewrite_reaches_every_node() -> None:
    changed = rewrite(parse_node(TREE), rename)
    assert print_node(changed) == TREE.replace("scan a", "scan A").replace("scan b", "scan B").replace(
        "scan c", "scan C"
    )


def test_substitute_replaces_columns_inside() -> None:
    assert print_scalar(substitute(SUM, {"y": ONE})) == "(x + part([1, 1], 0): number)"
    assert substitute(SUM, {"z": ONE}) is SUM


def test_conditions_and_steps_are_rewritten() -> None:
    condition = Compare("<", SUM, y)

    def double(scalar: Scalar) -> Scalar:
        return Call("*", (scalar, scalar), Kind.NUMBER) if scalar == x else scalar

    assert print_condition(rewrite_condition(condition, double)) == "(((x * x) + part([y, 1], 0): number) < y)"
    step = Where(condition)
    assert rewrite_step(step, double) == Where(rewrite_condition(condition, double))
    assert rewrite_step(step, lambda scalar: scalar) is step


def test_relations_are_found_through_shared_subplans() -> None:
    shared = {1: parse_node("shared 2 (x: number)"), 2: parse_node("scan d(x: number)")}
    assert relations_of(parse_node(TREE), shared) == {"a", "b", "c", "d"}


def test_rewrite_bodies_keeps_ids_and_untouched_strata() -> None:
    program = parse_program(
        """
        relation a()
        relation b()
        stratum a
          rule 1 a
            unit
        stratum b
          rule 2 b
            scan a()
          subsume 3 b
            scan b()
        shared 1
          scan a()
        """
    )
    changed = rewrite_bodies(program, lambda body: rewrite(body, rename))
    assert changed.strata[0] is program.strata[0]
    rule, subsumption = changed.strata[1].rules[0], changed.strata[1].subsumptions[0]
    assert (rule.id, rule.body, rule.span) == (2, Scan("A", ()), program.strata[1].rules[0].span)
    assert (subsumption.id, subsumption.body) == (3, Scan("B", ()))
    assert changed.shared == {1: Scan("A", ())}


@settings(deadline=None, max_examples=30)
@given(nodes())
def test_a_rewrite_that_changes_nothing_returns_the_same_tree(node: Node) -> None:
    assert rewrite(node, lambda part: part) is node
    assert all(child in list(walk(node)) for child in children(node))


@settings(deadline=None, max_examples=20)
@given(programs())
def test_rewriting_bodies_to_themselves_returns_the_same_program(program: Program) -> None:
    assert rewrite_bodies(program, lambda body: body) is program
    emptied = rewrite_bodies(program, lambda body: Unit())
    assert all(rule.body == Unit() for stratum in emptied.strata for rule in stratum.rules)


def test_a_scalar_rewrite_runs_from_the_inside_out() -> None:
    seen: list[str] = []

    def note(scalar: Scalar) -> Scalar:
        seen.append(print_scalar(scalar))
        return scalar

    assert rewrite_scalar(Call("+", (x, ONE), Kind.NUMBER), note) == Call("+", (x, ONE), Kind.NUMBER)
    assert seen == ["x", "1", "(x + 1)"]


def test_a_shared_node_is_a_leaf() -> None:
    assert list(walk(Shared(1, (x,)))) == [Shared(1, (x,))]
