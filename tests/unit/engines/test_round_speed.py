"""What a round costs where there is little or nothing to do: long chains, analyses of a thousand rounds and more."""

from time import process_time

from tests.machine import slowness

from flintlog.api.user_program import Program
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.protocol import Evaluation

ROUNDS = 500
RULES = 40
ALLOWED = 150e-6  # seconds a rule and round


def program(rules: int, rounds: int) -> Program:
    """A chain of rounds, beside it rules that find nothing: half of the variants have an empty delta, half one row."""
    lines = [".decl r(x: number)", ".decl none(x: number)", ".input none", ".output r", "r(0)."]
    lines.append(f"r(x + 1) :- r(x), x < {rounds}.")
    for i in range(rules):
        lines += [f".decl s{i}(x: number)", f"s{i}(x) :- s{(i - 1) % rules}(x), r(x)."]
    lines += ["s0(x) :- none(x).", "r(x) :- s0(x)."]
    return Program("\n".join(lines))


def seconds_a_rule_and_round(rules: int = RULES, rounds: int = ROUNDS) -> float:
    """CPU seconds of a run over columns, divided by its rules and rounds."""
    lowered = program(rules, rounds).compilation.program
    engine = LocalEngine(threads=2, patience=0)
    best = float("inf")
    for _ in range(3):
        start = process_time()
        rows = engine.run(lowered, Evaluation({"none": []}))
        best = min(best, process_time() - start)
        assert len(rows["r"]) == rounds + 1
    return best / (rules * rounds)


def test_a_round_with_little_to_do_is_cheap() -> None:
    assert seconds_a_rule_and_round() < ALLOWED * slowness()
