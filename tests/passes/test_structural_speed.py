"""All passes together take less than two seconds, on the largest program there is and on one of 500 rules."""

from __future__ import annotations

import random
from pathlib import Path
from time import process_time

from tests.machine import slowness

from flintlog.api.user_program import Program

POINTS_TO = Path(__file__).parents[2] / "benchmarks" / "programs" / "points_to" / "program.dl"
INPUTS, DERIVED, RULES = 20, 60, 500


def seconds(program: Program) -> float:
    """The processor's time for all passes: others may want the processor too."""
    before = program.results_only()
    start = process_time()
    result = program.optimised()
    taken = process_time() - start
    assert result is not before
    return taken


def generated() -> str:
    """Recursive rules of two to six atoms, some with a comparison or a negation, and a query with a constant."""
    rng = random.Random(3)
    names = [f"e{i}" for i in range(INPUTS)] + [f"r{i}" for i in range(DERIVED)]
    lines = [f".decl {name}(x: number, y: number)" for name in names] + [f".input e{i}" for i in range(INPUTS)]
    lines += [".decl out(y: number)", ".output out", f"out(y) :- r{DERIVED - 1}(1, y)."]
    for number in range(RULES):
        head = number % DERIVED
        variables = ["x", *(f"v{i}" for i in range(rng.randrange(2, 7)))]
        body = [
            f"{rng.choice(names[: INPUTS + head + 3])}({variables[i]}, {rng.choice(variables[i + 1 : i + 3])})"
            for i in range(len(variables) - 1)
        ]
        bound = sorted({name for atom in body for name in atom[atom.index("(") + 1 : -1].split(", ")})
        if rng.random() < 0.3:
            body.append(f"{rng.choice(bound)} != {rng.choice(bound)}")
        if rng.random() < 0.2:
            body.append(f"!e{rng.randrange(INPUTS)}(x, {rng.choice(bound)})")
        lines.append(f"r{head}(x, {rng.choice(bound)}) :- {', '.join(body)}.")
    return "\n".join(lines)


def test_the_points_to_analysis() -> None:
    assert seconds(Program.load(POINTS_TO)) < 2 * slowness()


def test_five_hundred_rules() -> None:
    program = Program(generated())
    assert sum(len(stratum.rules) for stratum in program.results_only().strata) > 400
    assert seconds(program) < 2 * slowness()
