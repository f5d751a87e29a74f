"""A run as pictures; needs matplotlib."""

from pathlib import Path
from typing import Literal

from benchmarks.results import Results

_PANELS: tuple[tuple[Literal["wall", "cpu", "mb"], str], ...] = (
    ("wall", "wall time, s"),
    ("cpu", "CPU time, s"),
    ("mb", "peak memory, MB"),
)


def draw(results: Results, folder: Path) -> list[str]:
    """One bar chart each for wall time, CPU time and memory, rows downwards, logarithmic. Returns the file names."""
    from matplotlib.figure import Figure

    names = list(results.contestants)
    rows = [row for row in results.rows if any(outcome.median("wall") for outcome in row.outcomes.values())]
    if not rows:
        return []
    height = 0.8 / len(names)
    files = []
    for what, label in _PANELS:
        figure = Figure(figsize=(9, 1.2 + 0.4 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for place, name in enumerate(names):
            values = [row.outcomes[name].median(what) or 0.0 for row in rows]
            positions = [index + (place - (len(names) - 1) / 2) * height for index in range(len(rows))]
            axes.barh(positions, values, height=height, label=name)
        axes.set_yticks(range(len(rows)), [row.name for row in rows])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlabel(label)
        axes.grid(axis="x", alpha=0.3)
        axes.legend()
        files.append(f"{what}.svg")
        figure.savefig(folder / files[-1])
    return files
