"""docs/errors.md has every code that the sources can give, each once and in order, and no other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def codes_in_sources() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "src/flintlog").rglob("*.py")]
    return {code for text in texts for code in re.findall(r"\b[EW][0-9]{3}\b", text)}


def documented() -> list[tuple[str, ...]]:
    lines = (ROOT / "docs/errors.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ")]
    cells = [tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]) for row in rows]
    return [row for row in cells if row[0] != "code"]


def test_every_code_is_documented_and_exists():
    assert {row[0] for row in documented()} == codes_in_sources()


def test_every_code_has_meaning_example_and_mend_and_stands_once():
    rows = documented()
    assert [row for row in rows if len(row) != 4 or not all(row)] == []
    codes = [row[0] for row in rows]
    assert len(codes) == len(set(codes))


def test_nearly_every_code_has_a_wrong_program():
    shown = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests/errors").glob("*.err"))
    without = {code for code in codes_in_sources() if f"[{code}]" not in shown}
    # E127 takes a program too deep to keep, E802 and E803 all of the memory, E712, E713 and W702 a run that writes;
    # E651 is a second defence behind E604; E654, E714 and W703 take a run on Spark.
    # The codes of the command line, of the Python interface and of IR text have tests elsewhere.
    expected = {"E127", "E651", "E654", "E712", "E713", "E714", "E802", "E803", "W702", "W703"}
    assert {code for code in without if code[1] != "9"} == expected
