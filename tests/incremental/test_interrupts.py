"""A transaction that is interrupted anywhere has changed nothing, a question spoils nothing, and the next is right."""

from __future__ import annotations

import random
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.incremental.tracing import tracing

import flintlog as fl
from flintlog.incremental.maintained import Maintained
from flintlog.incremental.rows import maintained_relation as room

PROGRAM = """
    .decl e(x: number, y: number)
    .decl w(x: number, y: number, c: number)
    .decl p(x: number, y: number)
    .decl any()
    .decl same(x: number, y: number) eqrel
    .decl far(x: number, d: number)
    .decl many(x: number, n: number)
    .decl lonely(x: number)
    p(x, y) :- e(x, y).
    p(x, z) :- p(x, y), p(y, z).
    any() :- p(x, x).
    same(x, y) :- e(x, y), x < 5.
    far(0, 0).
    far(y, d + c) :- far(x, d), w(x, y, c), d < 50.
    far(x, a) <= far(x, b) :- b <= a.
    many(x, n) :- e(x, _), n = count : { p(x, _) }.
    lonely(x) :- e(x, _), !far(x, _).
"""
QUESTION = "p(x, _y), e(_y, z), x < z"
FILES = (
    "maintained_relation.py",
    "row_log.py",
    "row_rounds.py",
    "epoch.py",
    "upkeep.py",
    "state.py",
    "relation.py",
    "row_places.py",
    "index.py",
    "kernel_stage.py",
    "pipeline.py",
)
# Later lines than this are seldom reached; then the transaction just goes through.
LAST_LINE = 4000


class Interrupt(BaseException):
    pass


class Tracer:
    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        pass


@contextmanager
def interrupted(at: int) -> Iterator[None]:
    """Interrupts a change or a question after so many lines."""
    left = [at]

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                raise Interrupt
        return line

    def call(frame: FrameType, event: str, _: Any) -> Any:
        return line if frame.f_code.co_filename.endswith(FILES) else None

    def traced(action: Callable[..., Any]) -> Callable[..., Any]:
        def act(*arguments: Any) -> Any:
            with tracing(call):
                return action(*arguments)

        return act

    with pytest.MonkeyPatch.context() as patch:
        for name in ("_apply", "_answer"):
            patch.setattr(Maintained, name, traced(getattr(Maintained, name)))
        yield


def test_a_debugger_keeps_its_tracer() -> None:
    debugger = Tracer()
    with tracing(debugger):
        with suppress(Interrupt), tracing(Tracer()):
            raise Interrupt
        assert sys.gettrace() is debugger


def rows_of(database: fl.Database) -> dict[str, list[Any]]:
    return {name: sorted(database[name]) for name in database}


def make_change(database: fl.Database, strategy: str, gone: list[Any], edges: list[Any], costs: list[Any]) -> None:
    with database.transaction(strategy=strategy) as transaction:
        transaction.delete("e", gone)
        transaction.insert("e", edges)
        transaction.insert("w", costs)


def follow(folder: Path, seed: int, changes: int, most_new: int) -> int:
    """Makes random changes, each interrupted somewhere and then not; returns how many were."""
    chance, interrupts = random.Random(seed), 0
    with pytest.MonkeyPatch.context() as patch, fl.Database.create(folder, fl.Program(PROGRAM)) as database:
        patch.setattr(room, "MOST_NEW", most_new)
        patch.setattr(room, "FEW", chance.choice([0, 100_000]))
        for _ in range(changes):
            # Now and then values that need more bits than those before.
            scale, strategy = 10 ** chance.choice([0, 0, 0, 2, 5, 9]), chance.choice(["auto", "bootstrap", "update"])
            edges = [(chance.randrange(8) * scale, chance.randrange(8)) for _ in range(chance.randrange(1, 12))]
            costs = [(chance.randrange(4), chance.randrange(4), chance.randrange(9)) for _ in range(3)]
            gone = [row for row in database["e"] if chance.random() < 0.4]

            before = rows_of(database)
            try:
                with interrupted(chance.randrange(1, LAST_LINE)):
                    make_change(database, strategy, gone, edges, costs)
            except Interrupt:
                interrupts += 1
                assert rows_of(database) == before
                assert database.check() == []
                make_change(database, strategy, gone, edges, costs)
            with suppress(Interrupt), interrupted(chance.randrange(1, LAST_LINE // 4)):
                database.query(QUESTION)
            rows = rows_of(database)
            expected = {(x, z) for x, y in rows["p"] for v, z in rows["e"] if v == y and x < z}
            assert {*database.query(QUESTION)} == expected
            assert database.check() == []
    return interrupts


@pytest.mark.parametrize("most_new", [0, 2])
def test_interrupts(most_new: int, tmp_path: Path) -> None:
    assert follow(tmp_path / "db", most_new, 12, most_new) > 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_interrupts(seed: int, tmp_path: Path) -> None:
    assert follow(tmp_path / "db", 100 + seed, 60, seed % 2 * 2) > 10


@contextmanager
def signalled(file: str, at: int) -> Iterator[list[int]]:
    """Sends the process an interrupt after so many lines of a file; what is left of these is yielded."""
    left = [at]

    def line(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            left[0] -= 1
            if left[0] == 0:
                signal.raise_signal(signal.SIGINT)
        return line

    with tracing(lambda frame, event, _: line if frame.f_code.co_filename.endswith(file) else None):
        yield left


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # between `open` and `with`
def test_nothing_is_lost_where_a_snapshot_is_interrupted(tmp_path: Path) -> None:
    edge, at, is_interrupted = 0, 0, True
    with fl.Database.create(tmp_path / "db", fl.Program(".decl e(x: number)")) as database:
        while is_interrupted:
            at += 1
            with database.transaction() as before:
                before.insert("e", [(edge := edge + 1,)])
            with suppress(KeyboardInterrupt), signalled("store.py", at) as left:
                database.compact()
            is_interrupted = left[0] <= 0
            with database.transaction() as after:
                after.insert("e", [(edge := edge + 1,)])
            with fl.Database.open(tmp_path / "db", read_only=True) as reader:
                assert len(reader["e"]) == edge
            others = {path.name for path in (tmp_path / "db").glob("*-*")}
            if not is_interrupted:
                assert len(others) == 2  # one snapshot, one journal
    assert at > 50
