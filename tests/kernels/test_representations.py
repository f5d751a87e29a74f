"""A closure in every kind of set and index that a relation may have, over checked kernels."""

from __future__ import annotations

from typing import Any

import pytest
from tests.kernels.checked import checked_kernels

from flintlog.api.user_program import Program
from flintlog.engines.local import workers
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.local.storage import index, relation
from flintlog.engines.protocol import Evaluation

CLOSURE = """
    .decl e(x: number, y: number)
    .decl p(x: number, y: number)
    .decl t(x: number, y: number, z: number)
    .decl u(x: number, y: number, z: number)
    .decl back(x: number)
    .decl ends(x: number)
    .output p, back, ends
    p(x, y) :- e(x, y).
    p(x, z) :- p(x, y), e(y, z).
    t(x, y, y) :- e(x, y).
    u(x, y, x) :- e(x, y).
    back(x) :- e(x, y), p(y, x), !e(y, x), x + 1 > y - y.
    ends(z) :- t(x, y, w), u(x, y, z), w != z.
"""
HASHED = {(index, "DENSE_DOMAIN"): 1, (index, "DENSE_FACTOR"): 0, (index, "CHAINED"): 8}
# How far nodes are from each other, bounds that send a small relation where large ones go, and the kernels there.
KINDS: dict[str, tuple[int, dict[Any, int], set[str]]] = {
    "keys": (1, {}, {"add_keys", "move_keys", "extend_chains"}),
    "bits": (1, {(relation, "MIN_BIT_ROWS"): 4}, {"fill_table"}),
    "short keys": (100, {(relation, "MIN_SHORT"): 13}, {"shorten_keys", "move_short"}),
    "rows of words": (10**12, {}, {"add_rows", "fill_wide"}),
    "hashed indexes": (1, HASHED, {"move_pairs", "number_groups", "order_rows"}),
    "hashed indexes of words": (10**12, HASHED, {"fill_wide", "number_groups", "order_rows"}),
}


def closure(nodes: int, kind: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Checks the closure of a cycle; returns the kernels that it took."""
    scale, bounds, _ = KINDS[kind]
    for (module, name), value in bounds.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(workers, "ALONE", 1 << 4)  # so that a second thread joins
    monkeypatch.setattr(workers, "PARTS_WORTH", 1 << 6)
    edges = [(scale * i, scale * ((i + 1) % nodes)) for i in range(nodes)]
    program = Program(CLOSURE).compilation.program
    with checked_kernels() as kernels:
        found = LocalEngine(threads, patience=0).run(program, Evaluation({"e": edges}))
    assert set(found["p"]) == {(scale * i, scale * j) for i in range(nodes) for j in range(nodes)}
    assert set(found["back"]) == set(found["ends"]) == {(scale * i,) for i in range(nodes)}
    return kernels.used


@pytest.mark.parametrize("kind", KINDS)
def test_a_small_closure(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    closure(8, kind, 2, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_a_closure(kind: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert closure(36, kind, threads, monkeypatch) >= KINDS[kind][2]
