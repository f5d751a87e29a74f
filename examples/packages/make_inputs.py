"""Write the inputs of packages.dl into a directory: `python make_inputs.py DIR [PACKAGES]`. Always the same ones."""

import random
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SEED = 20
PACKAGES = 20_000
SERVICES = 150
ADVISORIES = 400
LICENCES = ("MIT", "Apache-2.0", "BSD-3-Clause", "MPL-2.0", "GPL-3.0-only")


def main(directory: Path, packages: int = PACKAGES) -> dict[str, int]:
    """Writes the files; the number of rows in each."""
    rng = random.Random(SEED)
    directory.mkdir(parents=True, exist_ok=True)
    names = [f"{rng.choice('abcdefghijklmnopqrstuvwxyz')}-lib-{i:05}" for i in range(packages)]
    depends = sorted(set(edges(rng, names)))
    services = [f"service-{i:03}" for i in range(SERVICES)]
    # Services use what stands high: the end of the list.
    high = names[len(names) // 2 :]
    uses = sorted({(service, rng.choice(high)) for service in services for _ in range(rng.randint(1, 6))})
    advisories = [(f"ADV-{i:04}", rng.choice(names), rng.randint(1, 10)) for i in range(ADVISORIES)]
    waived = sorted({(rng.choice(services), rng.choice(advisories)[0]) for _ in range(2000)})

    described = [(name, rng.choice(LICENCES), int(rng.paretovariate(0.8) * 100)) for name in names]
    write_parquet(directory / "package.parquet", ("name", "licence", "downloads"), described)
    write_parquet(directory / "depends.parquet", ("name", "on"), depends)
    write_text(directory / "uses.facts", "\t", uses)
    write_text(directory / "advisory.csv", ",", [("id", "name", "severity"), *advisories])
    write_text(directory / "waived.facts", "\t", waived)
    return {
        "package": len(described),
        "depends": len(depends),
        "uses": len(uses),
        "advisory": len(advisories),
        "waived": len(waived),
    }


def edges(rng: random.Random, names: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Packages depend on a few older ones, popular ones more often; here and there two depend on each other."""
    for i, name in enumerate(names[1:], 1):
        for _ in range(min(i, rng.choice((0, 1, 2, 2, 3, 4)))):
            older = names[int(i * rng.random() ** 2)]
            yield name, older
            if rng.random() < 0.002:
                yield older, name


def write_parquet(path: Path, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    table = pa.table({column: [row[i] for row in rows] for i, column in enumerate(columns)})
    pq.write_table(table, path)


def write_text(path: Path, delimiter: str, rows: Iterable[Sequence[object]]) -> None:
    path.write_text("".join(delimiter.join(map(str, row)) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    print(main(Path(sys.argv[1]), *map(int, sys.argv[2:3])))
