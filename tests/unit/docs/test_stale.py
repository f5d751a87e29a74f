"""Statements of the pages that the source, the tree or the history can refute."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from benchmarks.machine import later_changes
from tests.unit.docs.pages import DECISIONS, PAGES, ROOT, sections

from flintlog.engines.local.fixpoint import PLAN_AGAIN, SMALL

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


@pytest.mark.parametrize("page", ["optimizer.md", "decisions/0005-joins-ordered-by-samples.md"])
def test_when_a_rule_is_planned_again(page: str) -> None:
    text = " ".join((ROOT / "docs" / page).read_text().split())
    assert re.findall(r"more than (\d+) times as large as at the last plan", text) == [str(PLAN_AGAIN)]
    assert re.findall(r"has more than (\d+) rows", text) in ([], [str(SMALL)])


def test_comments_of_programs_cite_files_that_exist() -> None:
    cited = re.compile(r"[\w./-]*\w\.(?:dl|py|md|sql|toml|tsv|facts)\b")
    for program in _texts(".dl"):
        for comment in re.findall(r"//(.*)", _read(program)):
            for name in cited.findall(comment):
                assert (program.parent / name).exists() or (ROOT / name).exists(), f"{program} cites {name}"


@pytest.mark.parametrize("page", ["results.md", "spark-results.md", "incremental-results.md"])
def test_results_say_how_old_they_are(page: str) -> None:
    """Every revision stands beside the command that counts the changes since, and is one of the history."""
    text = (ROOT / "docs" / page).read_text()
    revisions = set(re.findall(r"revision (\w+)", text, re.IGNORECASE))
    assert revisions
    for revision in revisions:
        assert later_changes(revision) in text
    if (ROOT / ".git").exists() and _git("rev-parse", "--is-shallow-repository") == "false":
        for revision in revisions:
            assert _git("cat-file", "-t", revision) == "commit", f"{page} was measured on {revision}, which is unknown"


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_decisions_are_one_page(page: Path) -> None:
    """What was measured for a decision has a page of its own, under docs/measurements."""
    title, *parts = [section.title for section in sections(page)[1:]]
    assert title.startswith(f"{int(page.name[:4])}. ")
    assert parts == ["Context", "Decision", "Consequence"]
    assert len(page.read_text().splitlines()) <= 45


def test_cited_source_files_exist() -> None:
    """A page or a docstring names a file of the source in backticks, by the end of its path: `passes/sequence.py`."""
    files = [path.as_posix() for folder in ("src", *_CITING, "scripts") for path in (ROOT / folder).rglob("*.py")]
    pages = [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *(ROOT / "benchmarks").rglob("*.md")]
    cited = [(page, name) for page in pages for name in re.findall(r"`([\w./-]*\w\.py)`", page.read_text())]
    for source in (ROOT / "src").rglob("*.py"):  # a name without a folder may be a user's file there
        cited += [(source, name) for name in re.findall(r"`([\w./-]+/\w+\.py)`", source.read_text())]
    for place, name in cited:
        assert any(file.endswith(f"/{name}") for file in files), f"{place} cites {name}"
