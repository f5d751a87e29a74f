"""The rounds of a stratum over tables of Python rows: the meaning of recursion.

A round evaluates every rule on the relations as they are, then inserts what came out; the stratum ends with the first
round that brings nothing new. With `semi_naive`, a rule of a recursive stratum runs once for each of its scans of the
stratum's relations, that scan reading only the last round's new rows: the same answer for less work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.reference.closures import Machine
from flintlog.engines.reference.meter import Meter
from flintlog.engines.reference.node_rows import NodeRows
from flintlog.engines.reference.table import Table
from flintlog.ir.nodes import Aggregate, Node, Scan, children
from flintlog.ir.operations import EvaluationError
from flintlog.ir.program import Program, Rule, Stratum, Subsumption
from flintlog.ir.shared import in_place
from flintlog.ir.visit import relations_of
from flintlog.types import Row


def _with_own_scans(program: Program, stratum: Stratum) -> Stratum:
    """The stratum with shared subplans in place where they read its own relations: every place has its own delta."""
    own = frozenset(stratum.relations)
    grows = {id for id, subplan in program.shared.items() if own & relations_of(subplan, program.shared)}
    if not grows:
        return stratum

    def body(node: Node) -> Node:
        return in_place(node, program.shared, lambda part: part.id in grows)

    rules = tuple(replace(rule, body=body(rule.body)) for rule in stratum.rules)
    subsumptions = tuple(replace(rule, body=body(rule.body)) for rule in stratum.subsumptions)
    return replace(stratum, rules=rules, subsumptions=subsumptions)


class StratumRounds:
    """Runs one stratum over tables."""

    def __init__(
        self,
        program: Program,
        stratum: Stratum,
        tables: Mapping[str, Table],
        machine: Machine,
        meter: Meter | None = None,
    ) -> None:
        self.stratum, self.tables, self.machine = _with_own_scans(program, stratum), tables, machine
        chooses = any(program.relations[name].choice for name in stratum.relations)
        self.nodes = NodeRows(tables, program.shared, machine, sorted_scans=chooses, meter=meter)

    def run(self, semi_naive: bool) -> None:
        once = [rule for rule in self.stratum.rules if not any(self._recursive_scans(rule.body))]
        recursive = [rule for rule in self.stratum.rules if any(self._recursive_scans(rule.body))]
        self.machine.round = 0
        self._round(once, semi_naive=False)
        self.nodes.delta = {name: list(self.tables[name].rows) for name in self.stratum.relations}
        while recursive and any(self.nodes.delta.values()) and not self._limit_reached():
            self._round(recursive, semi_naive)
            self.machine.round += 1

    def _round(self, rules: Iterable[Rule], semi_naive: bool) -> None:
        first = not self.nodes.delta
        derived = [
            (rule.relation, self._rows(rule, list(self._recursive_scans(rule.body)) if semi_naive else [None]))
            for rule in rules
        ]
        delta: dict[str, list[Row]] = {name: [] for name in self.stratum.relations}
        for name, rows in derived:
            for row in rows:
                new = self.tables[name].add(row)
                if len(new) > 1 and self.nodes.meter is not None:
                    self.nodes.meter.count(len(new))  # pairs of an equivalence that no rule has seen
                delta[name] += new
        self.nodes.delta = delta
        for name in {subsumption.relation for subsumption in self.stratum.subsumptions}:
            delta[name] = self._subsume(name, first)
        for name, table in self.tables.items():
            if table.relation.merge and name in delta:
                delta[name] = [row for row in delta[name] if row in table.rows]
            for row in delta.get(table.relation.delta_of or "", ()):
                table.add((*row, self.machine.round))

    def _rows(self, rule: Rule | Subsumption, delta_scans: Sequence[Scan | None]) -> list[Row]:
        """What a rule derives, with each of these scans in turn reading the delta."""
        rows: list[Row] = []
        self.machine.place = rule.span
        try:
            for self.nodes.delta_scan in delta_scans:
                rows += self.nodes.rows(rule.body)
        except EvaluationError as error:
            raise FlintlogError([Diagnostic("E801", str(error), rule.span, error.note)]) from None
        finally:
            self.nodes.delta_scan = None
        return rows

    def _recursive_scans(self, node: Node) -> Iterator[Scan]:
        """The scans of the stratum's own relations. What stands below an Aggregate repeats scans that stand beside it,
        to compute its groups, so it always reads everything."""
        if isinstance(node, Scan) and node.relation in self.stratum.relations:
            yield node
        if not isinstance(node, Aggregate):
            for child in children(node):
                yield from self._recursive_scans(child)

    def _subsume(self, name: str, first: bool) -> list[Row]:
        """Removes dominated rows; returns the new rows that stay. Rows of a later round cannot push out their equals of
        an earlier one; rows of one round that dominate each other all go."""
        new = dict.fromkeys(self.nodes.delta[name])
        dominated: set[Row] = set()
        for subsumption in self.stratum.subsumptions:
            if subsumption.relation != name:
                continue
            if first:
                dominated |= {low for low, _ in self._dominations(subsumption, [None])}
                continue
            # The first two scans are the rows that are compared; others are of the condition, which may hold only now.
            scans = list(self._recursive_scans(subsumption.body))
            pairs = list(self._dominations(subsumption, scans[:2]))
            rejected = {low for low, _ in pairs if low in new}
            dominated |= rejected | {low for low, high in pairs if high in new and high not in rejected}
            dominated |= {low for low, _ in self._dominations(subsumption, scans[2:])}
        for row in dominated:
            self.tables[name].remove(row)
        return [row for row in new if row not in dominated]

    def _dominations(self, rule: Subsumption, delta_scans: Sequence[Scan | None]) -> Iterator[tuple[Row, Row]]:
        """The pairs of a dominated row and one that dominates it, with each of these scans in turn on the delta."""
        arity = len(self.tables[rule.relation].relation.columns)
        for row in self._rows(rule, delta_scans):
            if row[:arity] != row[arity:]:
                yield row[:arity], row[arity:]

    def _limit_reached(self) -> bool:
        tables = [self.tables[name] for name in self.stratum.relations]
        return any(table.relation.limit is not None and len(table.rows) >= table.relation.limit for table in tables)
