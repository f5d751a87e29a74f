"""Write the facts of this example: a company network of some 200 hosts, the same one on every run."""

import random
from collections.abc import Iterable
from pathlib import Path

FACTS = Path(__file__).parent / "facts"
ZONES = {"dmz": 12, "office": 90, "lab": 40, "store": 30, "vault": 16}
# Between which zones there are links, and how many; nothing leads into the vault but the way through the store.
CROSSINGS = [
    ("dmz", "office", 8),
    ("office", "lab", 6),
    ("lab", "office", 3),
    ("office", "store", 5),
    ("store", "vault", 3),
]
WALLS = {"office": 9, "lab": 6, "store": 7, "vault": 4}


def main() -> None:
    rng = random.Random(2026)
    hosts = {zone: [f"{zone}-{i:02}" for i in range(size)] for zone, size in ZONES.items()}

    links: set[tuple[str, str]] = set()
    for names in hosts.values():
        # A tree of switches inside each zone, with a few one-way shortcuts.
        for i in range(1, len(names)):
            parent = names[(i - 1) // 3]
            links.add((parent, names[i]))
            if rng.random() < 0.6:
                links.add((names[i], parent))
        for _ in range(len(names) // 8):
            links.add((rng.choice(names), rng.choice(names[1:])))
    for source, target, count in CROSSINGS:
        for _ in range(count):
            links.add((rng.choice(hosts[source]), rng.choice(hosts[target])))

    walls = {name for zone, count in WALLS.items() for name in rng.sample(hosts[zone], count)}
    border = hosts["dmz"][:2]

    write("host", [(name, zone) for zone, names in hosts.items() for name in names])
    write("link", sorted((a, b) for a, b in links if a != b))
    write("firewalled", [(name,) for name in sorted(walls)])
    write("border", [(name,) for name in border])


def write(relation: str, rows: Iterable[tuple[str, ...]]) -> None:
    FACTS.mkdir(exist_ok=True)
    text = "".join("\t".join(row) + "\n" for row in rows)
    (FACTS / f"{relation}.facts").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
