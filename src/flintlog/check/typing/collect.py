"""A clause -> the constraints on the types of its arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from flintlog.check.checked import Clause, Literal, NegatedAtom, Relation, SubsumptiveClause
from flintlog.check.clauses.traverse import conjuncts
from flintlog.check.grounding.groundedness import Term, folds
from flintlog.check.grounding.scopes import Scopes, head_and_body
from flintlog.check.missing import Missing
from flintlog.check.typing.constraints import (
    Below,
    BelowOneOf,
    Constraint,
    Equal,
    FieldOf,
    Overloaded,
    SameBase,
)
from flintlog.check.typing.lattice import RecordType, TypeEnv, TypeNode
from flintlog.check.typing.overloads import INFIX, OVERLOADS, Overload
from flintlog.syntax import ast
from flintlog.types import Kind


@dataclass(frozen=True, eq=False)
class Context:
    """What holds for the whole program."""

    env: TypeEnv
    relations: Mapping[str, Relation]
    functors: Mapping[str, ast.FunctorDecl]
    word_size: int = 64
    is_legacy: bool = False
    missing: Missing = field(default_factory=Missing)


@dataclass(eq=False)
class Resolved:
    """What earlier rounds decided: the overload of a built-in, the kind of a numeric literal, by identity."""

    overloads: dict[int, Overload] = field(default_factory=dict)
    literals: dict[int, Kind] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class AtomUse:
    """An atom with its relation. A sink (a head, a negated atom) takes values, all others give them."""

    atom: ast.Atom
    relation: Relation
    is_sink: bool
    is_negated: bool


class Collector:
    """The constraints of one clause, with the nodes they speak about. `is_incomplete` is set when a name or an arity is
    wrong, which the check of names reports; `is_loose` when a column's type is unknown, so that it takes anything."""

    def __init__(self, context: Context, scopes: Scopes, resolved: Resolved) -> None:
        self.constraints: list[Constraint] = []
        self.nodes: list[ast.Argument] = []
        self.atoms: list[AtomUse] = []
        self.comparisons: list[ast.Constraint] = []
        self.functors: list[ast.Functor] = []
        self.numbers: list[ast.NumberLit] = []
        self.folded: set[int] = set()
        self.is_incomplete = False
        self.is_loose = False
        self.is_simple = True
        self._context = context
        self._env = context.env
        self._keys = scopes.keys
        self._resolved = resolved

    def key(self, node: ast.Argument) -> Term:
        if type(node) is ast.Variable:
            return self._keys.get(id(node), node.name)
        return id(node)

    def add_clause(self, clause: Clause | SubsumptiveClause) -> None:
        head, body = head_and_body(clause)
        if isinstance(clause, Clause):
            self._atom(head, is_sink=True)
        for literal in body:
            self._literal(literal)

    def add_operator(self, node: ast.Argument, limit: TypeNode) -> None:
        """A lattice's operator: operands and result are of the lattice's type."""
        self._add(Below(id(node), limit))
        self._argument(node)
        for inner in self.nodes:
            if isinstance(inner, ast.Unnamed):
                self._add(Below(id(inner), limit))

    def _add(self, constraint: Constraint) -> None:
        self.is_simple = False
        self.constraints.append(constraint)

    # --- Literals ---------------------------------------------------------------------------------

    def _literal(self, literal: Literal | ast.Body) -> None:
        if isinstance(literal, ast.Atom):
            self._atom(literal)
        elif isinstance(literal, ast.Constraint):
            self._comparison(literal)
        elif isinstance(literal, NegatedAtom):
            self._atom(literal.atom, is_sink=True, is_negated=True)
        elif isinstance(literal, ast.Negation) and isinstance(literal.body, ast.Atom):
            self._atom(literal.body, is_sink=True, is_negated=True)

    def _atom(self, atom: ast.Atom, *, is_sink: bool = False, is_negated: bool = False) -> None:
        relation = self._context.relations.get(atom.name)
        if relation is None or len(relation.attributes) != len(atom.args):
            self.is_incomplete = True
        else:
            self.atoms.append(AtomUse(atom, relation, is_sink, is_negated))
            types = self._env.nodes
            for arg, attribute in zip(atom.args, relation.attributes, strict=True):
                declared = types.get(attribute.type)
                if declared is None:
                    self.is_loose = True
                elif not is_sink:
                    self.constraints.append(Below(self.key(arg), declared))
                else:
                    self._sink(arg, declared)
        for arg in atom.args:
            self._argument(arg)

    def _sink(self, arg: ast.Argument, declared: TypeNode) -> None:
        if isinstance(declared, RecordType):
            self.constraints.append(Below(self.key(arg), declared))
        elif declared.kind in self._env.constants:
            self.constraints.append(Below(self.key(arg), self._env.constants[declared.kind]))

    def _comparison(self, literal: ast.Constraint) -> None:
        pairs = folds(literal)
        if pairs is not None:
            for side in (literal.left, literal.right):
                self.nodes.append(side)
                self.folded.add(id(side))
            for left, right in pairs:
                self._comparison(ast.Constraint(literal.op, left, right, span=literal.span))
            return
        self.comparisons.append(literal)
        self._add(Equal(self.key(literal.left), self.key(literal.right)))
        self._argument(literal.left)
        self._argument(literal.right)

    # --- Arguments --------------------------------------------------------------------------------

    def _argument(self, node: ast.Argument) -> None:
        self.nodes.append(node)
        match node:
            case ast.Variable() | ast.Unnamed() | ast.Nil():
                pass
            case ast.StringLit():
                self.constraints.append(Below(id(node), self._env.constants[Kind.SYMBOL]))
            case ast.NumberLit():
                self._number(node)
            case ast.Functor():
                self._functor(node)
            case ast.Aggregate():
                self._aggregate(node)
            case ast.RecordInit():
                for index, arg in enumerate(node.args):
                    self._add(FieldOf(self.key(arg), id(node), index))
                self._arguments(node.args)
            case ast.BranchInit():
                self._branch(node)
            case ast.Cast():
                self._cast(node)
            case ast.UserFunctor():
                self._user_functor(node)
            case ast.UserAggregate():
                self._user_aggregate(node)
            case ast.HeadAggregate():
                self._head_aggregate(node)
            case ast.Counter():
                self._add(Below(id(node), self._env.constants[Kind.NUMBER]))
            case ast.Iteration():
                self._add(Below(id(node), self._env.constants[Kind.UNSIGNED]))

    def _arguments(self, args: tuple[ast.Argument, ...]) -> None:
        for arg in args:
            self._argument(arg)

    def _number(self, node: ast.NumberLit) -> None:
        self.numbers.append(node)
        kind = Kind(node.fixed) if node.fixed else self._resolved.literals.get(id(node))
        self._add(BelowOneOf(id(node), self._env.numeric if kind is None else (self._env.constants[kind],)))

    def _functor(self, node: ast.Functor) -> None:
        self.functors.append(node)
        keys = [self.key(arg) for arg in node.args]
        is_infix, is_raw = node.op in INFIX, node.op == "ord"
        overload = self._resolved.overloads.get(id(node))
        if overload is None:
            candidates = OVERLOADS.get(node.op, ())
            self._add(Overloaded(id(node), keys, candidates, is_infix=is_infix, is_raw=is_raw))
        if is_infix:
            for key in keys:
                self._add(SameBase(key, id(node)))
        elif overload is not None:
            self._add(Below(id(node), self._env.constants[overload.result]))
            for position, key in enumerate(() if is_raw else keys):
                self._add(Below(key, self._env.constants[overload.param(position)]))
        self._arguments(node.args)

    def _branch(self, node: ast.BranchInit) -> None:
        adt = self._env.branches.get(node.branch)
        if adt is not None:
            self._add(Below(id(node), adt))
            fields = adt.branches[node.branch]
            if len(fields) == len(node.args):
                for arg, declared in zip(node.args, fields, strict=True):
                    self._add(Below(self.key(arg), declared))
        self._arguments(node.args)

    def _cast(self, node: ast.Cast) -> None:
        target = self._env.nodes.get(node.type)
        if target is not None:
            self._add(Below(id(node), target))
            # A literal takes its type from the cast: as(2, float) is the float 2.
            if isinstance(node.arg, ast.NumberLit | ast.StringLit | ast.Nil):
                self._add(Below(id(node.arg), target))
        self._argument(node.arg)

    def signature(self, name: str) -> tuple[list[TypeNode], TypeNode] | None:
        """Parameter and result types of a user's functor; None when it or one of its types is unknown."""
        decl = self._context.functors.get(name)
        if decl is None:
            return None
        types = [self._env.nodes.get(a.type) for a in (*decl.params, decl.result)]
        known = [t for t in types if t is not None]
        return (known[:-1], known[-1]) if len(known) == len(types) else None

    def _user_functor(self, node: ast.UserFunctor) -> None:
        signature = self.signature(node.name)
        if signature is None:
            self.is_incomplete = True
        elif len(signature[0]) == len(node.args):
            self._add(Below(id(node), signature[1]))
            for arg, declared in zip(node.args, signature[0], strict=True):
                self._add(Below(self.key(arg), declared))
        self._arguments(node.args)

    # --- Aggregates -------------------------------------------------------------------------------

    def _aggregate(self, node: ast.Aggregate) -> None:
        constants = self._env.constants
        if node.op == "count":
            self._add(Below(id(node), constants[Kind.NUMBER]))
        elif node.op == "mean":
            self._add(Below(id(node), constants[Kind.FLOAT]))
        else:
            self._add(BelowOneOf(id(node), self._env.numeric))
        if node.target is not None:
            self._add(Equal(self.key(node.target), id(node)))
            self._argument(node.target)
        for literal in conjuncts(node.body):
            self._literal(literal)

    def _user_aggregate(self, node: ast.UserAggregate) -> None:
        signature = self.signature(node.name)
        if signature is None:
            self.is_incomplete = True
        else:
            params, result = signature
            self._add(Below(self.key(node.init), result))
            self._add(Below(id(node), result))
            if node.target is not None and len(params) == 2:
                self._add(Below(self.key(node.target), params[1]))
        if node.target is not None:
            self._argument(node.target)
        self._argument(node.init)
        for literal in conjuncts(node.body):
            self._literal(literal)

    def _head_aggregate(self, node: ast.HeadAggregate) -> None:
        constants = self._env.constants
        if node.op == "count":
            self._add(BelowOneOf(id(node), (constants[Kind.NUMBER], constants[Kind.UNSIGNED])))
        elif node.op == "mean":
            self._add(Below(id(node), constants[Kind.FLOAT]))
            self._add(BelowOneOf(self.key(node.arg), self._env.numeric))
        else:
            self._add(BelowOneOf(id(node), self._env.numeric))
            self._add(SameBase(self.key(node.arg), id(node)))
        self._argument(node.arg)
