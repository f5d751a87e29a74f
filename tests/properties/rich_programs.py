"""Random programs as syntax trees, over more of the language than brute force can follow: arithmetic, records, nullary
relations, disjunction, nested negation, aggregates in aggregates, MIN and MAX in heads, mutual recursion, many strata.

Every number is below MODULUS, so that every fixpoint is finite. Variables of the clause are v … z for numbers and p, q
for records; those of an aggregate have the number of its depth in their name, so that none is a witness.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from flintlog.syntax import ast

MODULUS = 5
NUMBERS, PAIRS = ("x", "y", "z"), ("p", "q")
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")

# A relation's columns: n for a number, p for a pair of numbers.
Signatures = dict[str, str]
INPUTS: Signatures = {"e": "nn", "f": "n", "g": "p"}

_TYPES = {"n": "number", "p": "Pair"}
_values = st.integers(0, MODULUS - 1)


def number(value: int) -> ast.NumberLit:
    return ast.NumberLit(str(value))


def modulo(argument: ast.Argument) -> ast.Functor:
    return ast.Functor("%", (argument, number(MODULUS)))


@dataclass(frozen=True)
class Scope:
    """The variables that have a value, by kind, and the relations that negation and aggregates may read."""

    numbers: tuple[str, ...]
    pairs: tuple[str, ...]
    below: Signatures

    def __add__(self, atoms: list[ast.Atom]) -> Scope:
        names = [n.name for atom in atoms for arg in atom.args for n in _direct(arg)]
        numbers = [n for n in names if n not in PAIRS]
        pairs = [n for n in names if n in PAIRS]
        return Scope(_distinct(self.numbers, numbers), _distinct(self.pairs, pairs), self.below)


def _direct(arg: ast.Argument) -> list[ast.Variable]:
    if isinstance(arg, ast.RecordInit):
        return [variable for part in arg.args for variable in _direct(part)]
    return [arg] if isinstance(arg, ast.Variable) else []


def _distinct(*names: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for some in names for name in some))


# --- Arguments ------------------------------------------------------------------------------------


@st.composite
def _matched(draw: DrawFn, column: str, names: tuple[str, ...]) -> ast.Argument:
    """An argument of a positive atom: what it has need not be known."""
    if column == "p":
        form = draw(st.sampled_from(("variable", "pattern", "_")))
        if form == "pattern":
            return ast.RecordInit((draw(_matched("n", names)), draw(_matched("n", names))))
        return ast.Unnamed() if form == "_" else ast.Variable(draw(st.sampled_from(PAIRS)))
    form = draw(st.sampled_from(("variable", "variable", "variable", "constant", "_")))
    if form == "variable":
        return ast.Variable(draw(st.sampled_from(names)))
    return ast.Unnamed() if form == "_" else number(draw(_values))


@st.composite
def _computed(draw: DrawFn, scope: Scope, depth: int = 0) -> ast.Argument:
    """A number from what is known."""
    form = draw(st.sampled_from(("variable", "variable", "constant", "+", "*", "max")))
    if form in ("+", "*", "max") and depth < 2:
        both = (draw(_computed(scope, depth + 1)), draw(_computed(scope, depth + 1)))
        return ast.Functor("max", both) if form == "max" else modulo(ast.Functor(form, both))
    if form != "constant" and scope.numbers:
        return ast.Variable(draw(st.sampled_from(scope.numbers)))
    return number(draw(_values))


@st.composite
def _known(draw: DrawFn, column: str, scope: Scope) -> ast.Argument:
    if column == "n":
        return draw(_computed(scope))
    as_variable = draw(st.booleans())
    if scope.pairs and as_variable:
        return ast.Variable(draw(st.sampled_from(scope.pairs)))
    return ast.RecordInit((draw(_computed(scope)), draw(_computed(scope))))


@st.composite
def _aggregate(draw: DrawFn, scope: Scope, depth: int) -> ast.Argument:
    own = (f"k{depth}", f"l{depth}")
    atoms = draw(st.lists(_atom(scope.below, (*own, *own, *scope.numbers)), min_size=1, max_size=2))
    # A record variable would be one of the clause, or a witness.
    atoms = [ast.Atom(a.name, tuple(ast.Unnamed() if _is_pair(arg) else arg for arg in a.args)) for a in atoms]
    inside = scope + atoms
    local = [name for name in inside.numbers if name in own]
    body: list[ast.Body] = [*atoms]
    if draw(st.booleans()):
        body.append(draw(_test(inside, depth=2)))
    if depth < 2 and draw(st.booleans()):
        nested = draw(_aggregate(inside, depth + 1))
        body.append(ast.Constraint(draw(st.sampled_from(COMPARISONS)), draw(_computed(inside)), modulo(nested)))
    op = draw(st.sampled_from(("count", "sum", "min", "max"))) if local else "count"
    target = None if op == "count" else ast.Variable(draw(st.sampled_from(local)))
    conjunction = ast.Conjunction(tuple(body)) if len(body) > 1 else body[0]
    return modulo(ast.Aggregate(op, target, conjunction))


def _is_pair(arg: ast.Argument) -> bool:
    return isinstance(arg, ast.Variable) and arg.name in PAIRS


# --- Literals -------------------------------------------------------------------------------------


@st.composite
def _atom(draw: DrawFn, readable: Signatures, names: tuple[str, ...] = NUMBERS) -> ast.Atom:
    name = draw(st.sampled_from(sorted(readable)))
    return ast.Atom(name, tuple(draw(_matched(column, names)) for column in readable[name]))


@st.composite
def _known_atom(draw: DrawFn, scope: Scope, *, wildcards: bool) -> ast.Atom:
    name = draw(st.sampled_from(sorted(scope.below)))
    args = [
        ast.Unnamed() if wildcards and draw(st.integers(0, 3)) == 0 else draw(_known(column, scope))
        for column in scope.below[name]
    ]
    return ast.Atom(name, tuple(args))


@st.composite
def _test(draw: DrawFn, scope: Scope, depth: int = 0) -> ast.Body:
    """A literal that binds nothing. In an aggregate (depth 2) it has no alternatives."""
    forms = ("compare", "compare", "denied", "atom", *(("both", "either", "not both", "not either") * (depth < 2)))
    form = draw(st.sampled_from(forms))
    if form == "compare":
        return ast.Constraint(draw(st.sampled_from(COMPARISONS)), draw(_computed(scope)), draw(_computed(scope)))
    if form in ("denied", "atom"):
        atom = draw(_known_atom(scope, wildcards=True))
        return ast.Negation(atom) if form == "denied" else atom
    parts = (draw(_test(scope, depth + 1)), draw(_test(scope, depth + 1)))
    body = ast.Conjunction(parts) if form.endswith("both") else ast.Disjunction(parts)
    return ast.Negation(body) if form.startswith("not") else body


@st.composite
def _binder(draw: DrawFn, scope: Scope, name: str) -> tuple[ast.Body, Scope]:
    """A literal that gives a value to one more variable."""
    forms = ["computed", "either", "aggregate", *(["taken apart"] * bool(scope.pairs))]
    form = draw(st.sampled_from(forms))
    variable = ast.Variable(name)
    grown = Scope(_distinct(scope.numbers, (name,)), scope.pairs, scope.below)
    if form == "taken apart":
        pair = ast.Variable(draw(st.sampled_from(scope.pairs)))
        other = draw(_matched("n", (*NUMBERS, name)))
        sides: list[ast.Argument] = [pair, ast.RecordInit(tuple(draw(st.permutations((variable, other)))))]
        return ast.Constraint("=", *draw(st.permutations(sides))), grown
    if form == "either":
        choices = [ast.Constraint("=", variable, draw(_computed(scope))) for _ in range(2)]
        return ast.Disjunction(tuple(choices)), grown
    value = draw(_computed(scope) if form == "computed" else _aggregate(scope, 0))
    return ast.Constraint("=", *draw(st.permutations([variable, value]))), grown


# --- Rules and programs ---------------------------------------------------------------------------


@st.composite
def _rule(draw: DrawFn, name: str, readable: Signatures, below: Signatures, head_op: str | None) -> ast.Rule:
    atoms = draw(st.lists(_atom(readable), min_size=1, max_size=3))
    scope = Scope((), (), below) + atoms
    body: list[ast.Body] = [*atoms]
    for bound in ("v", "w")[: draw(st.integers(0, 2))]:
        literal, scope = draw(_binder(scope, bound))
        body.append(literal)
    body += draw(st.lists(_test(scope), max_size=2))
    args = [draw(_known(column, scope)) for column in readable[name]]
    if head_op is not None:
        args[-1] = ast.HeadAggregate(head_op, args[-1])
    return ast.Rule((ast.Atom(name, tuple(args)),), body[0] if len(body) == 1 else ast.Conjunction(tuple(body)))


@st.composite
def _facts(draw: DrawFn) -> list[ast.Rule]:
    facts = []
    for name, columns in INPUTS.items():
        for row in sorted(draw(st.sets(st.tuples(_values, _values), min_size=1, max_size=5))):
            record = ast.RecordInit(tuple(map(number, row)))
            args = (record,) if columns == "p" else tuple(map(number, row[: len(columns)]))
            facts.append(ast.Rule((ast.Atom(name, args),)))
    return facts + [ast.Rule((ast.Atom("g", (ast.Nil(),)),))] * draw(st.integers(0, 1))


def declaration(name: str, columns: str, qualifiers: tuple[str, ...] = ()) -> ast.RelationDecl:
    attributes = tuple(ast.Attribute(f"c{i}", _TYPES[column]) for i, column in enumerate(columns))
    return ast.RelationDecl(name, attributes, qualifiers)


class Generated:
    """A program that Hypothesis shows by a short name; tests note its text, which says more than its tree."""

    def __init__(self, program: ast.Program) -> None:
        self.program = program

    def __repr__(self) -> str:
        return "<program>"


PAIR = ast.RecordType("Pair", (ast.Attribute("a", "number"), ast.Attribute("b", "number")))


@st.composite
def programs(draw: DrawFn) -> Generated:
    """Types and declarations first, then facts, then the rules stratum by stratum; every relation is an output."""
    signatures = dict(INPUTS)
    rules: list[ast.Rule] = draw(_facts())
    for layer in range(draw(st.integers(1, 2))):
        columns = st.sampled_from(("n", "nn", "p", "np", ""))
        group = {f"r{layer}{letter}": draw(columns) for letter in "ab"[: draw(st.integers(1, 2))]}
        readable = {**signatures, **group}
        for name, kinds in group.items():
            ops = (None, None, "min", "max") if kinds.endswith("n") else (None,)
            head_op = draw(st.sampled_from(ops))
            rules += draw(st.lists(_rule(name, readable, signatures, head_op), min_size=1, max_size=2))
        signatures = readable
    declarations = [declaration(name, columns) for name, columns in signatures.items()]
    outputs = [ast.Directive("output", name) for name in signatures]
    return Generated(ast.Program((PAIR, *declarations, *outputs, *rules)))


def relations_of(program: ast.Program) -> dict[str, ast.RelationDecl]:
    return {item.name: item for item in program.items if isinstance(item, ast.RelationDecl)}


def rules_of(program: ast.Program) -> list[ast.Rule]:
    return [item for item in program.items if isinstance(item, ast.Rule)]
