"""Random programs: two relations of facts, and layers of recursive rules over them with negation and aggregates."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from tests.properties.brute_force import COMPARE, DOMAIN, Aggregate, Literal, Program, Rule, Term

VARIABLES = ("x", "y", "z")
LAYERS = 3

_values = st.integers(0, len(DOMAIN) - 1)


def _rows(arity: int) -> SearchStrategy[set[tuple[int, ...]]]:
    return st.sets(st.tuples(*[_values] * arity), min_size=1, max_size=6)


def _atom(names: dict[str, int], terms: SearchStrategy[Term]) -> SearchStrategy[Literal]:
    def build(name: str) -> SearchStrategy[Literal]:
        return st.builds(lambda ts: Literal(name, ts), st.tuples(*[terms] * names[name]))

    return st.sampled_from(sorted(names)).flatmap(build)


_positive_terms: SearchStrategy[Term] = st.one_of(
    st.sampled_from(VARIABLES), st.sampled_from(("_", *VARIABLES)), _values
)


@st.composite
def _rule(draw: DrawFn, name: str, below: dict[str, int], *, summary: bool) -> Rule:
    """A recursive rule of arity 2, or one with an aggregate as its third column."""
    readable = below if summary else {**below, name: 2}
    atoms = draw(st.lists(_atom(readable, _positive_terms), min_size=1, max_size=3))
    bound = sorted({t for atom in atoms for t in atom.terms if isinstance(t, str) and t != "_"})
    known: SearchStrategy[Term] = st.one_of(st.sampled_from(bound), _values) if bound else _values
    body = list(atoms)
    if draw(st.booleans()):
        denied = draw(_atom(below, st.one_of(known, st.just("_"))))
        body.append(Literal(denied.name, denied.terms, negated=True))
    if draw(st.booleans()):
        op = draw(st.sampled_from(sorted(COMPARE)))
        body.append(Literal(op, (draw(known), draw(known))))
    aggregate, head_terms = None, [draw(known) for _ in range(2)]
    if summary:
        inside = draw(st.lists(_atom(below, st.sampled_from((*VARIABLES, "v", "_"))), min_size=1, max_size=2))
        inside.append(draw(_atom(below, st.just("v"))))
        # Variables of the aggregate that the rule does not bind would be witnesses: they are local here.
        inside = [
            Literal(a.name, tuple(t if t in bound or t in ("v", "_") else f"l{t}" for t in a.terms)) for a in inside
        ]
        aggregate = Aggregate(draw(st.sampled_from(("count", "sum", "min", "max"))), "v", tuple(inside))
        head_terms.append("agg")
    order = draw(st.permutations(body))
    return Rule(Literal(name, tuple(head_terms)), tuple(order), aggregate)


@st.composite
def programs(draw: DrawFn) -> Program:
    facts = {"e": draw(_rows(2)), "f": draw(_rows(1))}
    below = {"e": 2, "f": 1}
    layers = []
    for i in range(draw(st.integers(1, LAYERS))):
        layers.append(tuple(draw(st.lists(_rule(f"p{i}", below, summary=False), min_size=1, max_size=3))))
        below = {**below, f"p{i}": 2}
        if draw(st.booleans()):
            # A relation with an aggregate may hold values outside the domain, so that nothing reads it.
            layers.append((draw(_rule(f"s{i}", below, summary=True)),))
    return Program(facts, tuple(layers))
