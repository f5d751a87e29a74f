"""The README and the pages under docs/ as sections with their fenced blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DECISIONS = [page for page in PAGES if page.parent.name == "decisions"]


@dataclass(frozen=True)
class Block:
    """A fenced block: `souffle word-size=32` has a language and options; one without a language is `text`. Its text is
    lines [first, last) of a page."""

    language: str
    options: dict[str, str]
    text: str
    first: int
    last: int


@dataclass(frozen=True)
class Section:
    """The blocks under one heading; `shared` are the files that stand before the page's first section."""

    title: str
    blocks: list[Block]
    shared: list[Block]


def sections(page: Path) -> list[Section]:
    """The sections of a page, in order. A heading of any level begins one; the first belongs to the page's title."""
    found = [Section("", [], [])]
    lines = page.read_text().splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        if line.startswith("```"):
            last = lines.index("```", number + 1)
            found[-1].blocks.append(_block(line, lines, number + 1, last))
            number = last
        elif line.startswith("#"):
            found.append(Section(line.lstrip("# "), [], found[1].blocks if len(found) > 1 else []))
        number += 1
    return found


def _block(fence: str, lines: list[str], first: int, last: int) -> Block:
    language, *options = fence.removeprefix("```").split() or ["text"]
    pairs = dict(option.split("=", 1) for option in options)
    return Block(language, pairs, "\n".join(lines[first:last]), first, last)


def rewrite(page: Path, texts: list[tuple[Block, str]]) -> None:
    """Puts new text into blocks of a page."""
    lines = page.read_text().splitlines()
    for block, text in sorted(texts, key=lambda pair: pair[0].first, reverse=True):
        lines[block.first : block.last] = text.splitlines()
    page.write_text("\n".join(lines) + "\n")


def anchors(page: Path) -> set[str]:
    """The names that links to the headings of a page have, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", _prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[tuple[Path, str]]:
    """The links to other files or headings: the file, and the heading's anchor or nothing."""
    targets = [t for t in re.findall(r"\]\(([^)\s]+)\)", _prose(page)) if not t.startswith(("http:", "https:"))]
    parts = [target.partition("#") for target in targets]
    return [((page.parent / path).resolve() if path else page, anchor) for path, _, anchor in parts]


def _prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
