"""The page `docs/spark-results.md`, of what the commands have found."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.machine import later_changes
from benchmarks.results import BadResults
from benchmarks.spark import growth, rounds, spill, table
from benchmarks.spark.results import comparison, joined, read

TITLES = {
    "compare": "Against what Spark users have",
    "rounds": "What a round costs",
    "growth": "Growing data on two cores",
    "spill": "A result larger than memory",
}
_WHAT = {
    "compare": """\
`python -m benchmarks.spark compare --data DIR`. *hand-written* is a loop written with DataFrames, WITH RECURSIVE is
Spark's own SQL (`benchmarks/rivals/` has both); the other columns are Flintlog, with its own choice of strategy
(auto) or a forced one. In brackets: how many times as fast as the hand-written loop. A dash: a strategy that does not
apply.""",
    "rounds": """\
`python -m benchmarks.spark rounds`: a walk along a chain, one new row a round, two tasks. Early rounds are the
difference between the first two lengths, late ones that between the last two.""",
    "growth": """\
`python -m benchmarks.spark growth`: tc on a random graph, once and several times side by side, two tasks.""",
    "spill": f"`python -m benchmarks.spark spill`: routes over hubs with `dataframe` on `{spill.MASTER}`.",
}


def page(files: Iterable[Path]) -> str:
    """All that is in the files, in a fixed order; a comparison may be in several. Raises BadResults."""
    tables: dict[str, dict[str, Any]] = {}
    for found in map(read, files):
        before = tables.get(found["kind"])
        tables[found["kind"]] = found if before is None else joined(before, found)
    if unknown := tables.keys() - TITLES.keys():
        raise BadResults(f"there is no command `{', '.join(sorted(unknown))}`")
    parts = ["<!-- Made by: python -m benchmarks.spark report -->\n# Results on Spark"]
    for kind, title in TITLES.items():
        if kind in tables:
            parts += [f"## {title}", _WHAT[kind], markdown(tables[kind]).rstrip()]
    return "\n\n".join(parts) + "\n"


def markdown(found: dict[str, Any]) -> str:
    """What one command has found. Raises BadResults for a file of another version."""
    try:
        match found["kind"]:
            case "compare":
                return table.markdown(comparison(found))
            case "rounds":
                return _load(found) + rounds.table([rounds.Cost(**cost) for cost in found["costs"]])
            case "growth":
                return _load(found) + growth.table([growth.Growth(**each) for each in found["growths"]])
            case "spill":
                return _load(found) + spill.table(spill.Spill(**{k: v for k, v in found.items() if k != "kind"}))
            case _:
                raise KeyError("kind")
    except (KeyError, TypeError) as error:
        raise BadResults(f"a result of `{found['kind']}` is of another version: {error}") from error


def _load(found: dict[str, Any]) -> str:
    machine = found["machine"]
    measured = f"Revision {machine['revision']}; load before the run {machine['load']}, {machine['cores']} cores."
    return f"{measured} {later_changes(machine['revision'])}\n\n"
