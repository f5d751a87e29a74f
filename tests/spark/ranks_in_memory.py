"""Strata evaluated as tasks do it, in this process: ranks are threads that exchange rows in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute

from flintlog.engines.local.fixpoint import ColumnarRun
from flintlog.engines.local.row_strata import StoredRows, encode
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.protocol import Evaluation
from flintlog.engines.reference.closures import Machine
from flintlog.engines.spark.embedded.machines import MachineSeed
from flintlog.engines.spark.embedded.parcels import Packed
from flintlog.engines.spark.embedded.placement import Snapshot
from flintlog.engines.spark.embedded.resident import ResidentRun
from flintlog.engines.spark.embedded.tasks import DecomposedTask, Work
from flintlog.engines.spark.strata.pivot import decompose, find_pivots
from flintlog.engines.spark.strata.spread import spread
from flintlog.engines.spark.strata.traits import why_together
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir import program as ir


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


def run_shared(
    program: ir.Program, strata: Sequence[ir.Stratum], words, machine_of, ranks: int, keepers, resume=None, cut=True
):
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
        except Exception as error:  # noqa: BLE001 - of another thread
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


def run_decomposed(program: ir.Program, stratum: ir.Stratum, pivots, words, machine: Machine, tasks: int):
    """A stratum's relations, each part of them evaluated by a task that sees only its own rows."""
    parts = decompose(program, stratum, pivots)
    inputs = [*parts.reads]
    carried = {
        i: Packed(pa.table({f"c{j}": column for j, column in enumerate(words[relation])}))
        for i, (relation, _) in enumerate(parts.reads.values())
        if relation in words
    }
    width = max(1, *(len(program.relations[name].columns) for name in stratum.relations))
    seed = MachineSeed(machine.words.size, tuple(machine.known.values), True, machine.functions)
    work = Work(parts.program, tuple(inputs), carried, stratum.relations, (), seed, None, 1, True, width)
    found: dict[str, list] = {name: [] for name in stratum.relations}
    for task in range(tasks):
        here = pa.RecordBatch.from_pydict(
            {"r": pa.array([len(inputs)], pa.int32()), "k": pa.array([task], pa.int32()), "c0": [task]}
        )
        for batch in DecomposedTask(work, parts, tasks)(iter([here])):
            for number, name in enumerate(stratum.relations):
                chosen = batch.filter(pa.compute.equal(batch.column("r"), number))
                arity = max(1, len(program.relations[name].columns))
                found[name].append([chosen.column(f"c{i}").to_numpy(zero_copy_only=False) for i in range(arity)])
    return {
        name: [np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)]
        for name, parts in found.items()
    }


def _segments(program: ir.Program, parts: bool) -> list[list[ir.Stratum]]:
    """Strata that tasks share go together where they follow one another."""
    segments: list[list[ir.Stratum]] = []
    before = False
    for stratum in program.strata:
        shared = why_together(program, stratum) is None and not (parts and find_pivots(program, stratum))
        if shared and before:
            segments[-1].append(stratum)
        else:
            segments.append([stratum])
        before = shared
    return segments


def evaluate_shared(program: ir.Program, facts, machine: Machine, ranks: int, *, resume_after=0, cut=True, parts=False):
    """All rows of every relation; each stratum that tasks can share is shared. With `resume_after`, a second run begins
    at a snapshot of the first. With `parts`, strata that have a pivot are decomposed."""
    words = {}
    for name, rows in facts.items():
        columns = encode(list(rows), program.relations[name].kinds, machine)
        words[name] = columns or [np.zeros(min(1, len(rows)), np.int64)]
    for strata in _segments(program, parts):
        stratum = strata[0]
        if why_together(program, stratum) is not None:
            known = {n: ColumnFacts(tuple(c[: len(program.relations[n].columns)]), c[0].size) for n, c in words.items()}
            alone = ColumnarRun(program, known, machine, 1, Evaluation())
            alone.run([stratum])
            changed = [*stratum.relations, *(r.name for r in program.relations.values() if r.delta_of)]
            for name in changed:
                words[name] = alone.store[name].columns() or [np.zeros(alone.store[name].size, np.int64)]
            continue
        pivots = find_pivots(program, stratum) if parts else None
        if pivots is not None:
            words |= run_decomposed(program, stratum, pivots, words, machine, ranks)
            continue
        keepers = [Kept(resume_after) for _ in range(ranks)]
        runs = run_shared(program, strata, words, lambda: machine, ranks, keepers, cut=cut)
        if resume_after and keepers[0].snapshots:
            resume = [keeper.snapshots[len(keeper.snapshots) // 2] for keeper in keepers]
            runs = run_shared(program, strata, words, lambda: machine, ranks, [Kept()] * ranks, resume, cut)
        for name in [name for stratum in strata for name in stratum.relations]:
            words[name] = gathered(runs, name)
    rows = {}
    for name, relation in program.relations.items():
        stored = Relation(name, len(relation.columns))
        if name in words:
            stored.insert(words[name][: stored.arity], words[name][0].size)
        rows[name] = set(StoredRows(stored, relation.kinds, machine))
        assert name not in words or len(rows[name]) == stored.size
    return rows
