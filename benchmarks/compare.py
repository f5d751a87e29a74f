"""Two runs side by side."""

from statistics import geometric_mean

from benchmarks.results import Outcome, Results, RowResult


def markdown(before: Results, after: Results) -> str:
    """Rows that both runs have: Flintlog's times, and how time and memory changed.

    The rivals' change on the same row says how much of Flintlog's is the machine's doing.
    """
    rivals = [name for name in after.contestants if name in before.contestants and name != "flintlog"]
    header = ["program : data", "before s", "after s", "after ÷ before", "MB after ÷ before"]
    header += [f"{name} after ÷ before" for name in rivals]
    lines = [_line(header), _line(["---"] * len(header))]
    changes: list[float] = []
    earlier = {row.name: row for row in before.rows}
    for row in after.rows:
        if row.name not in earlier:
            continue
        old, new = earlier[row.name], row
        change = _change(old, new, "flintlog", "wall")
        changes += [change] if change is not None else []
        cells = [f"{row.program} : {row.data}", _seconds(old.outcomes["flintlog"]), _seconds(new.outcomes["flintlog"])]
        cells += [_times(change), _times(_change(old, new, "flintlog", "mb"))]
        cells += [_times(_change(old, new, name, "wall")) for name in rivals]
        lines.append(_line(cells))
    head = f"before: {_origin(before)}  \nafter: {_origin(after)}\n\n"
    tail = (
        f"\n\nGeometric mean of after ÷ before over {len(changes)} rows: {geometric_mean(changes):.2f}"
        if changes
        else ""
    )
    return head + "\n".join(lines) + tail + "\n"


def _change(old: RowResult, new: RowResult, name: str, what: str) -> float | None:
    if name not in old.outcomes or name not in new.outcomes:
        return None
    if what == "mb":
        first, second = old.outcomes[name].median("mb"), new.outcomes[name].median("mb")
    else:
        first, second = old.outcomes[name].median("wall"), new.outcomes[name].median("wall")
    return second / first if first and second is not None else None


def _origin(results: Results) -> str:
    machine = results.machine
    engine = results.settings["engine"]
    return f"{results.started}, revision {machine['revision']}, engine {engine}, load {machine['load']}"


def _seconds(outcome: Outcome) -> str:
    wall = outcome.median("wall")
    return f"{wall:.2f}" if wall is not None else f"**{outcome.status}**"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
