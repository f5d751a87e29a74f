"""The structural planner: FlowLog's examples, what must not move, and the time it takes."""

from __future__ import annotations

import random
from itertools import permutations
from time import process_time

import pytest
from tests.machine import slowness

from flintlog.api.user_program import Program
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation
from flintlog.ir.nodes import JoinFlatMap, Node
from flintlog.ir.program import Program as Ir
from flintlog.ir.text.node_printer import print_node
from flintlog.ir.verify import verify
from flintlog.ir.visit import walk
from flintlog.passes.context import PassContext
from flintlog.passes.structural.join_graph import JoinGraph
from flintlog.passes.structural.planner import structural
from flintlog.passes.structural.search import best_trees, cost_of


def lowered(text: str) -> Ir:
    return Program(text).compilation.program


def planned(text: str, relation: str) -> Node:
    """The tree of the relation's last rule."""
    program = structural(lowered(text), PassContext(frozenset({relation})))
    verify(program)
    return [rule for stratum in program.strata for rule in stratum.rules if rule.relation == relation][-1].body


def graph(output: str, *atoms: str) -> JoinGraph:
    names = sorted({name for atom in atoms for name in atom.split()})

    def mask(words: str) -> int:
        return sum(1 << names.index(word) for word in words.split())

    return JoinGraph(tuple(map(mask, atoms)), mask(output))


# --- FlowLog's examples ---------------------------------------------------------------------------

EVEN = """
    .decl edge(x: number, y: number) .input edge
    .decl target(x: number) .input target
    .decl reach(x: number)
    reach(x) :- target(x).
    reach(x) :- edge(x, y), edge(y, z), reach(z).
"""

FIGURE_3 = """\
join [y] (x)
  scan edge(x: number, y: number)
  join [z] (y)
    scan edge(y: number, z: number)
    scan reach(z: number)"""


def test_figure_3_two_semijoins_instead_of_a_path_of_two_edges() -> None:
    assert print_node(planned(EVEN, "reach")) == FIGURE_3


def test_figure_3_costs_two_instead_of_three() -> None:
    even = graph("x", "x y", "y z", "z")
    assert cost_of(best_trees(even)) == 2
    assert even.order_cost((0, 1, 2)) == 3


DOOP = (
    "inm",
    "base to inm",
    "bh base",
    "bh heap",
    "to tp",
    "bh bht",
    "bht bct",
    "tp bct",
)


def test_figure_4_costs_three_instead_of_five() -> None:
    doop = graph("heap to", *DOOP)
    assert cost_of(best_trees(doop)) == 3
    assert doop.order_cost(range(8)) == 5


def test_figure_4_the_eight_way_rule_is_a_bushy_tree() -> None:
    text = """
        .decl Reach(m: number) .decl LoadArrayIdx(b: number, t: number, m: number) .decl VarType(v: number, t: number)
        .decl HeapAllocationType(h: number, t: number) .decl ComponentType(a: number, c: number)
        .decl SupertypeOf(s: number, t: number) .decl ArrayIdxPointsTo(b: number, h: number)
        .input Reach .input LoadArrayIdx .input VarType .input HeapAllocationType .input ComponentType
        .input SupertypeOf .input ArrayIdxPointsTo
        .decl VarPointsTo(heap: number, to: number)
        VarPointsTo(heap, to) :- Reach(inm), LoadArrayIdx(base, to, inm), VarPointsTo(bh, base),
            ArrayIdxPointsTo(bh, heap), VarType(to, tp), HeapAllocationType(bh, bht), ComponentType(bht, bct),
            SupertypeOf(tp, bct).
    """
    tree = planned(text, "VarPointsTo")
    joins = [node for node in walk(tree) if isinstance(node, JoinFlatMap)]
    assert max(len(_variables(join)) for join in joins) == 3
    bushy = [join for join in joins if isinstance(join.left, JoinFlatMap) and isinstance(join.right, JoinFlatMap)]
    assert bushy
    semijoin = "semijoin [inm]\n  scan LoadArrayIdx(base: number, to: number, inm: number)\n  scan Reach(inm: number)"
    assert semijoin in "\n".join(print_node(node) for node in walk(tree))


def _variables(join: JoinFlatMap) -> set[str]:
    """What a join sees: what it joins on and what it gives out."""
    return {*join.on, *(column.name for column in join.joined if column in {value for _, value in join.output})}


# --- What it does not depend on -------------------------------------------------------------------

GALEN_RULES = {
    "r2": ("x z", ["p(y, w)", "u(w, r, z)", "q(x, r, y)"]),
    "r3": ("x z", ["c(y, w, z)", "p(x, w)", "p(x, y)"]),
    "chain": ("x v", ["p(x, y)", "p(y, z)", "p(z, w)", "p(w, v)"]),
}


@pytest.mark.parametrize("name", GALEN_RULES)
def test_the_written_order_does_not_matter(name: str) -> None:
    head, atoms = GALEN_RULES[name]
    declarations = """
        .decl u(a: number, b: number, c: number) .input u .decl c(a: number, b: number, c: number) .input c
        .decl q(a: number, b: number, c: number) .input q .decl p(x: number, z: number) .input p
    """
    rules = {f"p({head.replace(' ', ', ')}) :- {', '.join(order)}." for order in permutations(atoms)}
    assert len({print_node(planned(declarations + rule, "p")) for rule in rules}) == 1


def test_a_planned_program_stays_as_it_is() -> None:
    context = PassContext(frozenset({"reach"}))
    once = structural(lowered(EVEN), context)
    assert structural(once, context) is once


def test_a_plan_of_the_users_own_wins() -> None:
    program = lowered(EVEN + ".plan 0: (1, 2, 3)")
    assert structural(program, PassContext(frozenset({"reach"}))) is program


def test_held_relations_stay_as_they_are() -> None:
    program = lowered(EVEN)
    assert structural(program, PassContext(frozenset({"reach"}), held=frozenset({"reach"}))) is program


def test_what_has_no_variable_in_common_is_joined_last() -> None:
    text = """
        .decl a(x: number, y: number) .input a .decl b(x: number) .input b
        .decl r(x: number, y: number, z: number)
        r(x, z, w) :- a(x, y), b(w), a(y, z).
    """
    joins = [node for node in walk(planned(text, "r")) if isinstance(node, JoinFlatMap)]
    assert [join.on for join in joins] == [(), ("y",)]


# --- What must not move ---------------------------------------------------------------------------


def answer(program: Ir, **facts: list[tuple[object, ...]]) -> set[tuple[object, ...]]:
    return set(NaiveEngine().run(program, Evaluation(facts))["r"])  # type: ignore[arg-type]


GUARDED = {
    "division": ("r(x, x / y) :- a(x, y), b(y), y != 0.", {"a": [(6, 0), (6, 2)], "b": [(0,), (2,)]}),
    "division by what another atom guards": (
        "r(z, z) :- b(y), a(x, y), z = 12 / y, a(x, z).",
        {"a": [(1, 3), (1, 4), (2, 0)], "b": [(3,)]},
    ),
    "a text that is a number": (
        'r(n, m) :- s(t), match("[0-9]+", t), n = to_number(t), a(n, m), b(m).',
        {"s": [("7",), ("x",)], "a": [(7, 1)], "b": [(1,)]},
    ),
    "a record that is not nil": (
        "r(x, y) :- p(v), v = [x, y], a(x, y), b(x), p(v).",
        {"p": [(None,), ((1, 2),)], "a": [(1, 2)], "b": [(1,)]},
    ),
    "a range": ("r(x, y) :- b(n), x = range(0, n), a(x, y), b(y).", {"b": [(3,), (1,)], "a": [(2, 1), (0, 3), (5, 1)]}),
    "a range that no atom reads": ("r(x, i) :- b(x), a(x, n), i = range(0, n).", {"b": [(3,)], "a": [(3, 2), (4, 9)]}),
    "an empty range": ("r(x, x) :- b(x), a(x, n), i = range(0, n).", {"b": [(3,), (4,)], "a": [(3, 0), (4, 1)]}),
    "a computed join": ("r(x, z) :- a(x, y), z = x + y, b(z), a(z, _).", {"a": [(1, 2), (3, 9)], "b": [(3,)]}),
    "one atom's computed join": ("r(x, z) :- a(x, _), z = x + 1, b(z), b(x).", {"a": [(1, 2)], "b": [(1,), (2,)]}),
    "a constant": ("r(x, y) :- y = 2, a(x, y), b(x), !b(y).", {"a": [(1, 2), (5, 2)], "b": [(1,)]}),
    "negation of a constant": (
        "r(x, y) :- a(x, y), b(x), !a(y, 9), !a(y, y).",
        {"a": [(1, 2), (1, 3), (3, 9)], "b": [(1,)]},
    ),
    "an aggregate": (
        "r(x, n) :- b(x), a(x, y), n = count : { a(y, _) }.",
        {"a": [(1, 2), (2, 3), (2, 4)], "b": [(1,)]},
    ),
}


@pytest.mark.parametrize("name", GUARDED)
def test_planning_keeps_the_meaning(name: str) -> None:
    rule, facts = GUARDED[name]
    declarations = """
        .type Pair = [x: number, y: number]
        .decl a(x: number, y: number) .decl b(x: number) .decl s(x: symbol) .decl p(x: Pair)
        .decl r(x: number, y: number)
    """
    program = lowered(declarations + rule)
    result = structural(program, PassContext(frozenset({"r"})))
    verify(result)
    assert result is not program
    expected = answer(program, **facts)  # type: ignore[arg-type]
    assert expected
    assert answer(result, **facts) == expected  # type: ignore[arg-type]


# --- Time -----------------------------------------------------------------------------------------


def long_rule(shape: str, atoms: int) -> str:
    rng = random.Random(1)
    bodies = {
        "chain": [(f"v{i}", f"v{i + 1}") for i in range(atoms)],
        "star": [("v0", f"v{i + 1}") for i in range(atoms)],
        "cycle": [(f"v{i}", f"v{(i + 1) % atoms}") for i in range(atoms)],
        "random": [(f"v{rng.randrange(12)}", f"v{rng.randrange(12)}") for _ in range(atoms)],
    }
    body = ", ".join(f"e{i % 7}({x}, {y})" for i, (x, y) in enumerate(bodies[shape]))
    declarations = "".join(f".decl e{i}(x: number, y: number) .input e{i}\n" for i in range(7))
    return f"{declarations}.decl r(x: number, y: number) r(x, y) :- {body}, x = {bodies[shape][0][0]}, y = x."


@pytest.mark.parametrize("shape", ["chain", "star", "cycle", "random"])
def test_thirty_atoms_are_planned_in_a_second(shape: str) -> None:
    program = lowered(long_rule(shape, 30))
    start = process_time()
    result = structural(program, PassContext(frozenset({"r"})))
    assert process_time() - start < slowness()
    verify(result)
    assert result is not program
