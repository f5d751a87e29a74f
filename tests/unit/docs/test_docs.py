"""Every example of the README and of every page under docs/, run as a reader would run it.

| block                         | means                                                                             |
|-------------------------------|-----------------------------------------------------------------------------------|
| any language with `file=NAME` | a file for the examples of its section; before the first section: for all of them |
| `souffle`                     | a program; the next block says what it gives; `word-size=32` is an option         |
| `output`                      | the rows of the program's `.output` relations, or what a `python` block prints    |
| `error`                       | the first lines of the program's errors and warnings                              |
| `python`                      | executed; the blocks of a section share their names                               |
| `console`                     | `$ command` lines, run by a shell, each with what it prints                       |
| `text`, or no language        | shown, not run                                                                    |

`--update` writes what the examples give into the pages.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.docs.pages import PAGES, ROOT, Block, Section, anchors, links, rewrite, sections

from flintlog.api.user_program import Program
from flintlog.diagnostics import FlintlogError
from flintlog.engines.spark.sessions.session import open_session
from flintlog.engines.spark_options import SparkOptions
from flintlog.io.row_order import ordered
from flintlog.io.schema import Schema
from flintlog.syntax.literals import quote
from flintlog.types import Adt, Value

_RUN = ("souffle", "python", "console")
_EXPECTING = ("output", "error")
_CASES = [
    pytest.param(page, index, id=f"{page.relative_to(ROOT)}:{section.title}")
    for page in PAGES
    for index, section in enumerate(sections(page))
    if any(block.language in _RUN and "file" not in block.options for block in section.blocks)
]


@pytest.mark.parametrize(("page", "index"), _CASES)
def test_examples(
    page: Path, index: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARK_DRIVER_MEMORY", "1g")
    section = sections(page)[index]
    if any(block.language == "python" and "pyspark" in block.text for block in section.blocks):
        # Spark's own way to make a session needs a Java on the machine; where there is a session, it finds that.
        open_session(SparkOptions(master="local[2]"), "examples")
    found = list(run_section(section))
    if request.config.getoption("--update"):
        rewrite(page, [(block, text) for block, text in found if _shown(block, text) != _shown(block, block.text)])
        return
    for block, text in found:
        assert _shown(block, text) == _shown(block, block.text), f"{page}:{block.first}\n{text}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    for target, anchor in links(page):
        assert target.exists(), f"{page} links to {target}"
        assert not anchor or anchor in anchors(target), f"{page} links to #{anchor} of {target}"


def _shown(block: Block, text: str) -> list[str]:
    """What is compared: line breaks between rows are the page's affair, and so are spaces at the end of a line."""
    return text.split() if block.language == "output" else [line.rstrip() for line in text.splitlines()]


def run_section(section: Section) -> Iterator[tuple[Block, str]]:
    """Runs the examples of a section in the current directory; yields each expectation with what came instead."""
    names: dict[str, object] = {"__name__": "example"}
    for block in section.shared:
        _save(block)
    following = [*section.blocks[1:], Block("", {}, "", 0, 0)]
    for block, after in zip(section.blocks, following, strict=True):
        if "file" in block.options:
            _save(block)
        elif block.language == "console":
            yield block, _console(block.text)
        elif block.language == "python":
            printed = _python(block.text, names)
            if after.language == "output":
                yield after, printed
        elif block.language == "souffle":
            assert after.language in _EXPECTING, f"nothing is expected of the example in line {block.first}"
            run: Callable[[Program], str] = _rows if after.language == "output" else _problems
            yield after, run(_program(block))
        else:
            assert block.language in ("text", *_EXPECTING), f"unknown kind of block: {block.language}"


def _save(block: Block) -> None:
    if "file" in block.options:
        path = Path(block.options["file"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text + "\n")


def _program(block: Block) -> Program:
    Path("program.dl").write_text(block.text + "\n")
    return Program.load("program.dl", word_size=int(block.options.get("word-size", 64)))


def _problems(program: Program) -> str:
    problems = program.check()
    if not any(problem.is_error for problem in problems):
        try:
            program.run()
        except FlintlogError as error:
            problems += error.diagnostics
    return "\n".join(problem.render().splitlines()[0] for problem in problems)


def _rows(program: Program) -> str:
    """The rows of the outputs as facts, several on a line."""
    result = program.run()
    lowered = program.compilation.program
    lines: list[str] = []
    for directive in lowered.io:
        if directive.kind == "output":
            relation = lowered.relations[directive.relation]
            schema = Schema(relation.name, relation.columns, lowered.types, 64)
            facts = [f"{relation.name}({', '.join(map(_text, row))})" for row in ordered(result[relation.name], schema)]
            unbroken = "  ".join(fact.replace(" ", "\0") for fact in facts)
            lines += textwrap.wrap(unbroken, 100, break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def _text(value: Value) -> str:
    if value is None:
        return "nil"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, Adt):
        return f"${value.branch}" + (f"({', '.join(map(_text, value.args))})" if value.args else "")
    if isinstance(value, tuple):
        return f"[{', '.join(map(_text, value))}]"
    return str(value)


def _python(text: str, names: dict[str, object]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, "<example>", "exec"), names)
    return printed.getvalue()


def _console(text: str) -> str:
    """The commands of a block, each followed by what it prints. Which engine runs is no matter here."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    lines: list[str] = []
    for line in text.splitlines():
        if not line.startswith("$ "):
            continue
        run = subprocess.run(
            line[2:],
            shell=True,
            env={**os.environ, "PATH": path, "COLUMNS": "100"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        lines += [line, *(shown for shown in run.stdout.splitlines() if not shown.startswith("engine: "))]
    return "\n".join(lines)
