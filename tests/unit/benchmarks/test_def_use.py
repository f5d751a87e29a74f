"""benchmarks/programs/def_use derives what a search for each definition and each use finds."""

from __future__ import annotations

import pytest
from tests.unit.benchmarks.def_use_by_search import def_use
from tests.unit.benchmarks.def_use_facts import RandomCode
from tests.unit.benchmarks.twin import Rows, Twin

TWIN = Twin("def_use", def_use)
CASES = [RandomCode(seed).facts for seed in range(6)]


@pytest.mark.parametrize("facts", CASES)
def test_every_relation_equals_the_searches(facts: Rows) -> None:
    assert facts.keys() == set(TWIN.inputs)
    assert TWIN.differing(facts) == set()


def test_cases_reach_every_relation() -> None:
    assert TWIN.unreached(CASES) == set()


def test_liveness_by_instructions_agrees_with_liveness_by_blocks() -> None:
    for facts in CASES:
        found = def_use(facts)
        blocks = {block for block, _ in facts["Block_last_instruction"]}
        assert {row for row in found["LiveBefore"] if row[0] in blocks} == found["LiveAtEntry"]


@pytest.mark.slow
@pytest.mark.parametrize("data", TWIN.data, ids=lambda data: data["name"])
def test_expected_sizes(data) -> None:
    found = def_use(TWIN.real_facts(data["name"]))
    assert data["sizes"] == {name: len(found[name]) for name in TWIN.printed}
