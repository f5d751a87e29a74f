"""The embedded engine: rows first, columns when it pays.

A small program is done before the kernels would be loaded. So a run begins row by row, as the reference engine does it,
under a meter; when that has seen too many rows, the stratum starts again over columns, and so do all that follow.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sized

from flintlog.depth import deep_recursion
from flintlog.engines.protocol import Evaluation, Progress
from flintlog.engines.reference.closures import Machine
from flintlog.engines.reference.meter import Meter, MeterExceeded
from flintlog.engines.reference.rounds import StratumRounds
from flintlog.engines.reference.symbol_order import number_symbols
from flintlog.engines.reference.table import Table
from flintlog.ir.program import Program
from flintlog.ir.words import Words
from flintlog.types import Row

# Rows that are looked at before the kernels are loaded: about as long as loading them takes.
PATIENCE = 20_000


class LocalEngine:
    """Columns of words, kernels compiled by Numba, rounds over deltas. `patience` is for how many rows it tries to do
    without."""

    reads_columns = True
    reads_sources = knows_shared = False

    def __init__(self, threads: int = 1, patience: int = PATIENCE) -> None:
        self.threads, self.patience = threads, patience

    @deep_recursion()
    def run(self, program: Program, evaluation: Evaluation) -> Mapping[str, Collection[Row]]:
        machine = Machine(Words(evaluation.options.word_size), evaluation.functions, evaluation.notify)
        number_symbols(program, evaluation.facts, machine)
        facts: dict[str, Iterable[Row]] = {
            name: rows if isinstance(rows, Sized) else list(rows) for name, rows in evaluation.facts.items()
        }
        done, tables = self._by_rows(program, facts, machine)
        if done == len(program.strata):
            return {name: table.rows.keys() for name, table in tables.items()}
        from flintlog.engines.local.kernels.library import kernels_are_compiled

        if not kernels_are_compiled():
            evaluation.options.progress(Progress(note="compiling kernels, once for this installation"))
        from flintlog.engines.local.fixpoint import ColumnarRun

        # What earlier strata computed stands in the tables; what the rest begin with are facts still.
        computed = {name for stratum in program.strata[:done] for name in stratum.relations}
        computed |= {name for name, relation in program.relations.items() if relation.delta_of in computed}
        known = {**facts, **{name: tables[name].rows for name in computed}}
        return ColumnarRun(program, known, machine, self.threads, evaluation).run(program.strata[done:])

    def close(self) -> None:
        """Keeps nothing: a result has its columns itself."""

    def _by_rows(
        self, program: Program, facts: Mapping[str, Iterable[Row]], machine: Machine
    ) -> tuple[int, dict[str, Table]]:
        """How many strata could be run row by row within the engine's patience, and what they computed."""
        if sum(len(rows) for rows in facts.values() if isinstance(rows, Sized)) > self.patience:
            return 0, {}
        tables = {name: Table(relation, machine) for name, relation in program.relations.items()}
        for name, rows in facts.items():
            for row in rows:
                tables[name].load(row)
                if len(tables[name].rows) > self.patience:  # an equivalence has more rows than facts
                    return 0, {}
        meter = Meter(self.patience)
        for done, stratum in enumerate(program.strata):
            counter = machine.counter
            try:
                StratumRounds(program, stratum, tables, machine, meter).run(semi_naive=True)
            except MeterExceeded:
                machine.counter = counter
                return done, tables
        return len(program.strata), tables


def engine(threads: int) -> LocalEngine:
    return LocalEngine(threads)
