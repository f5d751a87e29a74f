"""A rule as maintenance sees it: places, each of which has a row of a relation, or the absence of one."""

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
class Place:
    """Where an instance of a rule has a row: of values that are bound when all of its rows are. With `negated`, the row
    must not be there. `own` relations are computed in the rule's stratum."""

    relation: str
    values: tuple[Scalar, ...]
    negated: bool
    own: bool


@dataclass(frozen=True, eq=False)
class Clause:
    """The places of a rule in the order they are written in, rows before absences. The rule itself counts as one more
    place, behind them: it can come and go as rows do."""

    id: int
    relation: str
    places: tuple[Place, ...]
    rows: tuple[Rows, ...]
    steps: tuple[Step, ...]
    output: tuple[Scalar, ...]
    span: Span

    @property
    def is_recursive(self) -> bool:
        return any(place.own for place in self.places)


def clause_of(rule: Rule, own: Collection[str]) -> Clause:
    query = query_of(rule.body)
    rows: list[Rows] = []
    absences: list[Place] = []
    steps: list[Step] = []
    for literal in query.literals:
        match literal:
            case Rows(source=str()):
                rows.append(literal)
            case Absent(node=Scan(relation, schema), on=on, values=values, wanted=False):
                order = [on.index(column.name) for column in schema]
                absences.append(Place(relation, tuple(values[i] for i in order), negated=True, own=False))
            case Rows() | Absent():
                raise InternalError("incremental", "a literal that reads no relation")
            case _:
                steps.append(literal)
    places = [Place(str(r.source), r.variables, negated=False, own=r.source in own) for r in rows]
    return Clause(
        rule.id,
        rule.relation,
        (*places, *absences),
        tuple(rows),
        tuple(steps),
        tuple(query.output),
        rule.span,
    )
