"""Checked program -> IR program: relations, strata, rules and directives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from flintlog.check.checked import CheckedProgram, Lattice, Stratum
from flintlog.check.checked import Relation as CheckedRelation
from flintlog.ir import program as ir
from flintlog.ir.nodes import Node, Values
from flintlog.ir.scalar import Call, Column, Const, MakeBranch, MakeRecord, Scalar
from flintlog.ir.visit import rewrite_scalar
from flintlog.ir.words import Words
from flintlog.lower.body import lower_clause
from flintlog.lower.clause import Fresh, TypedClause
from flintlog.lower.head_aggregates import lower_head_aggregates
from flintlog.lower.inline import Inliner
from flintlog.lower.lattice import LEFT, RIGHT, LatticeClauses, LatticeOps, apply_operator
from flintlog.lower.typed import ClauseTyper, typed_clauses
from flintlog.syntax import ast
from flintlog.types import Adt, Field, Kind, Row, Type, Value


def lower(program: CheckedProgram, *, word_size: int = 64) -> ir.Program:
    """The IR of a checked program."""
    return _Lowering(program, Words(word_size)).program()


class _Lowering:
    def __init__(self, checked: CheckedProgram, words: Words) -> None:
        self.checked, self.words, self.fresh = checked, words, Fresh()
        self.lattices = {name: self._lattice(lattice) for name, lattice in checked.lattices.items()}
        self.limits = {
            d.relation: int(p.value)
            for d in checked.directives
            if d.kind == "limitsize"
            for p in d.params
            if p.key == "n"
        }
        self.relations = {r.name: self._relation(r) for r in checked.relations.values() if not r.is_inline}
        self.clauses = self._clauses()
        self.last_id = 0

    def program(self) -> ir.Program:
        checked = self.checked
        directives = tuple(
            ir.IoDirective(d.kind, d.relation, tuple((p.key, p.value) for p in d.params), d.span)
            for d in checked.directives
            if d.kind != "limitsize"
        )
        functions = {name: self._function(decl) for name, decl in checked.functors.items()}
        strata = tuple(self._stratum(stratum) for stratum in checked.strata)
        return ir.Program(checked.types, self.relations, strata, directives, functions)

    # --- Declarations -----------------------------------------------------------------------------

    def _type(self, name: str) -> Type:
        return self.checked.types[name]

    def _function(self, decl: ast.FunctorDecl) -> ir.UserFunction:
        params = tuple(self._type(p.type).kind for p in decl.params)
        result = decl.result.type
        return ir.UserFunction(decl.name, params, self._type(result).kind, decl.stateful, result, decl.span)

    def _relation(self, relation: CheckedRelation) -> ir.Relation:
        kinds = tuple(self._type(a.type).kind for a in relation.attributes)
        return ir.Relation(
            relation.name,
            tuple(Field(a.name, a.type) for a in relation.attributes),
            kinds,
            relation.representation,
            relation.qualifiers,
            relation.choice_domains,
            self._merge(relation, kinds),
            self.limits.get(relation.name),
            relation.delta_of,
            relation.span,
        )

    def _merge(self, relation: CheckedRelation, kinds: tuple[Kind, ...]) -> tuple[Scalar | None, ...]:
        """How the columns' values combine. COUNT, SUM and AVG are computed by the rules: nothing is left to merge."""
        aggregates = relation.head_aggregates or (None,) * len(kinds)
        if set(aggregates) - {None, "min", "max"}:
            return ()
        merge: list[Scalar | None] = []
        for attribute, aggregate, kind in zip(relation.attributes, aggregates, kinds, strict=True):
            old, new = Column(ir.OLD, kind), Column(ir.NEW, kind)
            ops = self.lattices.get(attribute.type) if attribute.lattice else None
            if aggregate is not None:
                merge.append(Call(aggregate, (old, new), kind))
            elif ops is not None and ops.lub is not None:
                merge.append(apply_operator(ops.lub, old, new))
            else:
                merge.append(None)
        return tuple(merge) if any(merge) else ()

    def _lattice(self, lattice: Lattice) -> LatticeOps:
        typer = ClauseTyper(self.checked.kinds, self.fresh, self.words)

        def operator(argument: ast.Argument | None) -> Scalar | None:
            return None if argument is None else _fill_operands(typer.scalar(argument))

        return LatticeOps(operator(lattice.bottom), operator(lattice.lub), operator(lattice.glb))

    # --- Rules ------------------------------------------------------------------------------------

    def _clauses(self) -> dict[str, list[TypedClause]]:
        """The typed clauses of every relation, inline relations replaced by their rules."""
        by_relation: dict[str, list[TypedClause]] = {name: [] for name in self.checked.relations}
        for _, clause in typed_clauses(self.checked, self.fresh, self.words):
            by_relation[clause.relation].append(clause)
        inline = {name: by_relation.pop(name) for name, r in self.checked.relations.items() if r.is_inline}
        self.inliner = Inliner(inline, self.fresh)
        lattices = LatticeClauses(self._lattice_columns(), self.fresh)
        return {
            name: [
                explicit
                for clause in clauses
                for expanded in (self.inliner.expand(clause) if inline else (clause,))
                for explicit in (lattices.expand(expanded) if lattices.columns else (expanded,))
            ]
            for name, clauses in by_relation.items()
        }

    def _lattice_columns(self) -> Mapping[str, Sequence[LatticeOps | None]]:
        return {
            r.name: [self.lattices.get(a.type) if a.lattice else None for a in r.attributes]
            for r in self.checked.relations.values()
        }

    def _stratum(self, stratum: Stratum) -> ir.Stratum:
        rules = tuple(rule for name in stratum.relations for rule in self._rules(name))
        subsumptions = tuple(s for name in stratum.relations for s in self._subsumptions(name))
        return ir.Stratum(stratum.relations, stratum.recursive, rules, subsumptions)

    def _rules(self, name: str) -> Iterator[ir.Rule]:
        relation = self.relations[name]
        clauses = self.clauses[name]
        aggregates = self.checked.relations[name].head_aggregates
        columns = [c.name for c in relation.columns]
        if set(aggregates) - {None, "min", "max"}:
            if clauses:  # an inline relation without rules may leave none
                yield self._rule(name, clauses[0], lower_head_aggregates(relation, aggregates, clauses, self.fresh))
            return
        schema = tuple(Column(c, kind) for c, kind in zip(columns, relation.kinds, strict=True))
        # Adjacent facts become one rule. A choice-domain sees the order of facts and rules, so it stays as written.
        for is_fact, run in groupby(clauses, key=lambda clause: _constant_row(clause) is not None):
            if is_fact:
                facts = [(clause, row) for clause in run if (row := _constant_row(clause)) is not None]
                yield self._rule(name, facts[0][0], Values(schema, tuple(dict.fromkeys(row for _, row in facts))))
            else:
                for clause in run:
                    yield self._rule(name, clause, lower_clause(clause, columns, self.fresh))

    def _rule(self, name: str, clause: TypedClause, body: Node) -> ir.Rule:
        return ir.Rule(self._next_id(), name, body, clause.plan, clause.span)

    def _subsumptions(self, name: str) -> Iterator[ir.Subsumption]:
        relation = self.relations[name]
        columns = [f"{prefix}.{c.name}" for prefix in ("low", "high") for c in relation.columns]
        for clause in self.checked.subsumptions:
            if clause.dominated.name == name:
                typed = ClauseTyper(self.checked.kinds, self.fresh, self.words).subsumption(clause)
                for expanded in self.inliner.expand(typed):
                    yield ir.Subsumption(
                        self._next_id(), name, lower_clause(expanded, columns, self.fresh), clause.span
                    )

    def _next_id(self) -> int:
        self.last_id += 1
        return self.last_id


def _fill_operands(scalar: Scalar) -> Scalar:
    """Names the two `_` of a lattice operator, in the order they stand."""
    names = iter((LEFT, RIGHT))

    def fill(part: Scalar) -> Scalar:
        return Column(next(names, RIGHT), part.kind) if isinstance(part, Column) else part

    return rewrite_scalar(scalar, fill)


def _constant_row(clause: TypedClause) -> Row | None:
    """The row of a fact that needs no computation."""
    if clause.body:
        return None
    values = [_constant(scalar) for scalar in clause.head]
    return None if _NOT_CONSTANT in values else tuple(values)


_NOT_CONSTANT: Value = Adt("", ())


def _constant(scalar: Scalar) -> Value:
    match scalar:
        case Const(value, _):
            return value
        case MakeRecord(args) | MakeBranch(args=args):
            values = tuple(_constant(a) for a in args)
            if _NOT_CONSTANT in values:
                return _NOT_CONSTANT
            return Adt(scalar.branch, values) if isinstance(scalar, MakeBranch) else values
    return _NOT_CONSTANT
