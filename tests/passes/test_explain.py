"""`explain --stage optimised`: what the passes did, as text, as a graph and as a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.unit.cli.command_line import flintlog, refused

import flintlog as fl
from flintlog.ir.text import parse_program
from flintlog.passes.sequence import PASSES

TEXT = """
.decl e(x: number, s: symbol) .input e
.decl r(x: number, s: symbol) .output r
r(x, s) :- e(x, s), e(x + 0, "<script>alert(\\"&\\")</script>\\\\"), x != 2 + 3.
.decl c(n: number) .output c
c(n) :- n = count : { e(x, _), r(x, _) }.
c(n + 1) :- n = count : { e(x, _), r(x, _) }.
"""


def test_text_says_what_each_pass_changed_and_reads_back() -> None:
    program = fl.Program(TEXT)
    text = program.explain("optimised")
    heading = [line for line in text.splitlines() if line.startswith("# ")]
    assert [line.split()[1] for line in heading] == [step.name for step in PASSES]
    assert any(re.fullmatch(r"# sharing +2 rules rewritten; 1 subplan shared", line) for line in heading)
    assert parse_program(text).strata == program.optimised().strata


def test_passes_that_are_off_say_so() -> None:
    text = fl.Program(TEXT).explain("optimised", without=["sharing"])
    assert re.search(r"^# sharing +switched off$", text, re.MULTILINE)
    assert "\nshared" not in text
    assert fl.Program(TEXT).explain("optimised", without=["all"]).count("switched off") == len(PASSES)


# Graphviz' grammar as far as it is used here: statements of words, quoted texts and marks.
TOKEN = re.compile(r'\s*(?:(?P<text>"(?:[^"\\\n]|\\.)*")|(?P<word>\w+)|(?P<mark>->|[{}\[\]=,;]))')


@pytest.mark.parametrize("stage", ["ir", "optimised"])
def test_dot_is_well_formed(stage: str) -> None:
    dot = fl.Program(TEXT).explain(stage, format="dot")
    tokens = []
    position = 0
    while dot[position:].strip():
        token = TOKEN.match(dot, position)
        assert token, dot[position : position + 80]
        tokens.append(token[0].strip())
        position = token.end()
    assert tokens[:3] == ["digraph", "program", "{"]
    assert tokens.count("{") == tokens.count("}")
    assert tokens.count("[") == tokens.count("]")
    named = {tokens[i] for i, mark in enumerate(tokens[1:]) if mark == "["}
    ends = {tokens[i + step] for i, mark in enumerate(tokens) if mark == "->" for step in (-1, 1)}
    assert ends <= named


class Page(HTMLParser):
    """Checks that tags are closed in order, and gathers them, their attributes and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_one_closed_page_that_escapes_everything() -> None:
    page = Page()
    page.feed(fl.Program(TEXT).explain("optimised", format="html"))
    assert page.open == []
    assert "script" not in page.tags
    assert "<script>alert(" in page.text
    assert {"details", "summary", "table", "style"} <= page.tags
    links = [value for name, value in page.attributes if name in ("href", "src")]
    assert links
    assert {link.removeprefix("#") for link in links} <= {value for name, value in page.attributes if name == "id"}


def test_mistakes() -> None:
    program = fl.Program(TEXT)
    with pytest.raises(fl.FlintlogError, match=r"E912.*`htlm`(.|\n)*did you mean `html`"):
        program.explain("optimised", format="htlm")
    with pytest.raises(fl.FlintlogError, match=r"E912.*`ast` has no format `dot`"):
        program.explain("ast", format="dot")
    with pytest.raises(fl.FlintlogError, match="E911"):
        program.explain("optimised", without=["x"])


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text('.decl a(x: number) .output a a(1). .decl b(x: symbol) b("ü").')
    done = flintlog("explain", "p.dl", "--stage", "optimised", "--format", "html", "-w", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("<!DOCTYPE html>")
    done = flintlog("run", "p.dl", "--quiet", "-D", "-", "--without", "all", "--verify-passes", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "did you mean `fusion`?" in refused("run", "p.dl", "-w", "--without", "fussion", cwd=tmp_path)
