"""The reference engine: the meaning of the IR in Python sets. Slow and plain; every other engine must agree with it.

A stratum runs in rounds. A round evaluates every rule on the relations as they are, then inserts what came out; the
stratum ends with the first round that brings nothing new. With `semi_naive` (the default), a rule of a recursive
stratum runs once for each of its scans of the stratum's relations, that scan reading only the last round's new rows:
the same answer for less work, and the tests hold the two against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError, InternalError
from flintlog.engines.closures import Machine
from flintlog.engines.engine import Evaluation
from flintlog.engines.symbol_order import number_symbols
from flintlog.engines.table import Table, group, key_at
from flintlog.ir.functors import EvaluationError, fold_values
from flintlog.ir.program import Program, Rule, Stratum, Subsumption
from flintlog.ir.relation import (
    Aggregate,
    AntiJoin,
    ConcatAll,
    FlatMap,
    JoinFlatMap,
    Node,
    Scan,
    Schema,
    SemiJoin,
    Shared,
    Unit,
    Values,
    children,
)
from flintlog.ir.words import Words
from flintlog.types import Row


class NaiveEngine:
    """Evaluates a program with Python sets."""

    def __init__(self, *, semi_naive: bool = True) -> None:
        self.semi_naive = semi_naive

    @deep_recursion()
    def run(self, program: Program, evaluation: Evaluation) -> Mapping[str, Collection[Row]]:
        machine = Machine(Words(evaluation.word_size), evaluation.functions, evaluation.notify)
        tables = {name: Table(relation, machine) for name, relation in program.relations.items()}
        number_symbols(program, evaluation.facts, machine)
        for name, rows in evaluation.facts.items():
            for row in rows:
                tables[name].load(row)
        for stratum in program.strata:
            _StratumRun(program, stratum, tables, machine).run(self.semi_naive)
        return {name: table.rows.keys() for name, table in tables.items()}


def engine() -> NaiveEngine:
    return NaiveEngine()


class _StratumRun:
    def __init__(self, program: Program, stratum: Stratum, tables: dict[str, Table], machine: Machine) -> None:
        self.program, self.stratum, self.tables, self.machine = program, stratum, tables, machine
        self.pipelines: dict[int, Callable[[Row], Iterator[Row]]] = {}
        self.delta: dict[str, list[Row]] = {}
        self.delta_scan: Scan | None = None  # the one scan that reads the delta; all others read everything
        # A choice depends on the order of rows; sorted scans make it the same in every run.
        self.sorted = any(program.relations[name].choice for name in stratum.relations)

    def run(self, semi_naive: bool) -> None:
        once = [rule for rule in self.stratum.rules if not any(self._recursive_scans(rule.body))]
        recursive = [rule for rule in self.stratum.rules if any(self._recursive_scans(rule.body))]
        self.machine.round = 0
        self._round(once, semi_naive=False)
        self.delta = {name: list(self.tables[name].rows) for name in self.stratum.relations}
        while recursive and any(self.delta.values()) and not self._limit_reached():
            self._round(recursive, semi_naive)
            self.machine.round += 1

    def _round(self, rules: Iterable[Rule], semi_naive: bool) -> None:
        first = not self.delta
        derived = [(rule.relation, self._derive(rule, semi_naive)) for rule in rules]
        self.delta = {name: [] for name in self.stratum.relations}
        for name, rows in derived:
            for row in rows:
                self.delta[name] += self.tables[name].add(row)
        for name in {subsumption.relation for subsumption in self.stratum.subsumptions}:
            self._subsume(name, first)
        for name, table in self.tables.items():
            if table.relation.merge and name in self.delta:
                self.delta[name] = [row for row in self.delta[name] if row in table.rows]
            if table.relation.delta_of in self.delta:
                for row in self.delta[table.relation.delta_of]:
                    table.add((*row, self.machine.round))

    def _derive(self, rule: Rule, semi_naive: bool) -> list[Row]:
        scans = list(self._recursive_scans(rule.body)) if semi_naive else [None]
        rows: list[Row] = []
        try:
            for self.delta_scan in scans:
                rows += self.rows(rule.body)
        except EvaluationError as error:
            raise FlintlogError([Diagnostic("E801", str(error), rule.span)]) from None
        finally:
            self.delta_scan = None
        return rows

    def _recursive_scans(self, node: Node) -> Iterator[Scan]:
        """The scans of the stratum's own relations. What stands below an Aggregate repeats scans that stand beside it,
        to compute its groups, so it always reads everything."""
        if isinstance(node, Scan) and node.relation in self.stratum.relations:
            yield node
        if not isinstance(node, Aggregate):
            for child in children(node):
                yield from self._recursive_scans(child)

    def _subsume(self, name: str, first: bool) -> None:
        """Removes dominated rows. Rows of a later round cannot push out their equals of an earlier one; rows of one
        round that dominate each other all go."""
        table, new = self.tables[name], dict.fromkeys(self.delta[name])
        pairs: list[tuple[Row, Row]] = []
        for subsumption in self.stratum.subsumptions:
            if subsumption.relation == name:
                pairs += self._dominations(subsumption, first)
        if first:
            new = {}
            dominated = {low for low, high in pairs}
        else:
            rejected = {low for low, high in pairs if low in new}
            dominated = rejected | {low for low, high in pairs if high in new and high not in rejected}
        for row in dominated:
            table.remove(row)
        self.delta[name] = [row for row in new if row not in dominated]

    def _dominations(self, subsumption: Subsumption, first: bool) -> Iterator[tuple[Row, Row]]:
        """The pairs of a dominated row and one that dominates it; after the first round, those with a new row."""
        arity = len(self.tables[subsumption.relation].relation.columns)
        scans = [scan for scan in self._recursive_scans(subsumption.body) if scan.relation == subsumption.relation]
        for self.delta_scan in [None] if first else scans[:2]:
            for row in self.rows(subsumption.body):
                if row[:arity] != row[arity:]:
                    yield row[:arity], row[arity:]
        self.delta_scan = None

    def _limit_reached(self) -> bool:
        limits = [(self.tables[name], self.program.relations[name].limit) for name in self.stratum.relations]
        return any(limit is not None and len(table.rows) >= limit for table, limit in limits)

    # --- Nodes ------------------------------------------------------------------------------------

    def rows(self, node: Node) -> Iterable[Row]:
        """The rows a node denotes, each once."""
        match node:
            case Unit():
                return [()]
            case Values():
                return node.rows
            case Scan():
                return self._scan(node)
            case FlatMap():
                return self._flat_map(node, self.rows(node.input), node.input.schema)
            case JoinFlatMap():
                return self._flat_map(node, self._joined(node), node.joined)
            case SemiJoin() | AntiJoin():
                left_key, right_key = key_at(positions(node.left, node.on)), key_at(positions(node.right, node.on))
                known = {right_key(row) for row in self.rows(node.right)}
                wanted = isinstance(node, SemiJoin)
                return [row for row in self.rows(node.left) if (left_key(row) in known) is wanted]
            case Aggregate():
                return self._aggregate(node)
            case ConcatAll():
                return dict.fromkeys(row for part in node.inputs for row in self.rows(part))
            case Shared():
                return self.rows(self.program.shared[node.id])
        raise InternalError("naive", f"unknown node {node!r}")

    def _scan(self, node: Scan) -> Iterable[Row]:
        rows = self.delta[node.relation] if node is self.delta_scan else list(self.tables[node.relation].rows)
        if self.sorted:
            rows = sorted(
                rows, key=lambda r: [self.machine.word(v, c.kind) for v, c in zip(r, node.schema, strict=True)]
            )
        return rows

    def _flat_map(self, node: FlatMap | JoinFlatMap, rows: Iterable[Row], schema: Schema) -> Iterable[Row]:
        pipeline = self.pipelines.get(id(node))
        if pipeline is None:
            pipeline = self.pipelines[id(node)] = self.machine.pipeline(schema, node.steps, node.output)
        return dict.fromkeys(out for row in rows for out in pipeline(row))

    def _joined(self, node: JoinFlatMap) -> Iterator[Row]:
        left, right = node.left, node.right
        at_left, at_right = positions(left, node.on), positions(right, node.on)
        left_key, right_key = key_at(at_left), key_at(at_right)
        rest = key_at(tuple(i for i in range(len(right.schema)) if i not in at_right))
        if isinstance(left, Scan) and right is self.delta_scan and not self.sorted:
            # Few new rows against a whole relation: its index finds the partners.
            index = self._index(left, at_left)
            return (a + rest(b) for b in self.rows(right) for a in index.get(right_key(b), ()))
        index = self._index(right, at_right)
        return (a + rest(b) for a in self.rows(left) for b in index.get(left_key(a), ()))

    def _index(self, node: Node, at: tuple[int, ...]) -> dict[Row, list[Row]]:
        if isinstance(node, Scan) and node is not self.delta_scan and not self.sorted:
            return self.tables[node.relation].index(at)
        return group(self.rows(node), at)

    def _aggregate(self, node: Aggregate) -> list[Row]:
        delta_scan, self.delta_scan = self.delta_scan, None
        groups = group(self.rows(node.input), positions(node.input, node.by))
        keys = groups.keys() if node.keys is None else dict.fromkeys(self.rows(node.keys))
        self.delta_scan = delta_scan
        at = {column.name: i for i, column in enumerate(node.input.schema)}
        fold, machine = node.fold, self.machine
        value = machine.scalar(fold.value, at) if fold.value is not None else lambda row: None
        result: list[Row] = []
        for key in keys:
            values = [value(row) for row in groups.get(key, ())]
            if not values and not fold.has_default:
                continue
            if fold.op.startswith("@"):
                assert fold.init is not None
                total = machine.scalar(fold.init, {name: i for i, name in enumerate(node.by)})(key)
                for item in values:
                    total = machine.functions[fold.op[1:]](total, item)
            else:
                total = fold_values(fold.op, values, fold.kind, machine.words)
            result.append((*key, total))
        return result


def positions(node: Node, names: tuple[str, ...]) -> tuple[int, ...]:
    at = {column.name: i for i, column in enumerate(node.schema)}
    return tuple([at[name] for name in names])
