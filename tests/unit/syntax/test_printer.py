"""What is printed is read back as the same tree."""

from hypothesis import given, settings
from hypothesis import strategies as st

from flintlog.diagnostics import Report
from flintlog.source import SourceFile
from flintlog.syntax import ast
from flintlog.syntax.parser import parse
from flintlog.syntax.printer import print_program
from flintlog.syntax.tokens import RESERVED

NAMES = st.sampled_from(["a", "b1", "_x", "?y", "Edge", "itou", "number", "MIN", "True", "defined"])
QUALIFIED = st.lists(NAMES, min_size=1, max_size=3).map(".".join)
# A NUL makes a text no program (E119).
STRINGS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
INFIX = st.sampled_from("+ - * / % ^ band bor bxor bshl bshr bshru land lor lxor".split())
CALLS = st.sampled_from("cat ord range strlen substr to_float to_number to_string to_unsigned itou ftoi".split())


def tuples(strategy, low=0, high=2):
    return st.lists(strategy, min_size=low, max_size=high).map(tuple)


integers = st.sampled_from(["0", "12", "0x1f", "0b101", "-3", "-0x1f", "007"])
numbers = st.one_of(
    st.builds(ast.NumberLit, integers, st.sampled_from([None, "unsigned"])),
    st.builds(ast.NumberLit, st.sampled_from(["1.5", "-0.25", "1.5e-3", "2e8"]), st.just("float")),
)
leaves = st.one_of(
    st.builds(ast.Variable, NAMES),
    numbers,
    st.builds(ast.StringLit, STRINGS),
    st.sampled_from([ast.Unnamed(), ast.Nil(), ast.Counter(), ast.Iteration()]),
)


def negation(argument):
    """A minus before a literal becomes part of it."""
    if isinstance(argument, ast.NumberLit) and not argument.text.startswith("-"):
        return ast.NumberLit("-" + argument.text, argument.fixed)
    return ast.Functor("neg", (argument,))


@st.composite
def arguments(draw, depth=2):
    return draw(leaves if depth == 0 else leaves | compound(arguments(depth - 1), literals(depth - 1)))


def compound(inner, literal):
    plain = literal | tuples(literal, 2).map(ast.Conjunction)  # the body of an aggregate has no alternatives
    return st.one_of(
        st.builds(lambda op, left, right: ast.Functor(op, (left, right)), INFIX, inner, inner),
        inner.map(negation),
        st.builds(lambda op, operand: ast.Functor(op, (operand,)), st.sampled_from(["bnot", "lnot"]), inner),
        st.builds(ast.Functor, CALLS, tuples(inner)),
        st.builds(ast.Functor, st.sampled_from(["min", "max"]), tuples(inner, 2)),
        st.builds(ast.RecordInit, tuples(inner)),
        st.builds(ast.BranchInit, QUALIFIED, tuples(inner)),
        st.builds(ast.Cast, inner, QUALIFIED),
        st.builds(ast.UserFunctor, NAMES, tuples(inner)),
        st.builds(ast.HeadAggregate, st.sampled_from(["count", "sum", "min", "max", "mean"]), inner),
        st.builds(ast.Aggregate, st.just("count"), st.none(), plain),
        st.builds(ast.Aggregate, st.sampled_from(["sum", "min", "max", "mean"]), inner, plain),
        st.builds(ast.UserAggregate, NAMES, st.none() | inner, inner, plain),
    )


@st.composite
def literals(draw, depth=1):
    inner = arguments(depth)
    atoms = st.builds(ast.Atom, QUALIFIED, tuples(inner))
    operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "match", "contains"])
    constraints = st.builds(ast.Constraint, operators, inner, inner)
    return draw(st.one_of(atoms, constraints, st.builds(ast.BoolLit, st.booleans()), atoms.map(ast.Negation)))


@st.composite
def bodies(draw, depth=2):
    if depth == 0:
        return draw(literals())
    inner = bodies(depth - 1)
    several = tuples(inner, 2)
    nested = st.one_of(inner.map(ast.Negation), several.map(ast.Conjunction), several.map(ast.Disjunction))
    return draw(literals() | nested)


ARGUMENTS = arguments()
ATOMS = st.builds(ast.Atom, QUALIFIED, tuples(arguments(1)))
BODIES = bodies()
SMALL = st.integers(0, 9)
PLANS = st.none() | st.builds(ast.Plan, tuples(st.tuples(SMALL, tuples(SMALL)), 1))
ATTRIBUTES = tuples(st.builds(ast.Attribute, NAMES, QUALIFIED, st.booleans()))
PARAMETERS = tuples(st.builds(ast.Attribute, NAMES | st.just(""), QUALIFIED))
COMPONENT_TYPES = st.builds(ast.ComponentType, NAMES, tuples(QUALIFIED))
QUALIFIERS = st.lists(st.sampled_from(["btree_delete", "inline", "magic", "overridable", "input"]), unique=True)

RULES = st.one_of(
    st.builds(lambda head: ast.Rule((head,)), ATOMS),
    st.builds(ast.Rule, tuples(ATOMS, 1), BODIES, PLANS),
    st.builds(ast.Subsumption, ATOMS, ATOMS, BODIES, PLANS),
)
DECLARATIONS = st.one_of(
    st.builds(ast.SubsetType, NAMES, QUALIFIED),
    st.builds(ast.UnionType, NAMES, tuples(QUALIFIED, 1)),
    st.builds(ast.RecordType, NAMES, ATTRIBUTES),
    st.builds(ast.AdtType, NAMES, tuples(st.builds(ast.Branch, NAMES, ATTRIBUTES), 1)),
    st.builds(ast.LatticeDecl, NAMES, tuples(st.tuples(st.sampled_from(["Bottom", "Lub"]), ARGUMENTS), 1)),
    st.builds(ast.RelationDecl, NAMES, ATTRIBUTES, QUALIFIERS.map(tuple), tuples(tuples(NAMES, 1))),
    st.builds(lambda name, of: ast.RelationDecl(name, (), delta_of=of), NAMES, NAMES),
    st.builds(ast.Directive, st.sampled_from(["input", "output", "printsize", "limitsize"]), QUALIFIED)
    | st.builds(ast.Directive, st.just("input"), QUALIFIED, tuples(st.builds(ast.Parameter, NAMES, STRINGS))),
    st.builds(ast.Init, NAMES, COMPONENT_TYPES),
)
AT_TOP = st.one_of(
    st.builds(ast.Pragma, STRINGS, STRINGS),
    st.builds(ast.FunctorDecl, NAMES, PARAMETERS, st.builds(ast.Attribute, st.just(""), QUALIFIED), st.booleans()),
)
COMPONENTS = st.recursive(
    st.builds(ast.Component, COMPONENT_TYPES, tuples(COMPONENT_TYPES), tuples(RULES | DECLARATIONS)),
    lambda inner: st.builds(
        ast.Component,
        COMPONENT_TYPES,
        tuples(COMPONENT_TYPES),
        tuples(RULES | DECLARATIONS | inner | st.builds(ast.Override, NAMES)),
    ),
    max_leaves=3,
)
PROGRAMS = st.builds(ast.Program, tuples(RULES | DECLARATIONS | AT_TOP | COMPONENTS))


def assert_reads_back(program):
    text = print_program(program)
    report = Report()
    again = parse(SourceFile("printed.dl", text), report)
    assert report.errors == [], text
    assert again == program, text


@settings(max_examples=40, deadline=None)
@given(ARGUMENTS)
def test_arguments(argument):
    assert_reads_back(ast.Program((ast.Rule((ast.Atom("r", (argument,)),)),)))


@settings(max_examples=40, deadline=None)
@given(BODIES)
def test_bodies(body):
    assert_reads_back(ast.Program((ast.Rule((ast.Atom("r", ()),), body),)))


@settings(max_examples=40, deadline=None)
@given(PROGRAMS)
def test_programs(program):
    assert_reads_back(program)


def test_no_generated_name_is_reserved():
    assert not {"a", "b1", "_x", "?y", "Edge", "itou", "number", "MIN", "True", "defined"} & RESERVED
