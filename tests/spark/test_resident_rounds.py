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
from flintlog.engines.naive import NaiveEngine
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


def evaluate_shared(program: ir.Program, facts, machine: Machine, ranks: int, *, resume_after=0, cut=True):
    """All rows of every relation; each stratum that tasks can share is shared. With `resume_after`, a second run begins
    at the last snapshot of the first."""
    words = {}
    for name, rows in facts.items():
        columns = encode(list(rows), program.relations[name].kinds, machine)
        words[name] = columns or [np.zeros(min(1, len(rows)), np.int64)]
    for stratum in program.strata:
        if why_together(program, stratum) is not None:
            known = {n: ColumnFacts(tuple(c[: len(program.relations[n].columns)]), c[0].size) for n, c in words.items()}
            alone = ColumnarRun(program, known, machine, 1, Evaluation())
            alone.run([stratum])
            changed = [*stratum.relations, *(r.name for r in program.relations.values() if r.delta_of)]
            for name in changed:
                words[name] = alone.store[name].columns() or [np.zeros(alone.store[name].size, np.int64)]
            continue
        keepers = [Kept(resume_after) for _ in range(ranks)]
        runs = run_shared(program, [stratum], words, lambda: machine, ranks, keepers, cut=cut)
        if resume_after and keepers[0].snapshots:
            resume = [keeper.snapshots[len(keeper.snapshots) // 2] for keeper in keepers]
            runs = run_shared(program, [stratum], words, lambda: machine, ranks, [Kept()] * ranks, resume, cut)
        for name in stratum.relations:
            words[name] = gathered(runs, name)
    rows = {}
    for name, relation in program.relations.items():
        stored = Relation(name, len(relation.columns))
        if name in words:
            stored.insert(words[name][: stored.arity], words[name][0].size)
        rows[name] = set(StoredRows(stored, relation.kinds, machine))
        assert name not in words or len(rows[name]) == stored.size
    return rows


def compiled(case: Path) -> tuple[Program, ir.Program, Run]:
    options = json.loads((case / "options.json").read_text()) if (case / "options.json").exists() else {}
    word_size = options.get("word_size", 64)
    program = Program.load(case / "program.dl", word_size=word_size)
    facts = case / "facts" if (case / "facts").is_dir() else case
    run = Run(facts_dir=facts, engine="naive", word_size=word_size, functors=program.functors())
    return program, without_shared(program.optimised()), run


def is_shareable(case: Path) -> bool:
    """Programs that see the order of rows run in one place; what reads standard input has none here."""
    options = case / "options.json"
    reads_stdin = options.exists() and "stdin" in options.read_text()
    return not reads_stdin and not numbers_show(compiled(case)[1])


SHAREABLE = [case for case in CASES if is_shareable(case)]


@pytest.mark.parametrize("ranks", [2, 7])
@pytest.mark.parametrize("case", SHAREABLE, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_program(case: Path, ranks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _, lowered, run = compiled(case)
    evaluations: list[Evaluation] = []
    whole = NaiveEngine.run

    def spy(self, program, evaluation):
        evaluation.facts = {name: list(rows) for name, rows in evaluation.facts.items()}
        evaluations.append(evaluation)
        return whole(self, program, evaluation)

    monkeypatch.setattr(NaiveEngine, "run", spy)
    expected = evaluate(lowered, run)
    facts, functions = evaluations[0].facts, evaluations[0].functions
    machine = Machine(Words(run.word_size), functions, lambda message, span: None)
    rows = evaluate_shared(lowered, facts, machine, ranks)
    for name in lowered.relations:
        assert rows[name] == set(expected[name]), name


def edges(seed: int, nodes: int, count: int) -> list[tuple[int, int]]:
    random = np.random.default_rng(seed)
    return [(int(a), int(b)) for a, b in random.integers(0, nodes, (count, 2))]


MANY_ATOMS = """
    .decl a(x: number, y: number)  .input a
    .decl b(x: number, y: number)  .input b
    .decl p(x: number, y: number)  .output p
    .decl q(x: number, y: number)  .output q
    .decl far(x: number) .output far
    p(x, y) :- a(x, y).
    p(x, w) :- b(y, x), p(y, z), p(z, w), x != w.
    q(z, w) :- b(y, x), p(y, z), p(x, w).
    q(x, y) :- q(x, z), k = z + 1, q(k, y), !a(x, y).
    p(x, y) :- q(x, u), q(y, v), b(u, v), u < v.
    far(x) :- p(x, _), !q(x, _).
"""
SHORTEST = """
    .decl w(x: number, y: number, c: number)  .input w
    .decl d(x: number, c: number)  .output d
    d(0, 0).
    d(y, MIN(c + l)) :- d(x, c), w(x, y, l).
    .decl total(s: number) .output total
    total(s) :- s = sum c : d(_, c).
"""


@pytest.mark.parametrize("cut", [True, False])
@pytest.mark.parametrize("resume_after", [0, 1, 2])
@pytest.mark.parametrize("ranks", [1, 2, 5])
@pytest.mark.parametrize("text", [MANY_ATOMS, SHORTEST])
def test_large_atoms_and_resumption(text: str, ranks: int, resume_after: int, cut: bool) -> None:
    facts = {"a": edges(1, 12, 14), "b": edges(2, 12, 14), "w": [(*e, 1 + sum(e) % 7) for e in edges(3, 60, 150)]}
    program = Program(text)
    given = {name: rows for name, rows in facts.items() if name in program.compilation.program.relations}
    expected = program.run(given, engine="naive")
    lowered = without_shared(program.optimised())
    machine = Machine(Words(64), {}, lambda message, span: None)
    rows = evaluate_shared(lowered, given, machine, ranks, resume_after=resume_after, cut=cut)
    for name in ("p", "q", "far", "d", "total"):
        if name in lowered.relations:
            assert rows[name], name
            assert rows[name] == set(expected[name]), name


def test_a_rule_without_a_common_variable_is_cut() -> None:
    lowered = without_shared(Program(MANY_ATOMS).optimised())
    strata = [stratum for stratum in lowered.strata if stratum.rules]
    placement = spread(lowered, strata, frozenset({"a", "b"}))
    assert any("#" in name for name in placement.copies)
    assert all(copy.column != -1 for name in ("p", "q") for copy in placement.copies[name]), "no copy of all of it"
    whole = spread(lowered, strata, frozenset({"a", "b"}), cut=False)
    assert not any("#" in name for name in whole.copies)
