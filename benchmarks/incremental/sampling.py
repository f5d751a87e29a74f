"""Facts drawn at random from the files of a data set: any fact of any relation is as likely as any other.

Files are read line by line and never kept: what this process holds counts as memory of every process that it starts.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random

# Facts as lines, by the name of their file.
Lines = Mapping[str, Sequence[bytes]]


class TooFew(Exception):
    """More facts are asked for than there are."""


def count(folder: Path, files: Sequence[str]) -> int:
    """How many facts there are."""
    return sum(1 for _ in _lines(folder, files))


def draw(folder: Path, files: Sequence[str], sizes: Sequence[int], seed: str) -> list[Lines]:
    """Sets of so many facts, none in two of them; the same sets for the same seed. Raises TooFew."""
    there, wanted = count(folder, files), sum(sizes)
    if wanted > there:
        raise TooFew(f"{wanted:,} of {there:,} facts are to change")
    places = Random(seed).sample(range(there), wanted)
    numbers = [number for number, size in enumerate(sizes) for _ in range(size)]
    set_of_place = dict(zip(places, numbers, strict=True))
    drawn: list[defaultdict[str, list[bytes]]] = [defaultdict(list) for _ in sizes]
    for place, (file, line) in enumerate(_lines(folder, files)):
        if place in set_of_place:
            drawn[set_of_place[place]][file].append(line)
    return list(drawn)


def write(lines: Lines, target: Path) -> Path:
    """A folder with these facts; files without any are not there."""
    target.mkdir(parents=True)
    for file, facts in lines.items():
        (target / file).write_bytes(b"".join(line + b"\n" for line in facts))
    return target


def write_without(folder: Path, files: Sequence[str], gone: Sequence[Lines], target: Path) -> Path:
    """A folder with all facts but these."""
    target.mkdir(parents=True)
    for file in files:
        dropped = {line for lines in gone for line in lines.get(file, ())}
        if not dropped:
            (target / file).symlink_to((folder / file).resolve())
            continue
        with (target / file).open("wb") as stream:
            stream.writelines(line + b"\n" for _, line in _lines(folder, [file]) if line not in dropped)
    return target


def _lines(folder: Path, files: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    for file in files:
        with (folder / file).open("rb") as stream:
            for line in stream:
                yield file, line.removesuffix(b"\n")
