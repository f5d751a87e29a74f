"""The same set of rows on any number of threads, also when rows do not fit into their packing."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

import pytest
from tests.unit.engines.local.closures_of_graphs import JOINS, OUTSIDE, agrees

from flintlog.api.user_program import Program
from flintlog.engines.local import kernel_stage, workers
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.local.kernel_stage import KernelStage
from flintlog.engines.local.storage import index
from flintlog.engines.local.workers import Workers
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads join at once and come back all the time."""
    monkeypatch.setattr(workers, "ALONE", 20)
    monkeypatch.setattr(workers, "BUDGET", 300)
    monkeypatch.setattr(kernel_stage, "BATCH", 64)
    monkeypatch.setattr(workers, "PARTS_WORTH", 64)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("text", [JOINS, OUTSIDE], ids=["joins", "outside"])
def test_threads_that_come_and_go(text: str, threads: int):
    assert agrees(text, 60, 130, threads)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("text", [JOINS, OUTSIDE], ids=["joins", "outside"])
def test_threads_as_they_are(text: str, threads: int):
    assert agrees(text, 60, 130, threads)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_closure_of_many_rows(threads: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(workers, "ALONE", 1000)
    assert agrees(JOINS, 150, 320, threads)


def test_rows_outside_are_seen_in_both_ways(monkeypatch: pytest.MonkeyPatch):
    late: list[bool] = []
    outside = KernelStage._outside

    def watched(self, thread, into, workers, kept):
        before = len(kept)
        outside(self, thread, into, workers, kept)
        late.append(len(kept) > before)

    monkeypatch.setattr(KernelStage, "_outside", watched)
    assert agrees(OUTSIDE, 60, 130)
    assert set(late) == {True, False}


def test_rows_outside_after_a_step_that_only_vectors_know(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernel_stage, "BATCH", 64)
    monkeypatch.setattr(index, "CHAINED", -1)
    text = """
.decl p(x: number, y: number)
p(x, y) :- x = range(1, 12), y = range(1, 12).
.decl q(x: number, y: number)
q(x, y) :- p(x, y), y < 50.
p(x, w) :- q(x, y), p(y, z), z < 50, w = (z + x * 1000) ^ 2.
"""
    program = Program(text).compilation.program
    found = {name: set(rows) for name, rows in LocalEngine(patience=0).run(program, Evaluation({})).items()}
    assert found == {name: set(rows) for name, rows in NaiveEngine().run(program, Evaluation({})).items()}


@pytest.fixture(params=[1, 2, 3])
def pool(request: pytest.FixtureRequest) -> Iterator[Workers]:
    pool = Workers(request.param)
    yield pool
    pool.close()


@pytest.mark.parametrize("size", [0, 1, 100, workers.PARTS_WORTH + 7])
def test_parts_cover_everything_once(pool: Workers, size: int):
    parts: list[tuple[int, int]] = []
    pool.in_parts(lambda start, end: parts.append((start, end)), size)
    ends = [0, *(end for _, end in sorted(parts))]
    assert sorted(parts) == list(pairwise(ends))
    assert ends[-1] == size


def test_pieces_of_work_are_done_once(pool: Workers):
    done: list[int] = []
    pool.each(partial(done.append, number) for number in range(50))
    assert sorted(done) == list(range(50))


def test_a_failure_in_a_piece_of_work_comes_out(pool: Workers):
    def fail() -> None:
        raise MemoryError

    with pytest.raises(MemoryError):
        pool.each([fail])
    if len(pool._blocks) > 1:
        with pytest.raises(MemoryError):
            pool.in_parts(lambda start, end: fail() if start else None, workers.PARTS_WORTH)
