"""Run the packages example through the Spark pipeline as a user would: the command, what it does when, the answer."""

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

ROOT = Path(__file__).parent.parent
EXAMPLE = Path("examples/packages")
INPUTS = Path("build/demo/inputs")
RESULTS = Path("build/demo/results")
SHOWN = 5


def main() -> int:
    sizes = made_inputs()
    flintlog = Path(sys.executable).with_name("flintlog").relative_to(ROOT)
    program = EXAMPLE / "packages.dl"
    command = [str(flintlog), "run", str(program), "-F", str(INPUTS), "-D", str(RESULTS), "--master", "local[*]"]
    shutil.rmtree(ROOT / RESULTS, ignore_errors=True)
    print("$", " ".join(command), flush=True)
    status, seconds = run(command)
    if status != 0:
        return status
    for path in sorted((ROOT / RESULTS).iterdir()):
        show(path)
    print(f"\n{sum(sizes.values()):,} facts in, {seconds:.1f} s from command to answer (Spark's start included)")
    return 0


def made_inputs() -> dict[str, int]:
    """Writes the example's inputs and says what they are."""
    spec = importlib.util.spec_from_file_location("make_inputs", ROOT / EXAMPLE / "make_inputs.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sizes: dict[str, int] = module.main(ROOT / INPUTS)
    for path in sorted((ROOT / INPUTS).iterdir()):
        print(f"{path.relative_to(ROOT)}: {sizes[path.stem]:,} rows")
    return sizes


def run(command: Sequence[str]) -> tuple[int, float]:
    """Runs a command; what it says is shown with the time at which it says so."""
    started = time.perf_counter()
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(f"{time.perf_counter() - started:6.1f} s  {line}", end="", flush=True)
    return process.returncode, time.perf_counter() - started


def show(path: Path) -> None:
    """The first rows of a result; the file holds all of them."""
    if path.suffix == ".parquet":
        table = pq.read_table(path)
        rows = ["\t".join(map(str, row.values())) for row in table.slice(0, SHOWN).to_pylist()]
        count = len(table)
    else:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows, count = lines[:SHOWN], len(lines)
    print(f"\n{path.relative_to(ROOT)}: {count:,} rows")
    print("\n".join(f"  {row}" for row in rows))
    if count > SHOWN:
        print(f"  … and {count - SHOWN:,} more")


if __name__ == "__main__":
    sys.exit(main())
