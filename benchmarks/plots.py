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
    """One picture each for wall time, CPU time and memory: a line for each row, a dot for each contestant.

    The axis is logarithmic, which is why they are dots: a bar would need a zero. Returns the file names.
    """
    from matplotlib.figure import Figure

    rows = [row for row in results.rows if any(outcome.median("wall") for outcome in row.outcomes.values())]
    if not rows:
        return []
    files = []
    for what, label in _PANELS:
        figure = Figure(figsize=(9, 1.2 + 0.28 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for name in results.contestants:
            values = {index: row.outcomes[name].median(what) for index, row in enumerate(rows)}
            known = {index: value for index, value in values.items() if value is not None}
            axes.plot(list(known.values()), list(known), "o", label=name)
        axes.set_yticks(range(len(rows)), [row.name for row in rows])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlabel(label)
        axes.grid(alpha=0.3)
        axes.legend()
        files.append(f"{what}.svg")
        figure.savefig(folder / files[-1])
    return files
