"""Which rows of which relations must stand together, so that tasks can evaluate a stratum's rules side by side.

A rule is spread by one of its variables: rows of an atom that has the variable stand in the task that its value sends
them to, rows of other atoms stand everywhere. Every way to satisfy the rule is then seen by the task of that value. A
rule whose large atoms have no variable in common is cut in two, with a relation of its own for what the first part
finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from flintlog.engines.queries.best import Best, best_of
from flintlog.engines.queries.query import Absent, Literal, Query, Rows, query_of, reads
from flintlog.engines.spark.embedded.placement import EVERYWHERE, FIRST, Copy, Placement
from flintlog.engines.spark.strata.rebuild import node_of
from flintlog.ir.nodes import Let, Node, Scan, Where
from flintlog.ir.partial_scalars import may_fail
from flintlog.ir.program import Program, Relation, Rule, Stratum
from flintlog.ir.scalar import Column
from flintlog.ir.visit import columns_of, rewrite, terms_of
from flintlog.types import Field


def spread(program: Program, strata: Sequence[Stratum], small: frozenset[str], *, cut: bool = True) -> Placement:
    """How the rules of some strata are evaluated by several tasks. Relations in `small` may stand everywhere; without
    `cut` any may, rather than that a rule is cut: less to compute, more to keep."""
    return _Spreading(program, small, cut).run(strata)


@dataclass
class _Spreading:
    program: Program
    small: frozenset[str]
    cut: bool
    relations: dict[str, Relation] = field(default_factory=dict)
    copies: dict[str, dict[int, Copy]] = field(default_factory=dict)
    best: dict[str, Best] = field(default_factory=dict)

    def run(self, strata: Sequence[Stratum]) -> Placement:
        last = max((rule.id for stratum in self.program.strata for rule in stratum.rules), default=0)
        cut: list[Stratum] = []
        for stratum in strata:
            if (best := best_of(self.program, stratum)) is not None:
                self.best[best.relation] = best
            rules: list[Rule] = []
            added: list[str] = []
            for rule in stratum.rules:
                for part in self._cut(rule, stratum.relations):
                    if part.relation not in self.program.relations:
                        added.append(part.relation)
                        last += 1
                        part = replace(part, id=last)
                    rules.append(part)
            cut.append(replace(stratum, relations=(*stratum.relations, *added), rules=tuple(rules)))
        relations = {**self.program.relations, **self.relations}
        self.program = replace(self.program, relations=relations)
        homes = {name: self._home(name) for stratum in cut for name in stratum.relations}
        done = [replace(s, rules=tuple(self._placed(rule, s.relations) for rule in s.rules)) for s in cut]
        copies = self._with_homes(homes)
        own_copies = [
            replace(s, relations=tuple(copy.name for name in s.relations for copy in copies[name])) for s in done
        ]
        named = {copy.name: replace(relations[name], name=copy.name) for name, of in copies.items() for copy in of}
        program = replace(self.program, relations={**relations, **named}, strata=tuple(own_copies))
        return Placement(program, copies, self.best)

    # --- Cutting ----------------------------------------------------------------------------------

    def _cut(self, rule: Rule, own: Sequence[str]) -> list[Rule]:
        """The rule, or several that mean the same, whose large atoms have a variable in common each."""
        query = query_of(rule.body)
        parts: list[Rule] = []
        while self.cut and (first := self._first_part(query)) is not None:
            name = f"{rule.relation}#{rule.id}.{len(parts) + 1}"
            columns = sorted(_bound(first) & self._used_outside(query, first))
            variables = {v.name: v for part in first for v in _binds(part)}
            output = [variables[column] for column in columns]
            names = tuple(f"v{i}" for i in range(len(output)))
            self.relations[name] = Relation(
                name, tuple(Field(n, "number") for n in names), tuple(v.kind for v in output), span=rule.span
            )
            parts.append(Rule(0, name, node_of(Query(first, list(output)), names), span=rule.span))
            rest = [literal for literal in query.literals if literal not in first]
            query = Query([Rows(name, tuple(output)), *rest], query.output)
        if not parts:
            return [rule]
        names = tuple(column.name for column in rule.body.schema)
        return [*parts, Rule(rule.id, rule.relation, node_of(query, names), span=rule.span)]

    def _first_part(self, query: Query) -> list[Literal] | None:
        """What to evaluate before the rest of a query, if its large atoms have no variable in common."""
        large = [r for r in query.literals if isinstance(r, Rows) and self._is_large(r)]
        variables = _in_order(v.name for rows in large for v in rows.variables)
        covered = {v: [r for r in large if _has(r, v)] for v in variables}
        if len(large) < 2 or any(len(rows) == len(large) for rows in covered.values()):
            return None
        first: list[Literal] = [*max(covered.values(), key=lambda rows: len(rows), default=[])]
        rest = [r for r in large if r not in first]
        outside = {v.name for rows in rest for v in rows.variables}
        grown = True
        while grown:
            grown = False
            for literal in query.literals:
                if literal not in first and self._leads_on(literal, _bound(first), outside):
                    first.append(literal)
                    grown = True
        if len(first) == 1 or not (_bound(first) & outside):
            return None  # nothing leads from some large atoms to the others
        # What binds comes before what reads; none of it can fail, so that its order is free otherwise.
        part = [literal for literal in query.literals if literal in first]
        return sorted(part, key=lambda literal: (Rows, Let, Where).index(type(literal)))

    def _leads_on(self, literal: Literal, bound: frozenset[str], outside: set[str]) -> bool:
        """Whether a literal is cheap beside atoms that bind these variables, and worth while."""
        match literal:
            case Rows():
                names = {v.name for v in literal.variables}
                return not self._is_large(literal) and bool(names & bound) and bool(names & outside or names <= bound)
            case Where():
                return reads(literal) <= bound and not any(may_fail(term) for term in terms_of(literal))
            case Let(column, value):
                return column.name in outside and columns_of(value) <= bound and not may_fail(value)
        return False

    def _used_outside(self, query: Query, part: Sequence[Literal]) -> frozenset[str]:
        used = frozenset(name for value in query.output for name in columns_of(value))
        for literal in query.literals:
            if literal not in part:
                used |= _bound([literal]) | reads(literal)
        return used

    def _is_large(self, rows: Rows) -> bool:
        return isinstance(rows.source, str) and rows.source not in self.small

    # --- Placing ----------------------------------------------------------------------------------

    def _home(self, name: str) -> int | None:
        """The column by which a relation must be at home; None if any will do. Rows that may merge must meet."""
        best = self.best.get(name)
        if best is None:
            return None
        return next((i for i in range(len(self.program.relations[name].columns)) if i != best.position), FIRST)

    def _placed(self, rule: Rule, own: Sequence[str]) -> Rule:
        """The rule with copies in the place of relations."""
        query = query_of(rule.body)
        variable = self._variable(query)
        literals = [self._placed_literal(literal, variable) for literal in query.literals]
        names = tuple(column.name for column in rule.body.schema)
        return replace(rule, body=node_of(Query(literals, query.output), names))

    def _variable(self, query: Query) -> str | None:
        """The variable a rule is spread by: that of all large atoms; else of most; else one with a copy that exists."""
        atoms = [r for r in query.literals if isinstance(r, Rows) and isinstance(r.source, str)]
        variables = _in_order(v.name for rows in atoms for v in rows.variables)

        def worth(variable: str) -> tuple[int, int, int]:
            having = [rows for rows in atoms if _has(rows, variable)]
            known = [rows for rows in having if self._has_copy(rows, variable)]
            return sum(self._is_large(rows) for rows in having), len(known), len(having)

        return max(variables, key=worth) if variables else None

    def _has_copy(self, rows: Rows, variable: str) -> bool:
        assert isinstance(rows.source, str)
        columns = self.copies.get(rows.source, {})
        return any(v.name == variable and i in columns for i, v in enumerate(rows.variables))

    def _placed_literal(self, literal: Literal, variable: str | None) -> Literal:
        match literal:
            case Rows(source=str() as name):
                places = [i for i, v in enumerate(literal.variables) if v.name == variable]
                return replace(literal, source=self._copy(name, self._preferred(name, places)))
            case Rows(source=source):
                assert not isinstance(source, str)
                return replace(literal, source=self._everywhere(source))
            case Absent(node=Scan() as scan):
                at = {c.name: i for i, c in enumerate(scan.schema)}
                places = [
                    at[on]
                    for on, value in zip(literal.on, literal.values, strict=True)
                    if isinstance(value, Column) and value.name == variable
                ]
                copy = self._copy(scan.relation, self._preferred(scan.relation, places))
                return replace(literal, node=replace(scan, relation=copy))
            case Absent():
                return replace(literal, node=self._everywhere(literal.node))
        return literal

    def _preferred(self, relation: str, places: Sequence[int]) -> int:
        """The column by which rows are spread, of several that would do. Never one that merges: when a value is
        improved, the task of the old one would not hear of it."""
        best = self.best.get(relation)
        known = self.copies.get(relation, {})
        fit = [place for place in places if best is None or place != best.position]
        return next((place for place in fit if place in known), fit[0] if fit else EVERYWHERE)

    def _everywhere(self, node: Node) -> Node:
        def place(part: Node) -> Node:
            return replace(part, relation=self._copy(part.relation, EVERYWHERE)) if isinstance(part, Scan) else part

        return rewrite(node, place)

    def _copy(self, relation: str, column: int) -> str:
        name = f"{relation}@{'*' if column == EVERYWHERE else column}"
        self.copies.setdefault(relation, {}).setdefault(column, Copy(name, relation, column))
        return self.copies[relation][column].name

    def _with_homes(self, homes: Mapping[str, int | None]) -> dict[str, tuple[Copy, ...]]:
        """All copies, home first. What no rule reads has a home too."""
        for name, wanted in homes.items():
            columns = self.copies.setdefault(name, {})
            if wanted is None:
                wanted = next((c for c in columns if c >= 0), 0 if self.program.relations[name].columns else FIRST)
            self._copy(name, wanted)
            home = columns.pop(wanted)
            self.copies[name] = {wanted: home, **columns}
        return {name: tuple(columns.values()) for name, columns in self.copies.items()}


def _has(rows: Rows, variable: str) -> bool:
    return any(v.name == variable for v in rows.variables)


def _binds(literal: Literal) -> tuple[Column, ...]:
    match literal:
        case Rows():
            return literal.variables
        case Let(column, _):
            return (column,)
    return ()


def _bound(literals: Iterable[Literal]) -> frozenset[str]:
    return frozenset(v.name for literal in literals for v in _binds(literal))


def _in_order(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
