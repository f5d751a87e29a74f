"""Graphs that are made for measurements on Spark, and what is known about them."""

from __future__ import annotations

import doctest

import pytest
from benchmarks.definition import DefinitionError
from benchmarks.spark import contestants, data, growth, rounds, rows, spill

from flintlog.api.user_program import Program


@pytest.mark.parametrize("module", [contestants, data, growth, rounds], ids=lambda module: module.__name__)
def test_examples_in_docstrings(module) -> None:
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0


@pytest.mark.parametrize("arcs", [data.chain(30, 8), data.random_graph(30, 60), [(1, 1)], [(0, 1), (1, 0), (5, 0)]])
def test_a_closure_is_counted_as_the_program_derives_it(arcs) -> None:
    result = Program("""
        .decl Arc(x: number, y: number)
        .decl Tc(x: number, y: number)
        .decl Candidate(x: number, z: number, y: number)
        Tc(x, y) :- Arc(x, y).
        Tc(x, y) :- Tc(x, z), Arc(z, y).
        Candidate(x, z, y) :- Tc(x, z), Arc(z, y).
    """).run(engine="naive", Arc=arcs)
    assert data.closure(arcs) == data.Closure(len(result["Tc"]), len(arcs) + len(result["Candidate"]))


def test_copies_share_nothing() -> None:
    arcs = data.random_graph(20, 50)
    once, thrice = data.closure(arcs), data.closure(data.copies(arcs, 3))
    assert (thrice.rows, thrice.candidates) == (3 * once.rows, 3 * once.candidates)


def test_a_chain_is_as_deep_as_it_is_long() -> None:
    arcs = data.chain(10, 4)
    assert len(arcs) == 9 + 4
    assert data.closure(data.chain(10, 0)).rows == 45
    assert data.closure(arcs).rows > 45


def test_routes_are_as_many_as_the_program_finds() -> None:
    result = Program(spill.ROUTES).run(engine="naive", Leg=list(spill.legs(2)))
    assert len(result["Route"]) == spill.routes(2)


def test_rows_are_chosen_by_name() -> None:
    assert [row.name for row in rows.chosen(["tc:RAND-1k"])] == ["tc:RAND-1k"]
    assert {row.program for row in rows.chosen(["cc", "sg"])} == {"cc", "sg"}
    assert [row.name for row in rows.chosen([])] == list(rows.ROWS)
    with pytest.raises(DefinitionError, match="no row matches tx"):
        list(rows.chosen(["tx"]))


@pytest.mark.parametrize("text", [rounds.WALK, rounds.NAMED_WALK])
def test_a_walk_has_a_row_for_every_node(text) -> None:
    result = Program(text).run(engine="naive", Arc=data.chain(7, 0))
    assert len(result["At"]) == 7 * (2 if text is rounds.NAMED_WALK else 1)
