"""parse ∘ print = identity, and what the strategies make is well formed."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from flintlog.ir.program import Program
from flintlog.ir.relation import Node
from flintlog.ir.text import parse_node, parse_program, print_node, print_program
from flintlog.ir.verify import verify
from tests.unit.ir.strategies import nodes, programs

patient = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])


@patient
@given(nodes())
def test_nodes_survive_print_and_parse(node: Node) -> None:
    assert parse_node(print_node(node)) == node


@patient
@given(programs())
def test_programs_survive_print_and_parse(program: Program) -> None:
    text = print_program(program)
    again = parse_program(text)
    assert again == program
    assert print_program(again) == text


@patient
@given(programs())
def test_random_programs_are_well_formed(program: Program) -> None:
    verify(program)
    assert "\t" not in print_program(program)
