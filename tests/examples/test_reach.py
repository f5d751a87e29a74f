"""`make demo`'s example gives the answer that a plain graph search gives."""

import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "reach"
FLINTLOG = Path(sys.executable).with_name("flintlog")


def read(path: Path) -> set[tuple[str, ...]]:
    return {tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()}


def facts(relation: str) -> set[tuple[str, ...]]:
    return read(EXAMPLE / "facts" / f"{relation}.facts")


def search(start: str, links: dict[str, set[str]], walls: set[str]) -> set[str]:
    """The hosts that a packet from `start` gets to; a wall accepts it and forwards nothing."""
    seen = set(links[start])
    front = list(seen)
    while front:
        host = front.pop()
        if host not in walls:
            new = links[host] - seen
            seen |= new
            front += new
    return seen


def test_answer_is_that_of_a_graph_search(tmp_path):
    command = [FLINTLOG, "run", EXAMPLE / "reach.dl", "-F", EXAMPLE / "facts", "-D", tmp_path]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout

    zones = {row[0]: row[1] for row in facts("host")}
    links: dict[str, set[str]] = defaultdict(set)
    for source, target in facts("link"):
        links[source].add(target)
    walls = {name for (name,) in facts("firewalled")}
    reached = {host: search(host, links, walls) for host in zones}
    border = {name for (name,) in facts("border")}
    exposed = border.union(*(reached[host] for host in border))
    exposed_in = Counter(zones[host] for host in exposed)

    pairs = {(host, other) for host, others in reached.items() for other in others}
    assert read(tmp_path / "reachable.csv") == pairs
    assert read(tmp_path / "unreachable.csv") == {(host, zone) for host, zone in zones.items() if host not in exposed}
    assert read(tmp_path / "reach_count.csv") == {(h, str(len(others - {h}))) for h, others in reached.items()}
    assert read(tmp_path / "exposure.csv") == {
        (zone, str(exposed_in[zone]), str(hosts)) for zone, hosts in Counter(zones.values()).items()
    }
    assert printed.splitlines() == [f"reachable\t{len(pairs)}"]
