"""What an engine answered, and whether that is right."""

import hashlib
from pathlib import Path

from benchmarks.definition import DataSet


def read_answer(stdout: str) -> dict[str, str]:
    """Relation to what was printed of it: `name<TAB>value` lines, and the rows of Soufflé's blocks for `IO=stdout`.

    >>> read_answer("Tc\\t3\\n---------------\\nCheck\\n===============\\n42\\n===============\\n")
    {'Tc': '3', 'Check': '42'}
    """
    found: dict[str, str] = {}
    lines = iter(stdout.splitlines())
    for line in lines:
        if _is_rule(line, "-"):
            name = next(lines, "")
            while not _is_rule(next(lines, "==="), "="):
                pass  # column names, where an engine prints them
            rows = []
            while not _is_rule(row := next(lines, "==="), "="):
                rows.append(row)
            found[name] = "\n".join(rows)
        elif "\t" in line:
            name, _, value = line.partition("\t")
            found[name] = value
    return found


def wrong_parts(data: DataSet, stdout: str, out_dir: Path | None) -> list[str]:
    """One sentence for each thing that differs from what `data` expects; empty when the answer is right.

    `out_dir` is where the output files are, None for an engine that writes none.
    """
    found = read_answer(stdout)
    wrong = [
        f"{name} is {_short(found[name])}, expected {_short(value)}" if name in found else f"{name} was not printed"
        for name, value in data.expected.items()
        if found.get(name) != value
    ]
    if out_dir is not None:
        for name, digest in data.files.items():
            actual = digest_of(out_dir / name)
            if actual != digest:
                wrong.append(f"{name} has digest {actual}, expected {digest}" if actual else f"{name} was not written")
    return wrong


def digest_of(path: Path) -> str | None:
    """SHA-256 of the file's sorted lines, since engines may write rows in any order; None without a file."""
    if not path.is_file():
        return None
    digest = hashlib.sha256()
    for line in sorted(path.read_bytes().splitlines()):
        digest.update(line + b"\n")
    return digest.hexdigest()


def _is_rule(line: str, mark: str) -> bool:
    return len(line) >= 3 and set(line) == {mark}


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]!r}…"
