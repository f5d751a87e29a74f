"""Threads take turns with a database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import flintlog as fl

PATHS = """
    .decl edge(x: number, y: number)
    .decl path(x: number, y: number)
    path(x, y) :- edge(x, y).
    path(x, z) :- path(x, y), edge(y, z).
"""


@pytest.mark.parametrize("readers", [0, 2])
def test_threads_write_and_read(tmp_path: Path, readers: int) -> None:
    edges = [(i, i + 1) for i in range(60)]
    with fl.Database.create(tmp_path / "d", fl.Program(PATHS), edge=edges) as database:

        def write(number: int) -> list[tuple[int, int]]:
            rows = [(1000 * number + i, 1000 * number + i + 1) for i in range(15)]
            for row in rows:
                with database.transaction() as change:
                    change.insert("edge", [row])
                assert row in change.result["edge"].inserted
            return rows

        def read(number: int) -> list[tuple[int, int]]:
            for _ in range(15):
                assert len(database.query("path(5, x)")) == 55
                assert len(database["path"].rows()) >= 60 * 61 // 2
            return []

        with ThreadPoolExecutor(3 + readers) as pool:
            tasks = [pool.submit(write, number) for number in (1, 2, 3)]
            tasks += [pool.submit(read, number) for number in range(readers)]
        expected = {*edges, *(row for task in tasks for row in task.result())}
        assert database.epoch == 45
        assert {*database["edge"]} == expected
        assert database.check() == []
    with fl.Database.open(tmp_path / "d", read_only=True) as database:
        assert {*database["edge"]} == expected
