"""Clauses of the syntax tree -> typed clauses: kinds become part of the scalars, names of variables become columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from flintlog.check.checked import CheckedProgram, Clause, NegatedAtom, SubsumptiveClause
from flintlog.check.clauses.traverse import conjuncts
from flintlog.check.grounding.scopes import Scopes, resolve_scopes
from flintlog.diagnostics import InternalError
from flintlog.ir.nodes import Fold
from flintlog.ir.operations import result_kind
from flintlog.ir.scalar import (
    Call,
    Column,
    Compare,
    Const,
    Counter,
    MakeBranch,
    MakeRecord,
    Never,
    Reinterpret,
    Round,
    Scalar,
    UserCall,
)
from flintlog.ir.visit import substitute
from flintlog.ir.words import Words
from flintlog.lower.clause import (
    Atom,
    Fresh,
    Generate,
    Literal,
    Negated,
    Substitution,
    Summarise,
    Term,
    Test,
    TypedClause,
    Wildcard,
    all_columns,
    columns_in,
    literal_columns,
    substitute_literal,
)
from flintlog.syntax import ast
from flintlog.types import Kind


class ClauseTyper:
    """Turns the arguments and literals of one clause into their typed form."""

    def __init__(self, kinds: Mapping[int, Kind], fresh: Fresh, words: Words) -> None:
        self.kinds, self.fresh, self.words = kinds, fresh, words
        self.scopes = Scopes({}, ())  # which variables aggregates share with the clause around them
        self.drawn_out: list[Literal] = []  # aggregates and ranges met in arguments
        self.attained: list[Literal] = []  # what binds the witnesses of aggregates, wherever these stand in the clause

    def clause(self, clause: Clause, head: Sequence[ast.Argument]) -> TypedClause:
        self.scopes = resolve_scopes(clause)
        args = tuple(self.scalar(a) for a in head)
        drawn_out, self.drawn_out = self.drawn_out, []
        body = (*self.literals(clause.body), *drawn_out, *self.attained)
        plan = clause.plan.orders if clause.plan else ()
        return _with_record_kinds(TypedClause(clause.head.name, args, body, plan, clause.span))

    def subsumption(self, clause: SubsumptiveClause) -> TypedClause:
        """Its head has the dominated row, then the dominating one."""
        self.scopes = resolve_scopes(clause)
        low, high = self._atom(clause.dominated), self._atom(clause.dominating)
        head: list[Scalar] = []
        atoms: list[Atom] = []
        for atom in (low, high):
            columns = [self.fresh.column(a.kind) if isinstance(a, Wildcard) else a for a in atom.args]
            atoms.append(Atom(atom.relation, tuple(columns), atom.span))
            head += columns
        drawn_out, self.drawn_out = self.drawn_out, []
        body = (*atoms, *drawn_out, *self.literals(clause.body), *self.attained)
        return TypedClause(clause.dominated.name, tuple(head), body, (), clause.span)

    # --- Literals ---------------------------------------------------------------------------------

    def literals(self, body: Sequence[ast.Body | NegatedAtom]) -> tuple[Literal, ...]:
        result: list[Literal] = []
        for part in body:
            literal = self._literal(part)
            result += self.drawn_out
            self.drawn_out = []
            if literal is not None:
                result.append(literal)
        return tuple(result)

    def _literal(self, part: ast.Body | NegatedAtom) -> Literal | None:
        match part:
            case ast.Atom():
                return self._atom(part)
            case NegatedAtom(atom=atom) | ast.Negation(body=ast.Atom() as atom):
                return Negated(self._atom(atom))
            case ast.Constraint():
                condition = Compare(part.op, self.scalar(part.left), self.scalar(part.right))
                return Test(condition, part.span)
            case ast.BoolLit():
                return None if part.value else Test(Never(), part.span)
        raise InternalError("lower", f"not a literal of a checked clause: {part!r}")

    def _atom(self, atom: ast.Atom) -> Atom:
        return Atom(atom.name, tuple(self._term(a) for a in atom.args), atom.span)

    def _term(self, argument: ast.Argument) -> Term:
        if isinstance(argument, ast.Unnamed):
            return Wildcard(self.kinds[id(argument)])
        return self.scalar(argument)

    # --- Arguments --------------------------------------------------------------------------------

    def scalar(self, argument: ast.Argument) -> Scalar:
        kind = self.kinds.get(id(argument), Kind.NUMBER)
        match argument:
            case ast.Variable():
                return Column(self.scopes.name(argument), kind)
            case ast.Unnamed():
                return self.fresh.column(kind)
            case ast.NumberLit(text=text):
                return Const(self._number(text, kind), kind)
            case ast.StringLit(value=value):
                return Const(value, Kind.SYMBOL)
            case ast.Nil():
                return Const(None, Kind.RECORD)
            case ast.Counter():
                return Counter()
            case ast.Iteration():
                return Round()
            case ast.RecordInit(args=args):
                return MakeRecord(tuple(self.scalar(a) for a in args))
            case ast.BranchInit(branch=branch, args=args):
                return MakeBranch(branch, tuple(self.scalar(a) for a in args))
            case ast.Cast(arg=arg):
                return Reinterpret(self.scalar(arg), kind)
            case ast.UserFunctor(name=name, args=args):
                return UserCall(name, tuple(self.scalar(a) for a in args), kind)
            case ast.Functor(op="range", args=args):
                column = self.fresh.column(kind)
                self.drawn_out.append(Generate(column, tuple(self.scalar(a) for a in args)))
                return column
            case ast.Functor(op=op, args=args):
                operands = tuple(self.scalar(a) for a in args)
                return Call(op, operands, result_kind(op, tuple(a.kind for a in operands)))
            case ast.Aggregate() | ast.UserAggregate():
                return self._summarise(argument, kind)
        raise InternalError("lower", f"not an argument of a checked clause: {argument!r}")

    def _number(self, text: str, kind: Kind) -> int | float:
        if kind is Kind.FLOAT:
            return self.words.real(float(text) if text.lstrip("-")[:2] not in ("0x", "0b") else float(int(text, 0)))
        digits = text.lstrip("-")
        value = int(digits, 0) if digits[:2] in ("0x", "0b") else int(digits)
        value = -value if text.startswith("-") else value
        return self.words.unsigned(value) if kind is Kind.UNSIGNED else self.words.signed(value)

    def _summarise(self, aggregate: ast.Aggregate | ast.UserAggregate, kind: Kind) -> Column:
        """Draws an aggregate out into a literal of its own."""
        init = self.scalar(aggregate.init) if isinstance(aggregate, ast.UserAggregate) else None
        drawn_out, self.drawn_out = self.drawn_out, []
        body = self.literals(conjuncts(aggregate.body))
        value = self.scalar(aggregate.target) if aggregate.target is not None else None
        body, self.drawn_out = (*body, *self.drawn_out), drawn_out
        op = f"@{aggregate.name}" if isinstance(aggregate, ast.UserAggregate) else aggregate.op
        scope = next(scope for scope in self.scopes.aggregates if scope.node is aggregate)
        mentioned = [c for literal in body for c in literal_columns(literal)]
        injected = [c for c in mentioned if c.name in scope.injected]
        outer = dict.fromkeys([*injected, *columns_in(() if init is None else (init,))])
        summary = Summarise(self.fresh.column(kind), Fold(op, value, kind, init), body, tuple(outer), aggregate.span)
        witnesses = [c for c in mentioned if c.name in scope.witnesses]
        if witnesses:
            summary = self._without_witnesses(summary, witnesses, nested=scope.parent is not None)
        self.drawn_out.append(summary)
        return summary.column

    def _without_witnesses(self, summary: Summarise, witnesses: Sequence[Column], *, nested: bool) -> Summarise:
        """The aggregate with variables of its own for witnesses. The clause gets a copy of the body in their stead: the
        rows that attain the aggregate's value, which for an aggregate within another one is computed once more."""
        local = set(all_columns(summary.body)) - {*summary.outer, *witnesses}
        apart: Substitution = {c.name: self.fresh.copy(c) for c in sorted(local, key=lambda c: c.name)}
        own = substitute_literal(summary, {c.name: self.fresh.copy(c) for c in dict.fromkeys(witnesses)})
        assert isinstance(own, Summarise)
        repeated = replace(own, column=self.fresh.column(own.column.kind)) if nested else own
        self.attained += [repeated] if nested else []
        self.attained += [substitute_literal(part, apart) for part in summary.body]
        if summary.fold.value is not None:
            attained = Compare("=", repeated.column, substitute(summary.fold.value, apart))
            self.attained.append(Test(attained, summary.span))
        return own


def _with_record_kinds(clause: TypedClause) -> TypedClause:
    """A variable without a type of its own that equals a record or branch is one: `r = [3, 4], r = [x, y]`."""
    kinds: Substitution = {}
    for literal in clause.body:
        match literal:
            case Test(Compare("=", Column(name, kind), MakeRecord() | MakeBranch() as made)) | Test(
                Compare("=", MakeRecord() | MakeBranch() as made, Column(name, kind))
            ) if kind is not made.kind:
                kinds[name] = Column(name, made.kind)
    if not kinds:
        return clause
    head = tuple(substitute(scalar, kinds) for scalar in clause.head)
    return replace(clause, head=head, body=tuple(substitute_literal(literal, kinds) for literal in clause.body))


def typed_clauses(program: CheckedProgram, fresh: Fresh, words: Words) -> Iterator[tuple[Clause, TypedClause]]:
    """Every clause of the program beside its typed form. Head aggregates are replaced by their argument."""
    for clause in program.clauses:
        head = [a.arg if isinstance(a, ast.HeadAggregate) else a for a in clause.head.args]
        yield clause, ClauseTyper(program.kinds, fresh, words).clause(clause, head)
