"""Programs and updates over checked kernels."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from tests.incremental import test_equation, test_room, test_shapes
from tests.incremental.test_room import cramped as cramped
from tests.kernels.checked import CheckedKernels, checked_kernels
from tests.programs.cases import CASES, check_case, name_of, run_case
from tests.properties import brute_force
from tests.properties.programs import programs

from flintlog.api.user_program import Program
from flintlog.engines.local import workers
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.protocol import Evaluation

SOME = ["adts/list", "components/qualifiers_inside", "eqrel/recursive_through_another", "recursion/mutual"]
BATCH = {"begin", "run_rule", "add_keys", "extend_chains"}
UPDATES = BATCH | {"run_update", "enter_columns", "enter_rows", "find_rows"}
ENGINES = {"one thread": LocalEngine(patience=0), "two threads": LocalEngine(threads=2, patience=0)}


@pytest.fixture
def kernels() -> Iterator[CheckedKernels]:
    with checked_kernels() as found:
        yield found


def few(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# --- Programs -------------------------------------------------------------------------------------


def check_program(case: Path, engine: LocalEngine, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ALONE", 1 << 4)  # so that a second thread joins
    check_case(case, out, run_case(case, out, monkeypatch, engine))


@pytest.mark.parametrize("case", [case for case in CASES if name_of(case) in SOME], ids=name_of)
def test_some_programs(case: Path, kernels: CheckedKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_program(case, ENGINES["two threads"], tmp_path, monkeypatch)
    assert "run_rule" in kernels.used


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_programs(
    case: Path, engine: str, kernels: CheckedKernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_program(case, ENGINES[engine], tmp_path, monkeypatch)


def check_random_programs(examples: int) -> None:
    @few(examples)
    @given(programs())
    def check(program: brute_force.Program) -> None:
        lowered = Program(program.text()).compilation.program
        expected = brute_force.evaluate(program)
        rows = ENGINES["one thread"].run(lowered, Evaluation())
        assert {name: set(rows[name]) for name in expected} == expected

    check()


def test_some_random_programs(kernels: CheckedKernels) -> None:
    check_random_programs(5)
    assert kernels.used >= BATCH


@pytest.mark.slow
def test_random_programs(kernels: CheckedKernels) -> None:
    check_random_programs(1000)


# --- Updates --------------------------------------------------------------------------------------


def check_scripts(examples: int, strategy: str) -> None:
    """Facts and rules come and go."""

    @few(examples)
    @given(test_equation.scripts())
    def check(script: object) -> None:
        test_equation.follow(script, rules=True, strategies=[strategy])  # type: ignore[arg-type]

    check()


def check_shape(rules: str, examples: int) -> None:
    @few(examples)
    @given(test_shapes._epochs)
    def check(epochs: list[test_shapes.Facts]) -> None:
        test_shapes.follow(rules, epochs, "update")

    check()


def test_some_updates(kernels: CheckedKernels) -> None:
    check_scripts(2, "update")
    check_shape(test_shapes.SHAPES["below and above"], 1)
    assert kernels.used >= UPDATES


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["update", "dred", "counting", "auto"])
def test_updates(kernels: CheckedKernels, strategy: str) -> None:
    check_scripts(300, strategy)


@pytest.mark.slow
@pytest.mark.parametrize("rules", test_shapes.SHAPES.values(), ids=test_shapes.SHAPES)
def test_shapes_of_recursion(kernels: CheckedKernels, rules: str) -> None:
    check_shape(rules, 100)


@pytest.mark.slow
@pytest.mark.parametrize("rules", test_room.PROGRAMS.values(), ids=test_room.PROGRAMS)
def test_room_is_made_as_it_is_needed(cramped: None, kernels: CheckedKernels, rules: str) -> None:
    test_room.script(test_room.DECLARATIONS + rules, 1)


@pytest.mark.slow
def test_rows_that_no_word_holds(cramped: None, kernels: CheckedKernels) -> None:
    test_room.script(test_room.WIDE, 1, scale=10**9)


# --- Storage --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["best_relation", "index", "numbering", "relation", "row_places", "rule_code"])
def test_storage(name: str) -> None:
    """The unit tests of storage, which reach every kernel of a run; not those with tens of thousands of rows."""
    file = Path(__file__).parents[1] / f"unit/engines/local/test_{name}.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.kernels.everywhere", "-k", "not many and not short"]
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
