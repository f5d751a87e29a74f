"""The comparison as Markdown: times, and how many times faster than the hand-written loop each is."""

from collections.abc import Iterator

from benchmarks.machine import later_changes
from benchmarks.results import Outcome
from benchmarks.spark.contestants import HAND_WRITTEN, RECURSIVE_SQL
from benchmarks.spark.results import Comparison, RowResult

# What is asked for: the automatic choice on these programs, and `dataframe` where it is forced.
AUTO_PROGRAMS = ("tc", "tc_nonlinear", "sg", "reach", "cc", "sssp", "cspa", "andersen")
AUTO_TIMES = 10.0
DEEP_ROUNDS, DEEP_TIMES = 50, 3.0


def markdown(found: Comparison) -> str:
    """The table, how far the goals are met, and what did not come to an end."""
    parts = [_conditions(found), _table(found), "\n".join(_goals(found)), "\n".join(_problems(found))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _conditions(found: Comparison) -> str:
    machine, settings = found.machine, found.settings
    busy = " **The machine was busy.**" if machine["load"] > 0.5 * machine["cores"] else ""
    return f"""\
- {found.started}, revision {machine["revision"]}, Spark {settings["spark"]}, Python {machine["python"]}
- {later_changes(machine["revision"])}
- {machine["cpu"]}, {machine["cores"]} cores, {machine["memory_gib"]} GiB, {machine["system"]}; load before the run \
{machine["load"]}{busy}
- `{settings["master"]}`, {settings["memory"]} of memory each; from the files to the sizes, in a warm session; median \
of {settings["repeat"]}; a run is cut after {settings["limit"]:g} s"""


def _table(found: Comparison) -> str:
    header = ["program : data", "rows", "rounds", *(f"{name} s" for name in found.contestants)]
    lines = [_line(header), _line(["---", "---", *["--:"] * (len(header) - 2)])]
    for row in found.rows:
        derived = ", ".join(f"{name} {_grouped(value)}" for name, value in row.expected.items() if name != "Check")
        cells = [_cell(row, name, found.settings["limit"]) for name in found.contestants]
        lines.append(_line([f"{row.program} : {row.data}", derived, str(row.rounds), *cells]))
    return "\n".join(lines)


def _cell(row: RowResult, contestant: str, limit: float) -> str:
    """Seconds, and in brackets how many times faster than the hand-written loop."""
    outcome = row.outcomes.get(contestant)
    if outcome is None:
        return ""  # nobody asked for it
    if outcome.status == "timeout":
        return f"> {limit:g}"
    seconds = outcome.median("wall")
    if seconds is None:
        return _status(outcome)
    times = row.times_faster(contestant, limit)
    if contestant == HAND_WRITTEN or times is None:
        return _seconds(seconds)
    return f"{_seconds(seconds)} ({'> ' if times[1] else ''}{_times(times[0])})"


def _status(outcome: Outcome) -> str:
    return {"cannot": "–", "ok": ""}.get(outcome.status, f"**{outcome.status}**")


def _goals(found: Comparison) -> Iterator[str]:
    """A line for each row that misses what is asked for, after one that counts them."""
    met, missed = 0, []
    for row in found.rows:
        for contestant, goal in _asked(row):
            times = row.times_faster(contestant, found.settings["limit"])
            if times is not None and times[0] >= goal:
                met += 1
            elif contestant in found.contestants:
                shown = "no time" if times is None else f"{'> ' if times[1] else ''}{_times(times[0])}"
                missed.append(f"- {row.program} : {row.data}, {contestant}: {shown}, asked for {goal:g}×")
    if met or missed:
        yield (
            f"`auto` at least {AUTO_TIMES:g} times as fast as the hand-written loop, `dataframe` {DEEP_TIMES:g} times"
            f" from {DEEP_ROUNDS} rounds on and never slower: met {met} of {met + len(missed)} times."
        )
    if missed:
        yield ""
        yield from missed


def _asked(row: RowResult) -> Iterator[tuple[str, float]]:
    if row.program in AUTO_PROGRAMS:
        yield "auto", AUTO_TIMES
    if row.outcomes.get("dataframe", Outcome("cannot")).status != "cannot":
        yield "dataframe", DEEP_TIMES if row.rounds >= DEEP_ROUNDS else 1.0


def _problems(found: Comparison) -> Iterator[str]:
    lines = [
        f"- {row.program} : {row.data}, {name}: {outcome.status}, {outcome.message}"
        for row in found.rows
        for name, outcome in row.outcomes.items()
        if outcome.status not in ("ok", "timeout")
    ]
    if lines:
        yield f"Not measured ({RECURSIVE_SQL} is told how many rounds there are, and has limits of its own):"
        yield ""
        yield from lines


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _times(value: float) -> str:
    return f"{value:.1f}×" if value < 10 else f"{value:.0f}×"


def _grouped(value: str) -> str:
    return f"{int(value):,}" if value.isdecimal() else value


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
