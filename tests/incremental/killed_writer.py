"""A process that changes a database, one transaction after the other, until it is killed."""

from __future__ import annotations

import sys
from random import Random

import flintlog as fl

PROGRAM = """
    .decl edge(x: number, y: number)
    .decl path(x: number, y: number)
    path(x, y) :- edge(x, y).
    path(x, z) :- path(x, y), edge(y, z).
"""
NODES = 40
COMPACT_EVERY = 5


def edges_after(seed: int, epochs: int) -> set[tuple[int, int]]:
    """The edges after so many transactions: in each, some that are there go, and others come."""
    edges: set[tuple[int, int]] = set()
    for epoch in range(epochs):
        edges ^= flipped(seed, epoch)
    return edges


def flipped(seed: int, epoch: int) -> set[tuple[int, int]]:
    random = Random(f"{seed} {epoch}")
    return {(random.randrange(NODES), random.randrange(NODES)) for _ in range(12)}


def write(folder: str, seed: int) -> None:
    with fl.Database.open(folder) as database:
        print("ready", flush=True)
        while True:
            epoch = database.epoch
            changed, there = flipped(seed, epoch), edges_after(seed, epoch)
            with database.transaction() as change:
                change.delete("edge", changed & there)
                change.insert("edge", changed - there)
            print(epoch + 1, flush=True)
            if epoch % COMPACT_EVERY == 0:
                database.compact()


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]))
