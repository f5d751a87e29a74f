"""States of random programs, and what must hold of one after every update."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from tests.properties import brute_force

from flintlog.api.user_program import Program
from flintlog.engines.local.row_strata import encode
from flintlog.engines.protocol import Evaluation
from flintlog.engines.reference.closures import Machine
from flintlog.incremental.epoch import Epoch
from flintlog.incremental.rules.flattened_program import FlattenedProgram, flatten
from flintlog.incremental.state import State
from flintlog.incremental.verify import differences
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir.words import Words
from flintlog.types import Row

Facts = Mapping[str, Iterable[Row]]


def flattened_of(text: str) -> FlattenedProgram:
    return flatten(Program(text).compilation.program)


def text_of(program: brute_force.Program) -> str:
    """A program without its facts: these are given."""
    arities = {"e": 2, "f": 1}
    arities |= {rule.head.name: len(rule.head.terms) for layer in program.layers for rule in layer}
    lines = [f".decl {n}({', '.join(f'c{i}: number' for i in range(a))})" for n, a in arities.items()]
    return "\n".join([*lines, *(str(rule) for layer in program.layers for rule in layer)])


class Database:
    """A state with a machine of its own, which takes and gives rows of Python values."""

    def __init__(self, text: str, facts: Facts, budget: float | None = None) -> None:
        self.machine = Machine(Words(64), {}, lambda message, span: None)
        self.state = State(flattened_of(text), self.machine, Evaluation(), budget=budget)
        self.state.bootstrap({name: ColumnFacts(tuple(c), len(c[0])) for name, c in self._columns(facts).items()})

    def change(
        self, deleted: Facts, inserted: Facts, text: str | None = None, strategy: str = "auto", *, keep: bool = True
    ) -> None:
        flattened = None if text is None else flattened_of(text)
        update = Epoch(self.state, strategy)
        update.run(self._columns(deleted), self._columns(inserted), flattened)
        self.recomputed = update.recomputed
        if keep:
            update.keep()
        else:
            update.take_back()

    def rows(self, name: str) -> set[Row]:
        return rows_of(self.state, name)

    def _columns(self, facts: Facts) -> dict[str, list[np.ndarray]]:
        relations = self.state.flattened.program.relations
        rows = {name: sorted(some) for name, some in facts.items()}
        return {name: encode(some, relations[name].kinds, self.machine) for name, some in rows.items() if some}


def rows_of(state: State, name: str) -> set[Row]:
    kept, kinds = state.relations[name], state.flattened.program.relations[name].kinds
    columns = [column.tolist() for column in kept.columns(kept.rounds.present())]
    values = [[state.machine.value(word, kind) for word in column] for column, kind in zip(columns, kinds, strict=True)]
    return set(zip(*values, strict=True)) if kinds else {()} if kept.rounds.present().size else set()


def assert_equation(database: Database) -> None:
    """An updated state is what a computation from nothing makes."""
    assert differences(database.state) == []
