"""Graphs that are made here, because their shape is the point: deep ones, and ones that grow by exactly a factor."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

Arc = tuple[int, int]


def chain(length: int, noise: int, seed: int = 1) -> list[Arc]:
    """A path through `length` nodes, and `noise` arcs that leave it or come into it. No cycles, one path between any
    two nodes.

    >>> chain(3, 0)
    [(0, 1), (1, 2)]
    """
    dice = random.Random(seed)
    path = [(node, node + 1) for node in range(length - 1)]
    for other in range(length, length + noise):
        node = dice.randrange(length)
        path.append((node, other) if dice.random() < 0.5 else (other, node))
    return path


def random_graph(nodes: int, arcs: int, seed: int = 1) -> list[Arc]:
    """So many different arcs between two different nodes."""
    dice = random.Random(seed)
    found: set[Arc] = set()
    while len(found) < arcs:
        x, y = dice.randrange(nodes), dice.randrange(nodes)
        if x != y:
            found.add((x, y))
    return sorted(found)


def copies(arcs: Sequence[Arc], count: int) -> list[Arc]:
    """The graph `count` times side by side: everything that is computed of it is there so many times.

    >>> copies([(0, 1)], 2)
    [(0, 1), (2, 3)]
    """
    width = 1 + max(max(arc) for arc in arcs)
    return [(x + shift, y + shift) for shift in range(0, count * width, width) for x, y in arcs]


@dataclass(frozen=True)
class Closure:
    """How large a transitive closure is, and how many rows its left-linear rules give before duplicates go."""

    rows: int
    candidates: int


def closure(arcs: Sequence[Arc]) -> Closure:
    """Counted without any engine: a node's reachable nodes are the bits of an integer.

    >>> closure([(0, 1), (1, 2), (2, 0)])
    Closure(rows=9, candidates=12)
    """
    reaching = _reached((y, x) for x, y in arcs)
    rows = sum(bits.bit_count() for bits in reaching.values())
    # Every row (x, z) is joined once with the arcs that leave z.
    joined = sum(reaching.get(x, 0).bit_count() for x, _ in arcs)
    return Closure(rows, len(arcs) + joined)


def _reached(arcs: Iterable[Arc]) -> dict[int, int]:
    steps = [(x, y, 1 << y) for x, y in arcs]
    reached: dict[int, int] = {}
    changed = True
    while changed:
        changed = False
        for x, y, bit in reversed(steps):
            before = reached.get(x, 0)
            after = before | bit | reached.get(y, 0)
            if after != before:
                reached[x], changed = after, True
    return reached


def write(rows: Iterable[Sequence[int]], file: Path) -> Path:
    """The rows as a facts file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8") as stream:
        stream.writelines("\t".join(map(str, row)) + "\n" for row in rows)
    return file
