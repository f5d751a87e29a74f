"""What the rules of a stratum read, and how they join it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flintlog.engines.spark.dataframe.context import Context
from flintlog.engines.spark.dataframe.fixed import Fixed, Inputs
from flintlog.engines.spark.dataframe.growing import Growing
from flintlog.engines.spark.dataframe.plans import Output, Plans
from flintlog.engines.spark.dataframe.python_steps import PythonSteps
from flintlog.engines.spark.dataframe.scalars import Scalars
from flintlog.engines.spark.dataframe.texts import Rows, constant_rows, numbered
from flintlog.engines.spark.dataframe.workspace import Workspace
from flintlog.ir.program import Program, Rule
from flintlog.ir.relation import Aggregate, Node, Scan, Schema, Shared, Step, Unit, Values
from flintlog.ir.scalar import Round
from flintlog.ir.visit import node_terms, relations_of, walk, walk_scalar
from flintlog.types import Kind, Value


class RuleSources:
    """Answers what plans ask. `read` says which scans of the rule at hand read what."""

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
        self.partitions = 1
        self.fixed_rows = Fixed(workspace, context.describe)
        self.scalars = Scalars(self._word, context.word_size)
        self.plans = Plans(self, self.scalars, self._table)
        self._reads: dict[int, str] = {}
        self._recursive = False
        self._stays: dict[int, bool] = {}
        self.python = PythonSteps(workspace, context)

    def read(self, rule: Rule, scans: Sequence[Scan], delta: Scan | None) -> None:
        """The rule whose plan comes next. Scans before the one of the delta read what was there before, so that two
        new rows meet once."""
        self._recursive = delta is not None
        self.python.place, self.python.round = rule.span, self.scalars.round
        self._reads = {}
        for scan in scans:
            if scan is delta:
                self._reads[id(scan)] = "delta"
                return
            self._reads[id(scan)] = "old"

    def end_round(self) -> None:
        self.python.end_round()

    # --- Rows -------------------------------------------------------------------------------------

    def scan(self, node: Scan, wanted: tuple[int, ...]) -> Rows:
        growing = self.growing.get(node.relation)
        if growing is not None:
            return self._own(growing, self._reads.get(id(node), "whole"))
        if self._recursive:
            arity = len(node.schema)
            return self.fixed_rows.rows(node.relation, arity, wanted, lambda: self.inputs.text(node.relation))
        return Rows(self.inputs.text(node.relation), self.inputs.counts.get(node.relation, 0))

    def _own(self, growing: Growing, what: str) -> Rows:
        single = self.partitions == 1
        if what == "delta":
            assert growing.delta is not None
            return Rows(f"SELECT * FROM {growing.delta.view}", growing.delta.rows)
        old = what == "old" and growing.best is None
        rows = growing.rows - (growing.delta.rows if old and growing.delta is not None else 0)
        return Rows(growing.whole(single, self.scalars, without_delta=old), rows)

    def fixed(self, node: Node, wanted: tuple[int, ...]) -> Rows | None:
        if isinstance(node, Shared):
            shared = self.program.shared[node.id]
            return self.fixed_rows.rows(
                ("shared", node.id), len(shared.schema), wanted, lambda: self._apart(shared, distinct=True)
            )
        if not self._recursive or isinstance(node, Scan | Values | Unit) or not self._stays_as_it_is(node):
            return None
        return self.fixed_rows.rows(node, len(node.schema), wanted, lambda: self._apart(node, distinct=True))

    def _apart(self, node: Node, *, distinct: bool) -> str:
        """The text of a node that is computed for itself."""
        reads, recursive, self._reads, self._recursive = self._reads, self._recursive, {}, False
        text = numbered(node.schema, self.plans.rows(node).text)
        self._reads, self._recursive = reads, recursive
        return f"SELECT DISTINCT * FROM ({text})" if distinct else text

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
        machine = self.context.machine()
        if kind.is_numeric or value is None:
            return machine.word(value, kind)
        number = self.context.add_values([value])[0]
        return number if kind is Kind.SYMBOL else number + 1

    # --- Joins ------------------------------------------------------------------------------------

    def hint(self, left: Rows, right: Rows, *, either: bool, on: Sequence[str]) -> str:
        side = "l" if either and left.count < right.count else "r"
        if not on:
            return f"/*+ BROADCAST({side}) */"
        build = min(left.count, right.count) if either else right.count
        if build > self.context.hash_rows * self.partitions:
            return "/*+ MERGE(r) */"
        return f"/*+ SHUFFLE_HASH({side}) */"

    # --- Tasks ------------------------------------------------------------------------------------

    def task_steps(self, text: str, schema: Schema, steps: Sequence[Step], output: Output) -> str:
        return self.python.steps(text, schema, steps, output)

    def task_fold(self, node: Aggregate, text: str, keys: str | None) -> str:
        return self.python.fold(node, text, keys)
