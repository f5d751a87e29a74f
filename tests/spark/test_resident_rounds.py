"""Strata shared by several tasks, here threads that exchange rows in memory, against the reference engine."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from flintlog.api.program import Program
from flintlog.api.run import Run, evaluate
from flintlog.engines.closures import Machine
from flintlog.engines.engine import Evaluation
from flintlog.engines.local.by_rows import StoredRows, encode
from flintlog.engines.local.columnar import ColumnarRun
from flintlog.engines.local.resident import ResidentRun
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.placement import Snapshot
from flintlog.engines.spark.spread import spread
from flintlog.engines.spark.traits import why_together
from flintlog.engines.symbol_order import numbers_show
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir import program as ir
from flintlog.ir.shared import without_shared
from flintlog.ir.words import Words

PROGRAMS = Path(__file__).parent.parent / "programs"
CASES = sorted(path.parent for path in PROGRAMS.glob("*/*/program.dl"))


class Memory:
    """Exchanges between threads."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.barrier = threading.Barrier(ranks)
        self.slots: list = [None] * ranks

    def of(self, rank: int) -> MemoryRank:
        return MemoryRank(self, rank)


class MemoryRank:
    def __init__(self, memory: Memory, rank: int) -> None:
        self.memory, self.rank, self.ranks = memory, rank, memory.ranks

    def all_to_all(self, numbers, batches):
        self.memory.slots[self.rank] = (numbers, batches)
        self.memory.barrier.wait()
        sent = list(self.memory.slots)
        self.memory.barrier.wait()
        sums = tuple(sum(values) for values in zip(*(numbers for numbers, _ in sent), strict=True))
        return sums, [batch for _, to in sent for batch in to[self.rank]]


class Kept:
    """Keeps every snapshot, or none."""

    def __init__(self, every: int = 0) -> None:
        self.every = every
        self.snapshots: list[Snapshot] = []

    def wants(self, round: int) -> bool:
        return self.every > 0 and round % self.every == 0

    def keep(self, snapshot: Snapshot) -> None:
        self.snapshots.append(snapshot)


def run_shared(program: ir.Program, strata: Sequence[ir.Stratum], words, machine_of, ranks: int, keepers, resume=None, cut=True):
    """Runs strata on some ranks; returns every rank's run."""
    small = frozenset(program.relations) - {rule.relation for s in program.strata for rule in s.rules}
    placement = spread(program, strata, small, cut=cut)
    memory = Memory(ranks)
    runs: list[ResidentRun] = []
    failures: list[BaseException] = []
    for rank in range(ranks):
        run = ResidentRun(placement, machine_of(), Evaluation(), memory.of(rank), keepers[rank])
        for name, columns in words.items():
            run.load(name, [column[rank::ranks] for column in columns])
        runs.append(run)

    def go(rank: int) -> None:
        try:
            runs[rank].run(resume[rank] if resume else None)
        except BaseException as error:
            failures.append(error)
            memory.barrier.abort()

    threads = [threading.Thread(target=go, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return runs


def gathered(runs: Sequence[ResidentRun], name: str):
    return [np.concatenate(parts) for parts in zip(*(run.rows(name) for run in runs), strict=True)]


def evaluate_shared(program: ir.Program, facts, machine: Machine, ranks: int, *, resume_after: int = 0):
    """All rows of every relation; each stratum that tasks can share is shared."""
    words = {}
    for name, rows in facts.items():
        columns = encode(list(rows), program.relations[name].kinds, machine)
        words[name] = columns or [np.zeros(min(1, len(rows)), np.int64)]
    shared = 0
    for stratum in program.strata:
        if why_together(program, stratum) is not None:
            known = {n: ColumnFacts(tuple(c[: len(program.relations[n].columns)]), c[0].size) for n, c in words.items()}
            alone = ColumnarRun(program, known, machine, 1, Evaluation())
            alone.run([stratum])
            changed = [*stratum.relations, *(r.name for r in program.relations.values() if r.delta_of)]
            for name in changed:
                words[name] = alone.store[name].columns() or [np.zeros(alone.store[name].size, np.int64)]
            continue
        shared += 1
        keepers = [Kept(resume_after) for _ in range(ranks)]
        runs = run_shared(program, [stratum], words, lambda: machine, ranks, keepers)
        if resume_after and keepers[0].snapshots:
            resume = [keeper.snapshots[-1] for keeper in keepers]
            runs = run_shared(program, [stratum], words, lambda: machine, ranks, [Kept()] * ranks, resume)
        for name in stratum.relations:
            words[name] = gathered(runs, name)
    rows = {}
    for name, relation in program.relations.items():
        stored = Relation(name, len(relation.columns))
        if name in words:
            stored.insert(words[name][: stored.arity], words[name][0].size)
        rows[name] = set(StoredRows(stored, relation.kinds, machine))
        assert name not in words or len(rows[name]) == stored.size
    return rows, shared


@pytest.mark.parametrize("ranks", [2, 7])
@pytest.mark.parametrize("case", CASES, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_program(case: Path, ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    options = json.loads((case / "options.json").read_text()) if (case / "options.json").exists() else {}
    if "stdin" in options:
        return
    word_size = options.get("word_size", 64)
    program = Program.load(case / "program.dl", word_size=word_size)
    lowered = without_shared(program.optimised())
    if numbers_show(lowered):
        return  # a run on Spark has such a program in one place
    facts = case / "facts"
    run = Run(
        facts_dir=facts if facts.is_dir() else case, engine="naive", word_size=word_size, functors=program.functors()
    )
    seen: dict = {}
    from flintlog.engines import naive

    whole = naive.NaiveEngine.run

    def spy(self, program, evaluation):
        seen["evaluation"] = evaluation
        evaluation.facts = {name: list(rows) for name, rows in evaluation.facts.items()}
        return whole(self, program, evaluation)

    monkeypatch.setattr(naive.NaiveEngine, "run", spy)
    expected = evaluate(lowered, run)
    evaluation = seen["evaluation"]
    machine = Machine(Words(word_size), evaluation.functions, evaluation.notify)
    rows, _ = evaluate_shared(lowered, evaluation.facts, machine, ranks)
    for name in lowered.relations:
        assert rows[name] == set(expected[name]), name
