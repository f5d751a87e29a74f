"""Programs that say the same have the same answer, however they say it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from tests.properties import rewrites
from tests.properties.rich_programs import Generated, programs, relations_of

from flintlog.api.user_program import Program
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation
from flintlog.ir import program as ir
from flintlog.ir.text import parse_program, print_program
from flintlog.ir.verify import verify
from flintlog.passes.context import PassContext
from flintlog.passes.remove_unneeded import remove_unneeded
from flintlog.source import SourceFile
from flintlog.syntax import ast, printer
from flintlog.syntax.parser import parse

# MIN or MAX in its heads; recursive; inside an aggregate; negated with `_` or with variables of its own, those of an
# expression in the head among them.
NOT_TO_BE_INLINED = {"E231", "E251", "E255", "E256", "E254", "E409"}

Answer = dict[str, set[tuple[object, ...]]]


def errors_of(program: ast.Program) -> set[str]:
    text = printer.print_program(program)
    note(text)
    return {problem.code for problem in Program(text).check() if problem.is_error}


def compiled(program: ast.Program) -> ir.Program:
    text = printer.print_program(program)
    note(text)
    compilation = Program(text).compilation
    # Two aggregates that seem to need each other: the check is coarse, as Soufflé's, and some programs run into it.
    assume({problem.code for problem in compilation.report.errors} != {"E405"})
    verify(compilation.program)
    return compilation.program


def answer(program: ir.Program, *, semi_naive: bool = True) -> Answer:
    rows = NaiveEngine(semi_naive=semi_naive).run(program, Evaluation())
    return {name: set(found) for name, found in rows.items()}


def same(one: ast.Program, other: ast.Program) -> None:
    """Both have the same rows in the relations that both have."""
    left, right = answer(compiled(one)), answer(compiled(other))
    shared = left.keys() & right.keys()
    assert {name: left[name] for name in shared} == {name: right[name] for name in shared}


def lanes(test: Callable[[ast.Program, DataObject], None]) -> Callable[..., None]:
    """The test over 40 random programs, and over 2,000 in the slow lane."""

    @pytest.mark.parametrize("examples", [40, pytest.param(2000, marks=pytest.mark.slow)])
    def run(examples: int) -> None:
        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
        @given(programs(), st.data())
        def check(generated: Generated, data: DataObject) -> None:
            test(generated.program, data)

        check()

    run.__doc__ = test.__doc__
    return run


@lanes
def test_order_does_not_matter(program: ast.Program, data: DataObject) -> None:
    same(program, data.draw(rewrites.shuffled(program)))


@lanes
def test_inline_changes_nothing(program: ast.Program, data: DataObject) -> None:
    name = data.draw(st.sampled_from(rewrites.candidates(program)))
    inlined = rewrites.qualified(program, name, "inline")
    errors = errors_of(inlined) - {"E405"}
    assert errors <= NOT_TO_BE_INLINED, errors
    assume(not errors)
    same(program, inlined)


@lanes
def test_no_inline_changes_nothing(program: ast.Program, data: DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(relations_of(program))))
    same(program, rewrites.qualified(program, name, "no_inline"))


@lanes
def test_a_disjunction_is_several_rules(program: ast.Program, data: DataObject) -> None:
    same(program, rewrites.split_alternatives(program))


@lanes
def test_negation_goes_inwards(program: ast.Program, data: DataObject) -> None:
    same(program, rewrites.de_morgan(program))


@lanes
def test_a_component_changes_names_only(program: ast.Program, data: DataObject) -> None:
    inside = answer(compiled(rewrites.in_component(program, "c")))
    assert {name.removeprefix("c."): rows for name, rows in inside.items()} == answer(compiled(program))


@lanes
def test_the_text_reads_back(program: ast.Program, data: DataObject) -> None:
    lowered = compiled(program)
    tree = Program(printer.print_program(program)).compilation.ast
    again = parse(SourceFile("again", printer.print_program(tree)), Program("").compilation.report)
    assert again == tree
    reread = parse_program(print_program(lowered))
    assert reread == lowered
    assert answer(reread) == answer(lowered)


@lanes
def test_semi_naive_is_naive(program: ast.Program, data: DataObject) -> None:
    lowered = compiled(program)
    assert answer(lowered) == answer(lowered, semi_naive=False)


@lanes
def test_engines_agree(program: ast.Program, data: DataObject) -> None:
    lowered = compiled(program)
    expected = answer(lowered)
    for engine in (LocalEngine(patience=0), LocalEngine(patience=0, threads=2), LocalEngine(patience=20)):
        rows = engine.run(lowered, Evaluation())
        assert {name: set(found) for name, found in rows.items()} == expected


@lanes
def test_what_is_not_needed_can_go(program: ast.Program, data: DataObject) -> None:
    lowered = compiled(program)
    wanted = data.draw(st.sets(st.sampled_from(sorted(lowered.relations)), min_size=1))
    left = remove_unneeded(lowered, PassContext(frozenset(wanted)))
    verify(left)
    whole, part = answer(lowered), answer(left)
    assert {name: part[name] for name in wanted} == {name: whole[name] for name in wanted}


@lanes
def test_chains_of_equal_variables_are_one(program: ast.Program, data: DataObject) -> None:
    same(program, data.draw(rewrites.aliased(program)))


@lanes
def test_columns_can_travel_as_a_record(program: ast.Program, data: DataObject) -> None:
    pairs = [name for name, r in relations_of(program).items() if [a.type for a in r.attributes] == ["number"] * 2]
    name = data.draw(st.sampled_from(pairs))
    aggregated = any(isinstance(n, ast.HeadAggregate) for n in rewrites.nodes(program))
    assume(not rewrites.has_denied_wildcard(program, name) and not aggregated)
    same(program, rewrites.packed(program, name))
