"""A run as a Markdown page."""

from benchmarks import machine, summary
from benchmarks.results import Outcome, Results, RowResult


def markdown(results: Results, plots: list[str] | None = None) -> str:
    """The page: what was measured on what, the table, what went wrong, the plots (file names)."""
    parts = ["# Benchmark results", _conditions(results), _table(results), _tally(results)]
    if problems := _problems(results):
        parts.append("## Not measured\n\n" + "\n".join(problems))
    parts.extend(f"![{name}]({name})" for name in plots or [])
    return "\n\n".join(part for part in parts if part) + "\n"


def _conditions(results: Results) -> str:
    described, settings = results.machine, results.settings
    revision, memory = described["revision"], described["memory_gib"]
    runs = f"{settings['threads']} threads, median of {settings['repeat']} runs, warm-up: {settings['warm_up']}"
    lines = [
        f"- {results.started}, revision {revision}",
        f"- {machine.later_changes(revision)}",
        f"- {described['cpu']}, {described['cores']} cores, {memory} GiB, {described['system']}",
        f"- {'; '.join(results.contestants.values())}; Python {described['python']}",
        f"- engine {settings['engine']}, {runs}",
    ]
    lines += [f"- without {name}: {reason}" for name, reason in results.absent.items()]
    if sentence := summary.busy(results):
        lines.append(f"- **{sentence}** Trust the ratios more than the times.")
    return "\n".join(lines)


# So many relations of a program are shown.
MOST_RELATIONS = 3


def _table(results: Results) -> str:
    rivals = [name for name in results.contestants if name != "flintlog"]
    # Soufflé comes from no package registry: where it is not installed, its reference figure at least is shown.
    quoted = [] if "souffle" in rivals else ["souffle"]
    header = ["program : data", "rows", "flintlog s (CPU s, MB)"]
    header += [f"{name} s (CPU s, MB)" for name in rivals]
    header += [f"÷ {name}" for name in rivals]
    header += [f"{name}, reference s" for name in quoted]
    header += ["goal s (× scale)", "met"]
    lines = [_line(header), _line(["---"] * len(header))]
    for row in results.rows:
        cells = [
            f"{row.program} : {row.data}",
            _derived(row),
        ]
        cells += [_figures(row.outcomes[name]) for name in ["flintlog", *rivals]]
        cells += [_ratio(summary.ratio(row, name)) for name in rivals]
        cells += [_reference(row, name) for name in quoted]
        cells += _goal(row, results)
        lines.append(_line(cells))
    return "\n".join(lines)


def _derived(row: RowResult) -> str:
    """What came out, of many relations the largest."""
    expected = list(row.expected.items())
    if len(expected) > MOST_RELATIONS:
        expected.sort(key=lambda item: -int(item[1]) if str(item[1]).isdigit() else 0)
    text = ", ".join(f"{name} {_grouped(value)}" for name, value in expected[:MOST_RELATIONS])
    more = len(expected) - MOST_RELATIONS
    return f"{text} and {more} more" if more > 0 else text


def _goal(row: RowResult, results: Results) -> list[str]:
    goal = summary.goal(row, results)
    if goal is None:
        return ["–", ""]
    met = {None: "", True: "yes", False: "**no**"}[goal.met]
    return [f"{goal.scaled:.2f} ({goal.seconds:g} × {goal.factor:.2f})", met]


def _tally(results: Results) -> str:
    goals = [g for row in results.rows if (g := summary.goal(row, results)) is not None and g.met is not None]
    lines = [f"Goals met: {sum(g.met is True for g in goals)} of {len(goals)}."] if goals else []
    means = {name: summary.mean_ratio(results, name) for name in results.contestants if name != "flintlog"}
    lines += [f"Flintlog's time ÷ {name}'s, geometric mean: {mean:.2f}." for name, mean in means.items() if mean]
    return " ".join(lines)


def _problems(results: Results) -> list[str]:
    return [
        f"- {row.name}, {name}: {outcome.status}, {outcome.message}"
        for row in results.rows
        for name, outcome in row.outcomes.items()
        if outcome.status != "ok"
    ]


def _figures(outcome: Outcome) -> str:
    wall, cpu, mb = outcome.median("wall"), outcome.median("cpu"), outcome.median("mb")
    if wall is None or cpu is None or mb is None:
        return {"cannot": "–", "ok": ""}.get(outcome.status, f"**{outcome.status}**")
    return f"{wall:.2f} ({cpu:.2f}, {mb:,.0f})"


def _reference(row: RowResult, name: str) -> str:
    reference = row.references.get(name)
    return "–" if reference is None or reference.wall is None else f"{reference.wall:g}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _grouped(value: str) -> str:
    return f"{int(value):,}" if value.isdecimal() else value.replace("\n", " ")[:40]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
