"""Magic sets: what is restricted, what is not, and that queries get the rows they would get from the whole relation."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from tests.passes.magic_query import query_program
from tests.passes.same_answers import CASES, MAY_BE_SLOW, applied, assert_same_case, case_name
from tests.properties import brute_force
from tests.properties.programs import programs
from tests.properties.rich_programs import Generated
from tests.properties.rich_programs import programs as rich_programs

from flintlog.api.user_program import Program
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation
from flintlog.ir.program import Program as Ir
from flintlog.ir.text import parse_program, print_program
from flintlog.ir.text.node_printer import print_node
from flintlog.ir.visit import relations_of
from flintlog.passes.context import PassContext
from flintlog.passes.magic.demand import magic
from flintlog.passes.sip.sideways import sip
from flintlog.passes.structural.planner import structural
from flintlog.syntax import printer
from flintlog.types import Row

PATH = """
    .decl edge(x: number, y: number) .input edge
    .decl path(x: number, y: number)
    path(x, y) :- edge(x, y).
    path(x, z) :- edge(x, y), path(y, z).
    .decl out(y: number) .output out
"""
EDGES: list[Row] = [(1, 2), (2, 3), (3, 1), (4, 5), (5, 6)]


def restricted(text: str, wanted: str = "out") -> Ir:
    return applied(Program(text).results_only(), {wanted}, magic)


def demands(program: Ir) -> dict[str, tuple[str, ...]]:
    """The columns by which relations are restricted."""
    return {
        name.removesuffix("$magic"): tuple(column.name for column in relation.columns)
        for name, relation in program.relations.items()
        if name.endswith("$magic")
    }


def rows(program: Ir, relation: str, **facts: list[Row]) -> set[Row]:
    found = [set(NaiveEngine(semi_naive=mode).run(program, Evaluation(facts))[relation]) for mode in (True, False)]
    assert found[0] == found[1]
    return found[0]


# --- What is restricted ---------------------------------------------------------------------------


def test_rules_begin_with_what_is_demanded() -> None:
    program = restricted(PATH + "out(y) :- path(1, y).")
    trees = [print_node(rule.body) for stratum in program.strata for rule in stratum.rules]
    assert "join [x] (x, y)\n  scan edge(x: number, y: number)\n  scan path$magic(x: number)" in trees
    assert "join [x] (x = y)\n  scan edge(x: number, y: number)\n  scan path$magic(x: number)" in trees
    assert "map (x = 1)\n  unit" in trees


def test_only_what_is_demanded_is_computed() -> None:
    program = restricted(PATH + "out(y) :- path(1, y).")
    assert rows(program, "out", edge=EDGES) == {(1,), (2,), (3,)}
    assert not {row for row in rows(program, "path", edge=EDGES) if row[0] in (4, 5)}


VIA = {"path": ("x", "y"), "via": ("x",)}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("out(y) :- path(1, y).", {"path": ("x",)}),
        ("out(x) :- path(x, 1).", {"path": ("y",)}),
        ("out(y) :- x = 1, path(x, y).", {"path": ("x",)}),
        ("out(y) :- path(1, y). out(y) :- path(2, y).", {"path": ("x",)}),
        ("out(1) :- path(1, 3).", {"path": ("x", "y")}),
        ("out(z) :- path(1, y), edge(y, z).", {"path": ("x",)}),
        ("out(z) :- edge(1, y), path(y, z).", {"path": ("x",)}),
        (".decl start(x: number) start(1). start(2). out(y) :- start(x), path(x, y).", {"path": ("x",)}),
        (".decl via(x: number, y: number) via(x, y) :- path(x, y), edge(y, x). out(y) :- via(1, y).", VIA),
        ("out(y) :- edge(1, y), !path(y, 3).", {"path": ("x", "y")}),
        ("out(n) :- n = count : { path(1, _) }.", {"path": ("x",)}),
        ("out(n) :- edge(1, y), n = count : { path(2, y) }.", {"path": ("x",)}),
    ],
)
def test_restricted(rules: str, expected: dict[str, tuple[str, ...]]) -> None:
    program = restricted(PATH + rules)
    assert demands(program) == expected
    before = Program(PATH + rules).results_only()
    assert rows(program, "out", edge=EDGES) == rows(before, "out", edge=EDGES)
    assert parse_program(print_program(program)) == program


@pytest.mark.parametrize(
    "rules",
    [
        "out(y) :- path(_, y).",  # nothing is bound
        "out(y) :- path(1, y). out(y) :- path(y, _).",  # somebody reads all of it
        "out(x) :- path(x, y), path(y, 1), path(1, x), path(x, x), edge(_, x), path(_, x).",
        "out(y) :- edge(x, y), path(y, _).",  # bound, but by no constant
        ".output path out(y) :- path(1, y).",
        ".input path out(y) :- path(1, y).",
        ".limitsize path(n=3) out(y) :- path(1, y).",
        '.pragma "magic-transform-exclude" "path" out(y) :- path(1, y).',
    ],
)
def test_left_alone(rules: str) -> None:
    source = Program(PATH + rules)
    program = source.results_only()
    assert source.compilation.checked is not None
    pragmas = {pragma.key: pragma.value for pragma in source.compilation.checked.pragmas}
    wanted = {directive.relation for directive in program.io if directive.kind == "output"}
    assert magic(program, PassContext(frozenset(wanted), pragmas=pragmas)) is program


@pytest.mark.parametrize(
    "declaration",
    [
        "path(x: number, y: number) no_magic",
        "path(x: number, y: number) eqrel",
        "path(x: number, y: number) choice-domain x",
    ],
)
def test_relations_that_are_left_alone(declaration: str) -> None:
    text = PATH.replace("path(x: number, y: number)", declaration)
    program = Program(text + "out(y) :- path(1, y).").results_only()
    assert applied(program, {"out"}, magic) is program


def test_a_plan_of_the_users_own_wins() -> None:
    text = PATH.replace("path(y, z).", "path(y, z). .plan 0: (2, 1)")
    program = Program(text + "out(y) :- path(1, y).").results_only()
    assert applied(program, {"out"}, magic) is program


def test_a_rule_that_hands_its_demand_on_needs_no_guard() -> None:
    text = PATH.replace("edge(x, y), path(y, z)", "path(x, y), edge(y, z)")
    program = restricted(text + "out(y) :- path(1, y).")
    readers = [r for s in program.strata for r in s.rules if "path$magic" in relations_of(r.body, {})]
    assert [rule.relation for rule in readers] == ["path"]
    assert rows(program, "out", edge=EDGES) == {(1,), (2,), (3,)}


def test_what_is_not_recursive_is_not_drawn_into_a_recursion() -> None:
    text = """
        .decl edge(x: number, y: number) .input edge
        .decl view(x: number, y: number) view(x, y) :- edge(x, y). view(x, y) :- edge(y, x).
        .decl out(y: number) .output out
        out(1). out(y) :- out(x), edge(x, 2), view(x, y).
    """
    program = Program(text).results_only()
    assert applied(program, {"out"}, magic) is program


def test_what_it_has_made_stays_as_it_is() -> None:
    program = restricted(PATH + "out(y) :- path(1, y).")
    assert applied(program, {"out"}, magic) is program


def test_demands_are_never_computed() -> None:
    """`n - 1` of a demanded `n` would go on for ever."""
    text = """
        .decl total(n: number, s: number)
        total(0, 0).
        total(n, s + n) :- total(n - 1, s), n = range(1, 9).
        .decl out(s: number) .output out
        out(s) :- total(4, s).
    """
    program = Program(text).results_only()
    assert applied(program, {"out"}, magic) is program
    assert rows(program, "out") == {(10,)}


def test_strata_survive_a_negation_that_asks_for_what_depends_on_it() -> None:
    """A demand on `b` from the rule of `top` depends on `a`, which needs `whole` complete, which reads `b`."""
    text = """
        .decl e(x: number, y: number) .input e
        .decl b(x: number, y: number) b(x, y) :- e(x, y). b(x, z) :- b(x, y), e(y, z).
        .decl whole(x: number) whole(y) :- b(1, y).
        .decl a(x: number) a(x) :- e(1, x), !whole(x).
        .decl top(x: number) .output top
        top(y) :- a(x), e(1, x), b(x, y).
    """
    program = restricted(text, "top")
    before = Program(text).results_only()
    graphs: list[list[Row]] = [EDGES, [(1, 7), (7, 8)], [(1, 2), (1, 3), (2, 1)]]
    for edges in graphs:
        assert rows(program, "top", e=edges) == rows(before, "top", e=edges)


def test_what_nobody_reads_asks_for_nothing() -> None:
    """Without it, others are asked in another order, which may bind fewer of their columns."""
    text = """
        .decl a(x: number, y: number) .input a
        .decl b(x: number, y: number) .input b
        .decl p(x: number, y: number) .output p
        .decl q(x: number, y: number) .output q
        .decl r(x: number, y: number, z: number) .output r
        .decl t(x: number, y: number)
        .decl u(x: number, y: number)
        p(x, y) :- a(x, y).
        t(x, y) :- p(x, z), q(w, y).
        u(x, y) :- t(x, k), t(k, y).
        r(x, v, (x + 1) % 5) :- u(v, 2), v != v, b(x, v).
        q((v + 1) % 5, x) :- q(v, 3), b(x, y).
    """
    after = Program(text).optimised()
    assert rows(after, "p", a=EDGES, b=EDGES) == {*EDGES}


# --- Queries --------------------------------------------------------------------------------------


def test_a_query_computes_its_part_only() -> None:
    program, name = query_program(Program(PATH).compilation.program, "path", {0: 4})
    after = applied(program, {name}, magic)
    assert rows(after, name, edge=EDGES) == {(4, 5), (4, 6)}
    assert {row[0] for row in rows(after, "path", edge=EDGES)} == {4, 5}


def test_a_query_without_constants_is_the_relation() -> None:
    program, name = query_program(Program(PATH).compilation.program, "path", {})
    assert applied(program, {name}, magic) is program
    assert len(rows(program, name, edge=EDGES)) == 12


def test_a_query_by_a_record() -> None:
    text = """
        .type Pair = [x: number, y: number]
        .decl p(p: Pair, n: number) p([1, 2], 3). p([1, 3], 4). p(nil, 5).
        .decl q(p: Pair, n: number) q(p, n + 1) :- p(p, n).
    """
    program, name = query_program(Program(text).compilation.program, "q", {0: (1, 3)})
    after = applied(program, {name}, magic)
    assert after is not program
    assert rows(after, name) == {((1, 3), 5)}


def is_same_query(text: str, data: DataObject) -> bool:
    """Checks that a query for a random row's values gives the rows that the whole relation has; says whether there
    was a row to ask for."""
    compilation = Program(text).compilation
    if compilation.report.has_errors:
        return False
    program = compilation.program
    everything = NaiveEngine().run(program, Evaluation())
    name = data.draw(st.sampled_from(sorted(name for name in program.relations if program.relations[name].columns)))
    arity = len(program.relations[name].columns)
    if not everything[name]:
        return False
    row = data.draw(st.sampled_from(sorted(everything[name], key=repr)))
    positions = data.draw(st.sets(st.integers(0, arity - 1), min_size=1))
    query, answer = query_program(program, name, {p: row[p] for p in positions})
    expected = {found for found in everything[name] if all(found[p] == row[p] for p in positions)}
    for steps in ((magic,), (magic, sip, structural)):
        after = applied(query, {answer}, *steps)
        assert rows(after, answer) == expected
    return True


@given(programs(), st.data())
@settings(max_examples=40, suppress_health_check=MAY_BE_SLOW)
def test_random_queries(program: brute_force.Program, data: DataObject) -> None:
    note(program.text())
    assume(is_same_query(program.text(), data))


@given(rich_programs(), st.data())
@settings(max_examples=25, suppress_health_check=MAY_BE_SLOW)
def test_random_queries_of_rich_programs(generated: Generated, data: DataObject) -> None:
    text = printer.print_program(generated.program)
    note(text)
    assume(is_same_query(text, data))


@pytest.mark.slow
@given(programs(), rich_programs(), st.data())
@settings(max_examples=2000, suppress_health_check=MAY_BE_SLOW)
def test_random_queries_at_length(plain: brute_force.Program, rich: Generated, data: DataObject) -> None:
    texts = plain.text(), printer.print_program(rich.program)
    note("\n".join(texts))
    compared = [is_same_query(text, data) for text in texts]
    assume(any(compared))


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_programs(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same_case(case, monkeypatch, magic, sip, structural)
