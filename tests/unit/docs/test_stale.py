"""Statements of the pages that the source, the tree or the history can refute."""

from __future__ import annotations

import re
from pathlib import Path

from tests.unit.docs.pages import ROOT

# Folders whose text cites papers.
_CITING = ("docs", "benchmarks", "examples", "tests")


def _texts(*suffixes: str) -> list[Path]:
    return [path for folder in _CITING for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes]


def _read(path: Path) -> str:
    return path.read_text(errors="replace")  # some programs of the tests are no UTF-8


def test_papers_are_cited_by_title() -> None:
    """A number says nothing to a reader: the files of the papers are not in the repository."""
    numbered = re.compile(r"\bpapers? [0-9]", re.IGNORECASE)
    assert [str(path) for path in _texts(".md", ".py", ".dl", ".toml") if numbered.search(_read(path))] == []
