"""The reference engine: the meaning of the IR in Python sets. Slow and plain; every other engine must agree with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from flintlog.depth import deep_recursion
from flintlog.engines.protocol import Evaluation
from flintlog.engines.reference.closures import Machine
from flintlog.engines.reference.rounds import StratumRounds
from flintlog.engines.reference.symbol_order import number_symbols
from flintlog.engines.reference.table import Table
from flintlog.ir.program import Program
from flintlog.ir.words import Words
from flintlog.types import Row


class NaiveEngine:
    """Evaluates a program with Python sets. With `semi_naive` off, every round evaluates every rule on everything; the
    tests hold the two ways against each other."""

    reads_columns = reads_sources = False
    knows_shared = True

    def __init__(self, *, semi_naive: bool = True) -> None:
        self.semi_naive = semi_naive

    @deep_recursion()
    def run(self, program: Program, evaluation: Evaluation) -> Mapping[str, Collection[Row]]:
        machine = Machine(Words(evaluation.options.word_size), evaluation.functions, evaluation.notify)
        tables = {name: Table(relation, machine) for name, relation in program.relations.items()}
        number_symbols(program, evaluation.facts, machine)
        for name, rows in evaluation.facts.items():
            for row in rows:
                tables[name].load(row)
        for stratum in program.strata:
            StratumRounds(program, stratum, tables, machine).run(self.semi_naive)
        return {name: table.rows.keys() for name, table in tables.items()}

    def close(self) -> None:
        """Keeps nothing: results are Python sets."""


def engine(threads: int) -> NaiveEngine:
    """It has one thread, however many there are."""
    return NaiveEngine()
