"""Clauses -> the kind of every argument: solve the constraints of a clause, decide overloads and literals, and again
until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from flintlog.check.checked import Clause, Lattice, SubsumptiveClause
from flintlog.check.grounding.scopes import Scopes, resolve_scopes
from flintlog.check.typing.collect import Collector, Context, Resolved
from flintlog.check.typing.constraints import Assignment, solve
from flintlog.check.typing.lattice import kind_of
from flintlog.check.typing.literals import literal_value
from flintlog.check.typing.overloads import OVERLOADS, Overload, preferred
from flintlog.check.typing.solution import Solution
from flintlog.check.typing.verify import check_functors, verify, verify_operator
from flintlog.diagnostics import Report
from flintlog.syntax import ast
from flintlog.types import Kind

# Far more rounds than any program needs; an operation whose types contradict each other might swing to and fro.
_ROUNDS = 25

_FIXED_KINDS: dict[type, Kind] = {
    ast.StringLit: Kind.SYMBOL,
    ast.Nil: Kind.RECORD,
    ast.RecordInit: Kind.RECORD,
    ast.BranchInit: Kind.ADT,
}


def infer_kinds(
    clauses: Sequence[Clause | SubsumptiveClause],
    lattices: Mapping[str, Lattice],
    context: Context,
    report: Report,
) -> dict[int, Kind]:
    """The kind of every argument node by identity. Type errors go to the report; a clause with an unknown name or a
    wrong number of arguments is passed over, and nothing is inferred when type declarations are wrong."""
    kinds: dict[int, Kind] = {}
    if not context.env.is_sound:
        return kinds
    check_functors(context, report)
    for clause in clauses:
        if isinstance(clause, SubsumptiveClause) or clause.body or not _fact_kinds(clause, context, kinds):
            _clause_kinds(clause, context, kinds, report)
    for lattice in lattices.values():
        _lattice_kinds(lattice, context, kinds, report)
    return kinds


def _fact_kinds(clause: Clause, context: Context, kinds: dict[int, Kind]) -> bool:
    """The short way for a fact of literals that fit; False sends it the long way, which has the words for an error."""
    relation = context.relations.get(clause.head.name)
    if relation is None or len(relation.attributes) != len(clause.head.args):
        return False
    nodes = context.env.nodes
    for arg, attribute in zip(clause.head.args, relation.attributes, strict=True):
        declared = nodes.get(attribute.type)
        kind = None if declared is None else declared.kind
        if type(arg) is ast.StringLit and kind is Kind.SYMBOL:
            kinds[id(arg)] = kind
        elif type(arg) is ast.NumberLit and kind is not None and kind.is_numeric:
            if arg.fixed not in (None, kind.value) or literal_value(arg.text, kind, context.word_size) is None:
                return False
            kinds[id(arg)] = kind
        else:
            return False
    return True


def _clause_kinds(clause: Clause | SubsumptiveClause, context: Context, kinds: dict[int, Kind], report: Report) -> None:
    scopes = resolve_scopes(clause)
    solution = _solve(lambda collector: collector.add_clause(clause), context, scopes)
    _assign(solution, kinds)
    if not solution.collector.is_incomplete:
        verify(clause, solution, report)


def _lattice_kinds(lattice: Lattice, context: Context, kinds: dict[int, Kind], report: Report) -> None:
    limit = context.env.nodes.get(lattice.name)
    for operator in (lattice.bottom, lattice.lub, lattice.glb):
        if operator is not None and limit is not None:
            solution = _solve(partial(Collector.add_operator, node=operator, limit=limit), context, Scopes({}, ()))
            _assign(solution, kinds)
            if not solution.collector.is_incomplete:
                verify_operator(operator, solution, report)


def _solve(collect: Callable[[Collector], None], context: Context, scopes: Scopes) -> Solution:
    resolved = Resolved()
    rounds = 0
    while True:
        collector = Collector(context, scopes, resolved)
        collect(collector)
        types = solve(collector.constraints, context.env, once=collector.is_simple)
        rounds += 1
        if not _decide(collector, types, resolved) or rounds == _ROUNDS:
            return Solution(context, collector, types, resolved)


def _decide(collector: Collector, types: Assignment, resolved: Resolved) -> bool:
    """Fixes overloads and kinds of literals as far as types are known; True if another round may tell more."""
    changed = False
    for functor in collector.functors:
        before = resolved.overloads.get(id(functor))
        after = _overload(functor, before, collector, types, resolved)
        if after is not before:
            changed = True
            if after is None:
                del resolved.overloads[id(functor)]
            else:
                resolved.overloads[id(functor)] = after
    for number in collector.numbers:
        changed |= _decide_number(number, types, resolved)
    return changed


def _overload(
    node: ast.Functor, before: Overload | None, collector: Collector, types: Assignment, resolved: Resolved
) -> Overload | None:
    pool = OVERLOADS.get(node.op, ()) if before is None or node.op == "ord" else (before,)
    results = {before.result} if before is not None else _possible_kinds(node, collector, types, resolved)
    args = [_possible_kinds(arg, collector, types, resolved) for arg in node.args]
    fitting = [
        o
        for o in pool
        if o.takes(len(args)) and o.result in results and all(o.param(i) in kinds for i, kinds in enumerate(args))
    ]
    return preferred(fitting) if fitting else None


def _possible_kinds(
    node: ast.Argument, collector: Collector, types: Assignment, resolved: Resolved
) -> set[Kind] | frozenset[Kind]:
    if isinstance(node, ast.Functor) and id(node) in resolved.overloads:
        return {resolved.overloads[id(node)].result}
    if isinstance(node, ast.UserFunctor):
        signature = collector.signature(node.name)
        if signature is not None:
            return {signature[1].kind}
    known = types[collector.key(node)]
    return _ANY_KIND if known is None else {t.kind for t in known}


_ANY_KIND = frozenset(Kind)


def _decide_number(node: ast.NumberLit, types: Assignment, resolved: Resolved) -> bool:
    possible = {t.kind for t in types[id(node)] or ()}
    before = resolved.literals.get(id(node))
    if node.fixed is not None:
        after: Kind | None = Kind(node.fixed)
    else:
        after = next((kind for kind in (Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT) if kind in possible), None)
    if after is None:
        resolved.literals.pop(id(node), None)
    else:
        resolved.literals[id(node)] = after
    # A literal with one kind left restricts nothing more in the next round.
    return after is not before and len(possible) > 1


def _assign(solution: Solution, kinds: dict[int, Kind]) -> None:
    collector, types, resolved = solution.collector, solution.types, solution.resolved
    for node in collector.nodes:
        fixed = _FIXED_KINDS.get(type(node))
        if fixed is None and type(node) is ast.Functor and id(node) in resolved.overloads:
            fixed = resolved.overloads[id(node)].result
        elif fixed is None and type(node) is ast.NumberLit:
            fixed = resolved.literals.get(id(node))
        kinds[id(node)] = fixed or kind_of(types[collector.key(node)]) or Kind.NUMBER
    # A sink does not restrict an argument to an algebraic data type, but its column still says what it is.
    for use in collector.atoms:
        for arg, attribute in zip(use.atom.args, use.relation.attributes, strict=True) if use.is_sink else ():
            declared = solution.context.env.nodes.get(attribute.type)
            if declared is not None and types[collector.key(arg)] is None:
                kinds[id(arg)] = declared.kind
