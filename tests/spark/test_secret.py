"""Strangers who come to the connections of a resident run are refused, and the run goes on to its answer."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from flintlog.api.run import evaluate
from flintlog.api.user_program import Program
from flintlog.engines.protocol import Progress, RunOptions
from flintlog.engines.spark.engine import SparkEngine
from flintlog.engines.spark.exchange.errors import Refused
from flintlog.engines.spark.exchange.handshake import DRIVER, introduce, rank_purpose
from flintlog.engines.spark.exchange.rendezvous import Rendezvous
from flintlog.engines.spark_options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NODES = 400
CHAIN = f"""
    .decl edge(x: number, y: number)
    .decl path(x: number, y: number)
    .output path
    edge(x, x + 1) :- x = range(0, {NODES}).
    path(x, y) :- edge(x, y).
    path(x, z) :- path(x, y), edge(y, z).
"""
SECONDS = 30
WRONG = {"no secret": b"", "a wrong secret": os.urandom(32)}


class Watched(Rendezvous):
    """The rendezvous of a run, in hand. It hears rank 1 only when strangers have been at rank 0's door, which is open
    until all ranks are there."""

    made: list[Watched]

    def __init__(self, *arguments: Any, **more: Any) -> None:
        self.visited: dict[str, bool] = {}
        self._visits_are_over = threading.Event()
        self._visitor = threading.Thread(target=self._visit, daemon=True)
        self.first_is_here = threading.Event()
        super().__init__(*arguments, **more)
        self.made.append(self)
        self._visitor.start()

    def _register(self, frame: Any, line: Any) -> Any:
        if frame["rank"] == 1:
            assert self._visits_are_over.wait(SECONDS)
        member = super()._register(frame, line)
        if frame["rank"] == 0:
            self.first_is_here.set()
        return member

    def _visit(self) -> None:
        try:
            if self.first_is_here.wait(SECONDS):
                self.visited = {who: is_refused(self.addresses[0], rank_purpose(0), key) for who, key in WRONG.items()}
        finally:
            self._visits_are_over.set()


def is_refused(address: tuple[str, int], purpose: bytes, secret: bytes) -> bool:
    with closing(socket.create_connection(address, timeout=SECONDS)) as stranger:
        try:
            introduce(stranger, secret, purpose, SECONDS)
        except Refused:
            return True
    return False


def test_strangers_are_refused_and_the_run_goes_on(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flintlog.engines.spark.embedded.jobs.Rendezvous", Watched)
    monkeypatch.setattr(Watched, "made", [], raising=False)
    at_the_driver: dict[str, bool] = {}
    rounds: list[int] = []

    def listen(progress: Progress) -> None:
        if progress.round and not at_the_driver:  # the ranks are exchanging rows
            ticket = Watched.made[0].ticket
            at_the_driver.update(
                {who: is_refused((ticket.host, ticket.port), DRIVER, key) for who, key in WRONG.items()}
            )
        rounds.append(progress.round)

    options = SparkOptions(session=spark, strategy="resident", partitions=2)
    program = Program(CHAIN).optimised()
    rows = evaluate(program, SparkEngine(), RunOptions(spark=options, progress=listen))
    everybody = dict.fromkeys(WRONG, True)
    (rendezvous,) = Watched.made
    assert at_the_driver == everybody
    assert rendezvous.refused == len(WRONG)
    assert rendezvous.visited == everybody
    assert rendezvous.generation == 1, "nobody was lost"
    assert max(rounds) > 1
    assert len(rows["path"]) == NODES * (NODES + 1) // 2
    assert set(rows["path"]) == {(x, y) for x in range(NODES) for y in range(x + 1, NODES + 1)}
