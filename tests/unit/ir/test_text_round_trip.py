"""parse ∘ print = identity, and what the strategies make is well formed."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from tests.unit.ir.strategies import nodes, programs

from flintlog.ir.nodes import Node
from flintlog.ir.program import Program
from flintlog.ir.text import parse_node, parse_program, print_node, print_program
from flintlog.ir.verify import verify

patient = settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow])


@patient
@given(nodes())
def test_nodes_survive_print_and_parse(node: Node) -> None:
    assert parse_node(print_node(node)) == node


@patient
@given(programs())
def test_programs_are_well_formed_and_survive_print_and_parse(program: Program) -> None:
    verify(program)
    text = print_program(program)
    again = parse_program(text)
    assert again == program
    assert print_program(again) == text
