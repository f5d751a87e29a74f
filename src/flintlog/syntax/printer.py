"""Syntax tree to text: what `parse` reads back as the same tree."""

from __future__ import annotations

from collections.abc import Iterable

from flintlog.syntax import ast
from flintlog.syntax.literals import quote

_INDENT = "  "

# How tightly operators bind; a parenthesis goes around what binds less tightly than its surroundings ask.
_INFIX = {
    "lor": 1,
    "lxor": 2,
    "land": 3,
    "bor": 4,
    "bxor": 5,
    "band": 6,
    "bshl": 7,
    "bshr": 7,
    "bshru": 7,
    "+": 8,
    "-": 8,
    "*": 9,
    "/": 9,
    "%": 9,
    "^": 11,
}
_PREFIX = {"neg": "-", "bnot": "bnot ", "lnot": "lnot "}
_PREFIX_BINDING = 10
_TIGHTEST = 12
_HEAD_AGGREGATES = {"count": "COUNT", "sum": "SUM", "min": "MIN", "max": "MAX", "mean": "AVG"}


def print_program(program: ast.Program) -> str:
    """The program as source text, one item a line.

    >>> print_program(ast.Program((ast.Override("r"),)))
    '.override r\\n'
    """
    return "".join(print_item(item) + "\n" for item in program.items)


# --- Arguments ------------------------------------------------------------------------------------


def print_argument(argument: ast.Argument) -> str:
    """
    >>> x = ast.Variable("x")
    >>> print_argument(ast.Functor("*", (ast.Functor("+", (x, x)), x)))
    '(x + x) * x'
    """
    return _argument(argument, 0)


def _argument(argument: ast.Argument, least: int) -> str:
    """The argument, in parentheses if it binds less tightly than `least`."""
    text, binding = _with_binding(argument)
    return f"({text})" if binding < least else text


def _with_binding(argument: ast.Argument) -> tuple[str, int]:
    match argument:
        case ast.Functor(op, (left, right)) if op in _INFIX:
            binding = _INFIX[op]
            # A prefix operator would swallow a power to its right, so both sides of one bind tighter than it.
            left_least, right_least = (binding + 1, binding) if op == "^" else (binding, binding + 1)
            return f"{_argument(left, left_least)} {op} {_argument(right, right_least)}", binding
        case ast.Functor(op, (operand,)) if op in _PREFIX:
            return _PREFIX[op] + _argument(operand, _PREFIX_BINDING), _PREFIX_BINDING
        case ast.NumberLit(text, fixed):
            text += "u" if fixed == "unsigned" else ""
            return text, _PREFIX_BINDING if text.startswith("-") else _TIGHTEST
        case _:
            return _primary(argument), _TIGHTEST


def _primary(argument: ast.Argument) -> str:
    match argument:
        case ast.Variable(name):
            return name
        case ast.Unnamed():
            return "_"
        case ast.StringLit(value):
            return quote(value)
        case ast.Nil():
            return "nil"
        case ast.Counter():
            return "autoinc()"
        case ast.Iteration():
            return "__ITERATION__()"
        case ast.RecordInit(args):
            return f"[{_arguments(args)}]"
        case ast.BranchInit(branch, args):
            return f"${branch}({_arguments(args)})"
        case ast.Cast(arg, type_name):
            return f"as({print_argument(arg)}, {type_name})"
        case ast.UserFunctor(name, args):
            return f"@{name}({_arguments(args)})"
        case ast.Functor(op, args):
            return f"{op}({_arguments(args)})"
        case ast.HeadAggregate(op, arg):
            return f"{_HEAD_AGGREGATES[op]}({print_argument(arg)})"
        case ast.Aggregate(op, target, body):
            return f"{op}{_target(target)} : {{ {print_body(body)} }}"
        case ast.UserAggregate(name, target, init, body):
            return f"@@{name}{_target(target)} : {print_argument(init)}, {{ {print_body(body)} }}"
        case _:
            raise AssertionError(f"not an argument that stands alone: {argument!r}")


def _target(target: ast.Argument | None) -> str:
    return "" if target is None else " " + print_argument(target)


def _arguments(arguments: Iterable[ast.Argument]) -> str:
    return ", ".join(map(print_argument, arguments))


# --- Bodies ---------------------------------------------------------------------------------------


def print_body(body: ast.Body) -> str:
    """
    >>> a, b = ast.Atom("a", ()), ast.Atom("b", ())
    >>> print_body(ast.Conjunction((ast.Disjunction((a, b)), ast.Negation(a))))
    '(a() ; b()), !a()'
    """
    match body:
        case ast.Disjunction(items):
            return " ; ".join(_nested(item, ast.Disjunction) for item in items)
        case ast.Conjunction(items):
            return ", ".join(_nested(item, ast.Conjunction, ast.Disjunction) for item in items)
        case ast.Negation(inner):
            return "!" + _nested(inner, ast.Conjunction, ast.Disjunction)
        case ast.Atom(name, args):
            return f"{name}({_arguments(args)})"
        case ast.BoolLit(value):
            return "true" if value else "false"
        case ast.Constraint(op, left, right) if op in ("match", "contains"):
            return f"{op}({print_argument(left)}, {print_argument(right)})"
        case ast.Constraint(op, left, right) if op in ("not_match", "not_contains"):
            return f"!{op.removeprefix('not_')}({print_argument(left)}, {print_argument(right)})"
        case ast.Constraint(op, left, right):
            return f"{print_argument(left)} {op} {print_argument(right)}"


def _nested(body: ast.Body, *in_parentheses: type[ast.Node]) -> str:
    return f"({print_body(body)})" if isinstance(body, in_parentheses) else print_body(body)


# --- Items ----------------------------------------------------------------------------------------


def print_item(item: ast.Item) -> str:
    """One item, without a line break at its end."""
    match item:
        case ast.Rule(heads, body, plan):
            text = ", ".join(map(print_body, heads)) + ("" if body is None else f" :- {print_body(body)}")
            return f"{text}.{_plan(plan)}"
        case ast.Subsumption(dominated, dominating, body, plan):
            return f"{print_body(dominated)} <= {print_body(dominating)} :- {print_body(body)}.{_plan(plan)}"
        case ast.RelationDecl():
            return _relation(item)
        case ast.Directive(kind, relation, params):
            listed = ", ".join(f"{p.key}={quote(p.value)}" for p in params)
            return f".{kind} {relation}" + (f"({listed})" if params else "")
        case ast.Component():
            return _component(item)
        case ast.Init(name, component):
            return f".init {name} = {_component_type(component)}"
        case ast.Override(relation):
            return f".override {relation}"
        case ast.Pragma(key, value):
            return f".pragma {quote(key)}" + (f" {quote(value)}" if value else "")
        case ast.FunctorDecl(name, params, result, stateful):
            return f".functor {name}({_attributes(params)}): {result.type}" + (" stateful" if stateful else "")
        case ast.LatticeDecl(name, operators):
            return f".lattice {name}<> {{ {', '.join(f'{op} -> {print_argument(arg)}' for op, arg in operators)} }}"
        case _:
            return _type(item)


def _type(item: ast.TypeDecl) -> str:
    match item:
        case ast.SubsetType(name, base):
            return f".type {name} <: {base}"
        case ast.UnionType(name, members):
            return f".type {name} = {' | '.join(members)}"
        case ast.RecordType(name, fields):
            return f".type {name} = [{_attributes(fields)}]"
        case ast.AdtType(name, branches):
            return f".type {name} = {' | '.join(f'{b.name} {{{_attributes(b.fields)}}}' for b in branches)}"


def _attributes(attributes: Iterable[ast.Attribute]) -> str:
    return ", ".join(f"{a.name}: {a.type}" + "<>" * a.lattice if a.name else a.type for a in attributes)


def _relation(item: ast.RelationDecl) -> str:
    shape = f"({_attributes(item.attributes)})" if item.delta_of is None else f" = debug_delta({item.delta_of})"
    words = "".join(f" {qualifier}" for qualifier in item.qualifiers)
    domains = ", ".join(keys[0] if len(keys) == 1 else f"({', '.join(keys)})" for keys in item.choice_domains)
    return f".decl {item.name}{shape}{words}" + (f" choice-domain {domains}" if domains else "")


def _plan(plan: ast.Plan | None) -> str:
    if plan is None:
        return ""
    orders = (f"{version}: ({', '.join(map(str, order))})" for version, order in plan.orders)
    return f"\n.plan {', '.join(orders)}"


def _component_type(component: ast.ComponentType) -> str:
    return component.name + (f"<{', '.join(component.params)}>" if component.params else "")


def _component(item: ast.Component) -> str:
    bases = f" : {', '.join(map(_component_type, item.bases))}" if item.bases else ""
    lines = [line for inner in item.items for line in print_item(inner).split("\n")]
    return "\n".join([f".comp {_component_type(item.type)}{bases} {{", *(_INDENT + line for line in lines), "}"])
