"""Ranks in processes of their own send each other messages: what arrives, how fast, and what ends a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.spark.exchange_ranks import (
    accumulate,
    accumulated,
    exchange_anything,
    exchange_large,
    exchange_nothing,
    exchange_until,
    fail_after,
    lost_rank,
    ranks,
    start_driver,
)

from flintlog.engines.spark.exchange.errors import (
    DriverGone,
    ExchangeError,
    PeerLost,
    RanksMissing,
    RunFailed,
    Superseded,
)
from flintlog.engines.spark.exchange.mesh import Mesh
from flintlog.engines.spark.exchange.message import Message
from flintlog.engines.spark.exchange.rendezvous import Rendezvous, Report
from flintlog.engines.spark.exchange.snapshots import Snapshots

HERE = "127.0.0.1"


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_all_that_is_sent_arrives(count: int) -> None:
    with Rendezvous(count, HERE) as rendezvous:
        with ranks(count, exchange_anything, rendezvous.ticket, 1, 8, 30_000) as started:
            assert [rank.result() for rank in started] == [8] * count
        assert rendezvous.generation == 1
        assert rendezvous.failure is None


def test_large_messages_in_all_directions_at_once() -> None:
    rows = (50 << 20) // 16
    with Rendezvous(3, HERE) as rendezvous, ranks(3, exchange_large, rendezvous.ticket, 1, rows) as started:
        assert [rank.result() for rank in started] == [True] * 3


def test_a_round_without_rows_costs_next_to_nothing() -> None:
    """About 0.06 ms on an idle machine; the bound is for busy ones."""
    with Rendezvous(2, HERE) as rendezvous, ranks(2, exchange_nothing, rendezvous.ticket, 1, 2_000) as started:
        assert max(rank.result() for rank in started) < 5e-3


def test_a_killed_rank_is_lost_to_the_others_at_once() -> None:
    with Rendezvous(3, HERE) as rendezvous, ranks(3, exchange_until, rendezvous.ticket, 1, 0.0) as started:
        _wait_for(lambda: rendezvous.generation == 1)
        time.sleep(0.1)
        started[1].process.kill()
        killed = time.monotonic()
        assert [lost_rank(started[rank].result()) for rank in (0, 2)] == [1, 1]
        assert time.monotonic() - killed < 2


def test_all_ranks_resume_from_the_last_snapshot_that_all_have_written(tmp_path: Path) -> None:
    snapshots = Snapshots(str(tmp_path / "snapshots"), 3)
    reports: list[Report] = []
    with Rendezvous(3, HERE, reports.append) as rendezvous:
        with ranks(3, accumulate, rendezvous.ticket, 1, snapshots, 24, 2) as started:
            assert [lost_rank(started[rank].result()) for rank in (0, 1)] == [2, 2]
        _wait_for(lambda: rendezvous.last_snapshot == 1_000_002)
        saved = rendezvous.last_snapshot
        with ranks(3, accumulate, rendezvous.ticket, 2, snapshots, 24, 2) as started:
            results = [rank.result() for rank in started]
        assert rendezvous.generation == 2
        _wait_for(lambda: rendezvous.last_snapshot == 2_000_002)
    assert [result[:2] for result in results] == [(saved, 10)] * 3
    assert [result[2] for result in results] == _accumulate_alone(3, 24)
    assert {report.rank for report in reports} == {0, 1, 2}
    # At least the last two complete ones; whether older ones are gone depends on what the ranks had heard in time.
    for number in (2_000_001, 2_000_002):
        assert [int(snapshots.read(number, rank)[1]) for rank in range(3)] == [10 + 5 * (number % 1_000_000)] * 3
    snapshots.clear()
    assert not (tmp_path / "snapshots").exists()


def _accumulate_alone(count: int, rounds: int) -> list[list[int]]:
    import numpy as np

    numbers = [np.arange(4) + rank for rank in range(count)]
    for _ in range(rounds):
        numbers = [accumulated(numbers, rank) for rank in range(count)]
    return [part.tolist() for part in numbers]


def test_snapshots_older_than_the_last_two_complete_ones_are_stale() -> None:
    with Rendezvous(1, HERE) as rendezvous, Mesh.join(rendezvous.ticket, 0, 1) as mesh:
        assert mesh.resume_from is None
        numbers = [mesh.next_snapshot() for _ in range(3)]
        for number, stale_before in zip(numbers, [0, *numbers[:2]], strict=True):
            mesh.snapshot_written(number)
            _wait_for(partial(_has_heard, mesh, stale_before))
        assert rendezvous.last_snapshot == numbers[-1]


def test_a_closed_rendezvous_ends_all_exchanges() -> None:
    with Rendezvous(2, HERE) as rendezvous, ranks(2, exchange_until, rendezvous.ticket, 1, 0.0) as started:
        _wait_for(lambda: rendezvous.generation == 1)
        time.sleep(0.1)
        rendezvous.close()
        assert [type(rank.result(5)) for rank in started] == [DriverGone] * 2


def test_ranks_end_when_the_driver_is_killed() -> None:
    driver, ticket = start_driver(2)
    with ranks(2, exchange_until, ticket, 1, 0.0) as started:
        time.sleep(0.5)
        driver.kill()
        assert [type(rank.result(5)) for rank in started] == [DriverGone] * 2
    with pytest.raises(DriverGone, match="cannot be reached"):
        Mesh.join(ticket, 0, 2)


def test_a_failure_reaches_the_driver_and_all_ranks() -> None:
    payload = bytes(range(256)) * 1000
    with Rendezvous(3, HERE) as rendezvous:
        with ranks(3, fail_after, rendezvous.ticket, 1, 1, payload) as started:
            results = [rank.result() for rank in started]
        assert results[1] == "failed"
        assert [type(results[rank]) for rank in (0, 2)] == [RunFailed] * 2
        assert rendezvous.failure == payload
        with pytest.raises(RunFailed):
            Mesh.join(rendezvous.ticket, 0, 2)


def test_a_rank_that_never_comes_is_an_error_in_time() -> None:
    with Rendezvous(3, HERE, join_seconds=0.4) as rendezvous:
        errors = _join_in_threads(rendezvous, [(0, 1), (2, 1)])
        assert [type(error) for error in errors] == [RanksMissing] * 2
        assert "did not reach the driver within 0.4 s: 1" in str(errors[0])
        assert rendezvous.absent == [1]


def test_a_newer_attempt_takes_the_place_of_one_that_waits() -> None:
    with Rendezvous(2, HERE) as rendezvous:
        old: list[ExchangeError] = []
        thread = threading.Thread(target=_try_to_join, args=(rendezvous, 0, 10, old))
        thread.start()
        _wait_for(lambda: bool(rendezvous.addresses))
        assert _join_in_threads(rendezvous, [(0, 12), (1, 13)]) == []
        thread.join(10)
        assert [type(error) for error in old] == [Superseded]
        with pytest.raises(Superseded):
            Mesh.join(rendezvous.ticket, 1, 10)


def test_newer_attempts_end_the_old_generation() -> None:
    with Rendezvous(2, HERE) as rendezvous, ranks(2, exchange_until, rendezvous.ticket, 1, 0.0) as old:
        _wait_for(lambda: rendezvous.generation == 1)
        assert _join_in_threads(rendezvous, [(0, 2), (1, 2)]) == []
        assert rendezvous.generation == 2
        assert all(isinstance(rank.result(5), Superseded | PeerLost) for rank in old)


def test_a_rank_that_waits_leaves_when_the_driver_closes() -> None:
    with Rendezvous(2, HERE) as rendezvous:
        errors: list[ExchangeError] = []
        thread = threading.Thread(target=_try_to_join, args=(rendezvous, 0, 1, errors))
        thread.start()
        _wait_for(lambda: bool(rendezvous.addresses))
    thread.join(5)
    assert [type(error) for error in errors] == [DriverGone]


def test_ranks_that_finish_do_not_disturb_the_others() -> None:
    """A rank may be gone before the others have read its last message."""
    with Rendezvous(3, HERE) as rendezvous:
        assert _join_in_threads(rendezvous, [(0, 1), (1, 1), (2, 1)], rounds=1, slowest=2) == []


def _join_in_threads(
    rendezvous: Rendezvous, members: list[tuple[int, int]], rounds: int = 3, slowest: int | None = None
) -> list[ExchangeError]:
    """The errors of ranks that join, exchange a little and leave."""
    errors: list[ExchangeError] = []
    arguments = [(rendezvous, rank, attempt, errors, rounds, rank == slowest) for rank, attempt in members]
    threads = [threading.Thread(target=_try_to_join, args=given) for given in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    return errors


def _try_to_join(
    rendezvous: Rendezvous, rank: int, attempt: int, errors: list[ExchangeError], rounds: int = 3, slow: bool = False
) -> None:
    try:
        with Mesh.join(rendezvous.ticket, rank, attempt) as mesh:
            for round_ in range(rounds):
                mesh_out = [Message((round_, rank))] * mesh.ranks
                if slow:
                    time.sleep(0.2)
                assert [message.numbers[1] for message in mesh.exchange(mesh_out)] == list(range(mesh.ranks))
    except ExchangeError as error:
        errors.append(error)


def _has_heard(mesh: Mesh, stale_before: int) -> bool:
    mesh.check()
    return mesh.stale_before == stale_before


def _wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)
