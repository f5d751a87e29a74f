"""How long a program of a thousand rules takes to be read, checked and lowered here, and what a round costs: figures of
the README."""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.unit.engines.test_round_speed import seconds_a_rule_and_round  # noqa: E402
from tests.unit.test_speed import best_of_three, compile_seconds, program  # noqa: E402


def main() -> None:
    source = program(1000)
    reading, lowering = best_of_three(lambda: compile_seconds(source))
    rules = source.text.count(":-")
    print(
        f"{rules:,} rules: read and checked in {reading:.2f} s, lowered to IR in {lowering:.2f} s (CPU, best of three)"
    )
    print(f"a rule in a round with little to do: {1e6 * seconds_a_rule_and_round():.0f} µs (CPU, best of three)")


if __name__ == "__main__":
    main()
