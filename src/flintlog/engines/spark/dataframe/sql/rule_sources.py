"""The rows that the rules of a stratum read, as texts, and the hints by which they are joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flintlog.engines.queries.rule_versions import RuleVersion
from flintlog.engines.reference.closures import Machine
from flintlog.engines.spark.dataframe.context import Context
from flintlog.engines.spark.dataframe.fixed import FixedRows, Inputs
from flintlog.engines.spark.dataframe.growing import Growing
from flintlog.engines.spark.dataframe.sql.plans import Output, Plans
from flintlog.engines.spark.dataframe.sql.scalars import Scalars
from flintlog.engines.spark.dataframe.sql.texts import Rows, Salted, constant_rows, distinct, in_one_partition, numbered
from flintlog.engines.spark.dataframe.tasks.python_steps import PythonSteps
from flintlog.engines.spark.dataframe.workspace import Workspace
from flintlog.ir.nodes import Aggregate, Node, Scan, Schema, Shared, Step, Unit, Values
from flintlog.ir.program import Program
from flintlog.ir.scalar import Round
from flintlog.ir.visit import node_terms, relations_of, walk, walk_scalar
from flintlog.ir.words import Words
from flintlog.types import Kind, Value


class RuleSources:
    """The sources of the plans of a stratum. `read` has to name the version of a rule before its plan is made."""

    def __init__(
        self,
        workspace: Workspace,
        program: Program,
        growing: Mapping[str, Growing],
        inputs: Inputs,
        context: Context,
    ) -> None:
        self.workspace, self.program, self.growing, self.context = workspace, program, growing, context
        self.inputs = inputs
        self.partitions, self.adaptive = 1, False
        self.fixed_rows = FixedRows(workspace, context.describe)
        self.scalars = Scalars(self._word, context.word_size)
        self.plans = Plans(self, self.scalars, self._table)
        self._reads: dict[int, str] = {}
        self._recursive = False
        self._stays: dict[int, bool] = {}
        self._names: dict[int, int] = {}  # of nodes with copies, by identity; equal nodes have one name
        self._numbers: dict[Node, int] = {}
        self.python = PythonSteps(workspace, context)
        # The machine of the run would have to fetch all values first.
        self._numbers_only = Machine(Words(context.word_size), {}, context.notify)

    def read(self, version: RuleVersion) -> None:
        """The next plan is for this version of a rule. Scans before the delta's read only the older rows, so that two
        new rows meet once."""
        self._recursive = version.delta is not None
        self.python.place, self.python.round = version.rule.span, self.scalars.round
        self._reads = {}
        for scan in version.scans:
            if scan is version.delta:
                self._reads[id(scan)] = "delta"
                return
            self._reads[id(scan)] = "old"

    def set_partitions(self, partitions: int, *, adaptive: bool) -> None:
        """Sets the number of partitions, and whether Spark chooses how to join them."""
        self.partitions = self.fixed_rows.partitions = partitions
        self.adaptive = adaptive
        self.workspace.set_partitions(partitions, adaptive=adaptive)

    def forget(self) -> None:
        """Drops everything that was computed for plans."""
        self.python.end_round()
        self.fixed_rows.clear()

    # --- Rows -------------------------------------------------------------------------------------

    def scan(self, node: Scan, wanted: tuple[int, ...]) -> Rows:
        growing = self.growing.get(node.relation)
        if growing is not None:
            return self._own(growing, self._reads.get(id(node), "whole"), wanted)
        return Rows(self.inputs.text(node.relation), self.inputs.counts.get(node.relation, 0))

    def is_set(self, relation: str) -> bool:
        return relation in self.growing or relation in self.context.sets

    def _own(self, growing: Growing, rows_read: str, wanted: tuple[int, ...]) -> Rows:
        single = self.partitions == 1
        if rows_read == "delta":
            assert growing.delta is not None
            return Rows(f"SELECT * FROM {growing.delta.view}", growing.delta.rows)
        old = rows_read == "old" and growing.best is None
        rows = growing.rows - (growing.delta.rows if old and growing.delta is not None else 0)
        pieces = growing.pieces(wanted, without_delta=old) if not (single or self.adaptive) else ()
        return Rows(growing.whole(single, self.scalars, without_delta=old), rows, pieces)

    def fixed(self, node: Node, wanted: tuple[int, ...]) -> Rows | None:
        copy = self._copy(node)
        return None if copy is None else self.fixed_rows.rows(copy[0], len(node.schema), wanted, copy[1])

    def salted(self, node: Node, wanted: tuple[int, ...]) -> Salted | None:
        copy = self._copy(node) if self._recursive else None
        return None if copy is None else self.fixed_rows.salted(copy[0], len(node.schema), wanted, copy[1])

    def _copy(self, node: Node) -> tuple[object, Callable[[], str]] | None:
        """The key of a node's copy, and a function that writes its text; None unless the node has the same rows in
        every round."""
        match node:
            case Shared():
                return ("shared", node.id), lambda: self._apart(self.program.shared[node.id])
            case Unit() | Values():
                return None
            case Scan():
                own = node.relation in self.growing
                return (node.relation, lambda: self.inputs.text(node.relation)) if self._recursive and not own else None
        if not self._recursive or not self._stays_as_it_is(node):
            return None
        if id(node) not in self._names:
            self._names[id(node)] = self._numbers.setdefault(node, len(self._numbers))
        return self._names[id(node)], lambda: self._apart(node)

    def _apart(self, node: Node) -> str:
        """The text of a node that is computed by itself, not as a part of a rule."""
        reads, recursive, self._reads, self._recursive = self._reads, self._recursive, {}, False
        text = numbered(node.schema, self.plans.rows(node).text)
        self._reads, self._recursive = reads, recursive
        return distinct(text)

    def _stays_as_it_is(self, node: Node) -> bool:
        """Whether a node has the same rows in every round."""
        known = self._stays.get(id(node))
        if known is None:
            terms = [term for part in walk(node) for term in node_terms(part)]
            counts = any(isinstance(scalar, Round) for term in terms for scalar in walk_scalar(term))
            known = not counts and not self.growing.keys() & relations_of(node, self.program.shared)
            self._stays[id(node)] = known
        return known

    def _table(self, node: Values) -> str:
        kinds = [column.kind for column in node.schema]
        words = [[self._word(v, kind) for v, kind in zip(row, kinds, strict=True)] for row in dict.fromkeys(node.rows)]
        return constant_rows(words, len(kinds))

    def _word(self, value: Value, kind: Kind) -> int:
        if kind.is_numeric or value is None:
            return self._numbers_only.word(value, kind)
        number = self.context.add_values([value])[0]
        return number if kind is Kind.SYMBOL else number + 1

    # --- Joins ------------------------------------------------------------------------------------

    def hint(self, left: Rows, right: Rows, *, either: bool, on: Sequence[str]) -> str:
        if self.adaptive:
            return ""
        side = "l" if either and left.count < right.count else "r"
        if not on:
            return f"/*+ BROADCAST({side}) */"
        build = min(left.count, right.count) if either else right.count
        if build > self.context.hash_rows * self.partitions:
            return "/*+ MERGE(r) */"
        return f"/*+ SHUFFLE_HASH({side}) */"

    def gathered(self, text: str) -> str:
        return in_one_partition(text) if self.partitions == 1 else text

    # --- Tasks ------------------------------------------------------------------------------------

    def task_steps(self, text: str, schema: Schema, steps: Sequence[Step], output: Output) -> str:
        return self.python.steps(text, schema, steps, output)

    def task_fold(self, node: Aggregate, text: str, keys: str | None) -> str:
        return self.python.fold(node, text, keys)
