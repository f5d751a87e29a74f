"""benchmarks/programs/borrow_check derives what searches of the control-flow graph find."""

from __future__ import annotations

from random import Random

import pytest
from tests.unit.benchmarks.borrow_check_by_points import borrow_check
from tests.unit.benchmarks.graph_search import Row
from tests.unit.benchmarks.twin import Rows, Twin

TWIN = Twin("borrow_check", borrow_check)

POINTS, ORIGINS, LOANS, VARIABLES, PATHS = (range(start, start + size) for start, size in
                                            ((0, 14), (100, 9), (200, 7), (300, 5), (400, 9)))  # fmt: skip
COLUMNS = {
    "path_is_var": (PATHS, VARIABLES),
    "path_assigned_at_base": (PATHS, POINTS),
    "path_moved_at_base": (PATHS, POINTS),
    "path_accessed_at_base": (PATHS, POINTS),
    "var_used_at": (VARIABLES, POINTS),
    "var_defined_at": (VARIABLES, POINTS),
    "var_dropped_at": (VARIABLES, POINTS),
    "use_of_var_derefs_origin": (VARIABLES, ORIGINS),
    "drop_of_var_derefs_origin": (VARIABLES, ORIGINS),
    "loan_issued_at": (ORIGINS, LOANS, POINTS),
    "loan_killed_at": (LOANS, POINTS),
    "loan_invalidated_at": (POINTS, LOANS),
    "subset_base": (ORIGINS, ORIGINS, POINTS),
    "known_placeholder_subset": (ORIGINS[:4], ORIGINS[:4]),
}


def random_function(seed: int) -> Rows:
    """A way through all points with a few jumps, and facts about them that no compiler would agree to."""
    random = Random(seed)
    facts: dict[str, set[Row]] = {
        name: {tuple(map(random.choice, columns)) for _ in range(9)} for name, columns in COLUMNS.items()
    }
    facts["cfg_edge"] = {(point, point + 1) for point in POINTS[:-1]}
    facts["cfg_edge"] |= {(random.choice(POINTS), random.choice(POINTS)) for _ in range(4)}
    facts["child_path"] = {(child, random.choice(PATHS[:i])) for i, child in enumerate(PATHS) if i}
    facts["universal_region"] = {(origin,) for origin in ORIGINS[:4]}
    facts["placeholder"] = set(zip(ORIGINS[:4], LOANS, strict=False))
    return dict(facts)


CASES = [random_function(seed) for seed in range(8)]


@pytest.mark.parametrize("facts", CASES)
def test_every_relation_equals_the_searches(facts: Rows) -> None:
    assert TWIN.differing(facts) == set()


def test_cases_reach_every_relation() -> None:
    assert TWIN.unreached(CASES) == set()


@pytest.mark.slow
@pytest.mark.parametrize("data", TWIN.data, ids=lambda data: data["name"])
def test_expected_sizes(data) -> None:
    found = borrow_check(TWIN.real_facts(data["name"]))
    assert data["sizes"] == {name: len(found[name]) for name in TWIN.printed}
