"""The syntax tree, as the parser builds it and the printer writes it.

Nodes are frozen; a span takes no part in equality. A name is a plain string, dots included (`comp.rel`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from flintlog.source import NOWHERE, Span


@dataclass(frozen=True, kw_only=True)
class Node:
    span: Span = field(default=NOWHERE, compare=False, repr=False)


# --- Arguments ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variable(Node):
    name: str


@dataclass(frozen=True)
class Unnamed(Node):
    """`_`"""


@dataclass(frozen=True)
class NumberLit(Node):
    """A numeric literal as written (`12`, `-0x1f`, `0b101`, `1.5`), without the suffix `u`.
    `fixed` is "unsigned" for a `u` suffix, "float" for a decimal point, else None: the type is inferred."""

    text: str
    fixed: str | None = None


@dataclass(frozen=True)
class StringLit(Node):
    """A symbol; `value` has its escapes resolved."""

    value: str


@dataclass(frozen=True)
class Nil(Node):
    """`nil`"""


@dataclass(frozen=True)
class Counter(Node):
    """`autoinc()`, or `$` in the old style."""


@dataclass(frozen=True)
class Iteration(Node):
    """`__ITERATION__()`"""


@dataclass(frozen=True)
class RecordInit(Node):
    """`[a, b]`"""

    args: tuple[Argument, ...]


@dataclass(frozen=True)
class BranchInit(Node):
    """`$Branch(a, b)`, or `$Branch` without arguments."""

    branch: str
    args: tuple[Argument, ...]


@dataclass(frozen=True)
class Cast(Node):
    """`as(x, type)`"""

    arg: Argument
    type: str


@dataclass(frozen=True)
class Functor(Node):
    """A built-in operation by its source name: `+ - * / % ^ band bor bxor bshl bshr bshru land lor lxor`,
    the unary `neg bnot lnot`, and `min max cat ord strlen substr range to_string to_number to_unsigned to_float
    itou itof utoi utof ftoi ftou` as written."""

    op: str
    args: tuple[Argument, ...]


@dataclass(frozen=True)
class UserFunctor(Node):
    """`@name(a, b)`"""

    name: str
    args: tuple[Argument, ...]


@dataclass(frozen=True)
class Aggregate(Node):
    """`sum x : { body }`; `op` is one of count, sum, min, max, mean. `target` is None for count."""

    op: str
    target: Argument | None
    body: Body


@dataclass(frozen=True)
class UserAggregate(Node):
    """`@@name x : init, { body }`: folds `@name(accumulated, x)` over the body, starting with `init`."""

    name: str
    target: Argument | None
    init: Argument
    body: Body


@dataclass(frozen=True)
class HeadAggregate(Node):
    """`MIN(x)` in a head, as FlowLog writes it; `op` is one of count, sum, min, max, mean (written AVG)."""

    op: str
    arg: Argument


Argument: TypeAlias = (
    Variable
    | Unnamed
    | NumberLit
    | StringLit
    | Nil
    | Counter
    | Iteration
    | RecordInit
    | BranchInit
    | Cast
    | Functor
    | UserFunctor
    | Aggregate
    | UserAggregate
    | HeadAggregate
)

# --- Bodies ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Atom(Node):
    """`rel(a, b)`. `name_span` is the place of the name alone."""

    name: str
    args: tuple[Argument, ...]
    name_span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Constraint(Node):
    """`op` is one of = != < <= > >= match contains, and in checked clauses also not_match, not_contains."""

    op: str
    left: Argument
    right: Argument


@dataclass(frozen=True)
class BoolLit(Node):
    """`true` or `false` as a constraint."""

    value: bool


@dataclass(frozen=True)
class Negation(Node):
    """`!term`, where the term may be an atom, a constraint or a whole parenthesised body."""

    body: Body


@dataclass(frozen=True)
class Conjunction(Node):
    """`a, b, c`; two items or more."""

    items: tuple[Body, ...]


@dataclass(frozen=True)
class Disjunction(Node):
    """`a ; b`; two items or more."""

    items: tuple[Body, ...]


Body: TypeAlias = Atom | Constraint | BoolLit | Negation | Conjunction | Disjunction

# --- Items of a program ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Attribute(Node):
    """`name: type`, or `name: type<>` for a lattice attribute. `name` is "" for an unnamed functor parameter."""

    name: str
    type: str
    lattice: bool = False


@dataclass(frozen=True)
class SubsetType(Node):
    """`.type name <: base`"""

    name: str
    base: str


@dataclass(frozen=True)
class UnionType(Node):
    """`.type name = a | b`; with one member it is an alias."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True)
class RecordType(Node):
    """`.type name = [x: number, y: name]`"""

    name: str
    fields: tuple[Attribute, ...]


@dataclass(frozen=True)
class Branch(Node):
    name: str
    fields: tuple[Attribute, ...]


@dataclass(frozen=True)
class AdtType(Node):
    """`.type name = A { x: number } | B {}`"""

    name: str
    branches: tuple[Branch, ...]


TypeDecl: TypeAlias = SubsetType | UnionType | RecordType | AdtType


@dataclass(frozen=True)
class LatticeDecl(Node):
    """`.lattice name<> { Bottom -> …, Lub -> @f(_, _), … }`; operators by their written name."""

    name: str
    operators: tuple[tuple[str, Argument], ...]


@dataclass(frozen=True)
class RelationDecl(Node):
    """One relation (`.decl a, b(…)` makes two). `choice_domains` holds each key's attribute names.
    Old-style qualifiers input, output, printsize stay qualifiers here; the checker turns them into directives.
    `delta_of` is set for `.decl d = debug_delta(r)`."""

    name: str
    attributes: tuple[Attribute, ...]
    qualifiers: tuple[str, ...] = ()
    choice_domains: tuple[tuple[str, ...], ...] = ()
    delta_of: str | None = None


@dataclass(frozen=True)
class FunctorDecl(Node):
    """`.functor f(number, x: symbol): number stateful`"""

    name: str
    params: tuple[Attribute, ...]
    result: Attribute
    stateful: bool = False


@dataclass(frozen=True)
class Plan(Node):
    """`.plan 0: (2, 1), 1: (1, 2)`; version number to order, both as written (orders count from 1)."""

    orders: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class Rule(Node):
    """`h1(…), h2(…) :- body.`; a fact has no body."""

    heads: tuple[Atom, ...]
    body: Body | None = None
    plan: Plan | None = None


@dataclass(frozen=True)
class Subsumption(Node):
    """`r(dominated) <= r(dominating) :- body.`"""

    dominated: Atom
    dominating: Atom
    body: Body
    plan: Plan | None = None


@dataclass(frozen=True)
class Parameter(Node):
    """`key=value` of a directive; the span covers both."""

    key: str
    value: str


@dataclass(frozen=True)
class Directive(Node):
    """`.input r(IO=file)`: one relation each; `kind` is input, output, printsize or limitsize."""

    kind: str
    relation: str
    params: tuple[Parameter, ...] = ()


@dataclass(frozen=True)
class Pragma(Node):
    key: str
    value: str = ""


@dataclass(frozen=True)
class ComponentType(Node):
    """`Name<A, B>`"""

    name: str
    params: tuple[str, ...] = ()


@dataclass(frozen=True)
class Component(Node):
    """`.comp Name<T> : Base<T>, Other { … }`"""

    type: ComponentType
    bases: tuple[ComponentType, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Override(Node):
    """`.override rel`, only inside a component."""

    relation: str


@dataclass(frozen=True)
class Init(Node):
    """`.init name = Component<T>`"""

    name: str
    component: ComponentType


Item: TypeAlias = (
    SubsetType
    | UnionType
    | RecordType
    | AdtType
    | LatticeDecl
    | RelationDecl
    | FunctorDecl
    | Rule
    | Subsumption
    | Directive
    | Pragma
    | Component
    | Override
    | Init
)


@dataclass(frozen=True)
class Unread:
    """What mistakes of syntax took away. `names` are those that the lost items would have declared, whatever they are
    names of, and `$` if there are branches of types among them; with `anything`, there may be others."""

    names: frozenset[str]
    anything: bool = False


@dataclass(frozen=True)
class Program(Node):
    """`unread` is None for a program of which every item could be read."""

    items: tuple[Item, ...]
    unread: Unread | None = field(default=None, compare=False)
