"""A rule for maintenance: literals, each of which reads a row of a relation or requires its absence."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from flintlog.diagnostics import InternalError
from flintlog.engines.queries.query import Absent, Rows, query_of
from flintlog.ir.nodes import Scan, Step
from flintlog.ir.program import Rule
from flintlog.ir.scalar import Scalar
from flintlog.source import Span


@dataclass(frozen=True, eq=False)
class Literal:
    """A literal of a rule: the relation must have the row `values`, or, if `negated`, must lack it. The values depend
    only on variables of the literals that read rows. `own`: the rule's stratum computes the relation."""

    relation: str
    values: tuple[Scalar, ...]
    negated: bool
    own: bool


@dataclass(frozen=True, eq=False)
class Clause:
    """The literals of a rule in the order of the text, negated ones last. The rule itself counts as one more literal,
    after these, because rules are inserted and deleted like rows."""

    id: int
    relation: str
    literals: tuple[Literal, ...]
    rows: tuple[Rows, ...]
    steps: tuple[Step, ...]
    output: tuple[Scalar, ...]
    span: Span

    @property
    def is_recursive(self) -> bool:
        return any(literal.own for literal in self.literals)


def clause_of(rule: Rule, own: Collection[str]) -> Clause:
    query = query_of(rule.body)
    rows: list[Rows] = []
    absences: list[Literal] = []
    steps: list[Step] = []
    for literal in query.literals:
        match literal:
            case Rows(source=str()):
                rows.append(literal)
            case Absent(node=Scan(relation, schema), on=on, values=values, wanted=False):
                order = [on.index(column.name) for column in schema]
                absences.append(Literal(relation, tuple(values[i] for i in order), negated=True, own=False))
            case Rows() | Absent():
                raise InternalError("incremental", "a literal that reads no relation")
            case _:
                steps.append(literal)
    present = [Literal(str(r.source), r.variables, negated=False, own=r.source in own) for r in rows]
    return Clause(
        rule.id,
        rule.relation,
        (*present, *absences),
        tuple(rows),
        tuple(steps),
        tuple(query.output),
        rule.span,
    )
