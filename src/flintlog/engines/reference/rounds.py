"""The rounds of a stratum over tables of Python rows: the meaning of recursion.

A round evaluates every rule on the relations as they are, then inserts the derived rows; the stratum ends with the
first round that derives no new row. With `semi_naive`, rounds evaluate `rule_versions`: the same answer for less work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.queries.rule_versions import RuleVersion, limit_reached, own_scans, rule_versions, with_own_scans
from flintlog.engines.reference.closures import Machine
from flintlog.engines.reference.meter import Meter
from flintlog.engines.reference.node_rows import NodeRows
from flintlog.engines.reference.table import Table
from flintlog.ir.nodes import Scan
from flintlog.ir.operations import EvaluationError
from flintlog.ir.program import Program, Rule, Stratum, Subsumption
from flintlog.types import Row


class StratumRounds:
    """Runs one stratum over tables. Of `program`, it reads the declarations and the shared subplans."""

    def __init__(
        self,
        program: Program,
        stratum: Stratum,
        tables: Mapping[str, Table],
        machine: Machine,
        meter: Meter | None = None,
    ) -> None:
        self.program, self.stratum = program, with_own_scans(program, stratum)
        self.tables, self.machine = tables, machine
        chooses = any(program.relations[name].choice for name in stratum.relations)
        self.nodes = NodeRows(tables, program.shared, machine, sorted_scans=chooses, meter=meter)

    def run(self, semi_naive: bool) -> None:
        once, recursive = rule_versions(self.stratum)
        if not semi_naive:
            recursive = [replace(version, delta=None) for version in recursive if version.delta is version.scans[0]]
        self.machine.round = 0
        self._round(once)
        self.nodes.delta = {name: list(self.tables[name].rows) for name in self.stratum.relations}
        while recursive and any(self.nodes.delta.values()) and not self._limit_reached():
            self._round(recursive)
            self.machine.round += 1

    def _round(self, versions: Iterable[RuleVersion]) -> None:
        first = not self.nodes.delta
        derived = [(version.rule.relation, self._rows(version.rule, version.delta)) for version in versions]
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

    def _rows(self, rule: Rule | Subsumption, delta: Scan | None) -> list[Row]:
        """The rows that a rule derives, with one of its scans reading the delta, or all reading everything."""
        self.machine.place = rule.span
        self.nodes.delta_scan = delta
        try:
            return list(self.nodes.rows(rule.body))
        except EvaluationError as error:
            raise FlintlogError([Diagnostic("E801", str(error), rule.span, error.note)]) from None
        finally:
            self.nodes.delta_scan = None

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
            # The first two scans read the rows that are compared, all later ones belong to the condition.
            scans = list(own_scans(subsumption.body, self.stratum.relations))
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
        for scan in delta_scans:
            for row in self._rows(rule, scan):
                if row[:arity] != row[arity:]:
                    yield row[:arity], row[arity:]

    def _limit_reached(self) -> bool:
        return limit_reached(self.program, self.stratum, lambda name: len(self.tables[name].rows))
