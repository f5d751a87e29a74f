"""A program of the IR as one page that needs nothing else: no scripts, no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from flintlog.ir.nodes import Aggregate, FlatMap, JoinFlatMap, Node, Scan, Shared, Values, children
from flintlog.ir.program import Program, Rule, Stratum, Subsumption
from flintlog.ir.text.node_printer import print_head, print_step
from flintlog.ir.text.spelling import spell_value
from flintlog.source import NOWHERE, Span

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1b1b1b; }
code, pre, summary, li { font-family: ui-monospace, monospace; font-size: 13px; }
pre { background: #f5f5f2; padding: .5rem .75rem; border-radius: 4px; overflow-x: auto; }
table { border-collapse: collapse; } td, th { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top; }
tr.idle { color: #8a8a85; } h2 { border-bottom: 1px solid #d8d8d2; margin-top: 2rem; }
details.rule { margin: .75rem 0; border: 1px solid #d8d8d2; border-radius: 4px; padding: .25rem .75rem; }
summary { cursor: pointer; } details details { margin-left: 1.25rem; } ul { margin: 0 0 0 1.25rem; padding: 0; }
ul { list-style: none; } .step { margin-left: 1.25rem; color: #6a4a00; display: block; } a { color: #0a58a8; }
@media (prefers-color-scheme: dark) {
  body { background: #1b1b1b; color: #e8e8e2; } pre { background: #262624; } a { color: #7ab7f5; }
  .step { color: #e0b050; } details.rule, h2 { border-color: #44443f; }
}
"""


def html_of(program: Program, passes: Sequence[tuple[str, str, str]]) -> str:
    """The page: what each pass changed, the relations, and the trees of the rules, stratum by stratum."""
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8"><title>Flintlog program</title>',
        f"<style>{_STYLE}</style></head><body>",
        f"<h1>{'Optimised program' if passes else 'Program'}</h1>",
        *_passes(passes),
        *_relations(program),
    ]
    for number, stratum in enumerate(program.strata):
        lines += _stratum(number, stratum, program)
    if program.shared:
        lines.append("<h2>Shared subplans</h2>")
    for id, subplan in program.shared.items():
        lines.append(f'<details class="rule" open id="shared-{id}"><summary>shared {id}</summary>')
        lines += [*_tree(subplan, program), "</details>"]
    return "\n".join([*lines, "</body></html>"]) + "\n"


def _passes(passes: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    if not passes:
        return
    yield "<h2>Passes</h2><table><tr><th>pass</th><th>what it does</th><th>what it changed here</th></tr>"
    for name, summary, change in passes:
        idle = ' class="idle"' if change in ("nothing", "switched off") else ""
        yield f"<tr{idle}><td><code>{_text(name)}</code></td><td>{_text(summary)}</td><td>{_text(change)}</td></tr>"
    yield "</table>"


def _relations(program: Program) -> Iterator[str]:
    yield "<h2>Relations</h2><table><tr><th>relation</th><th>columns</th><th></th></tr>"
    for name, relation in program.relations.items():
        columns = ", ".join(f"{column.name}: {column.type}" for column in relation.columns)
        kinds = dict.fromkeys(d.kind for d in program.io if d.relation == name)
        cells = (f"<code>{_text(name)}</code>", f"<code>{_text(columns)}</code>", _text(", ".join(kinds)))
        yield f'<tr id="{_anchor(name)}">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
    yield "</table>"


def _stratum(number: int, stratum: Stratum, program: Program) -> Iterator[str]:
    rules: list[Rule | Subsumption] = [*stratum.rules, *stratum.subsumptions]
    if not rules:
        return
    kind = "recursive" if stratum.recursive else "once"
    yield f"<h2>Stratum {number}, {kind}: {_text(', '.join(stratum.relations))}</h2>"
    for rule in rules:
        word = "rule" if isinstance(rule, Rule) else "subsume"
        yield f'<details class="rule" open><summary>{word} {rule.id} of {_text(rule.relation)}</summary>'
        if rule.span.file is not NOWHERE.file:
            yield f"<pre>{_text(_source(rule.span))}</pre>"
        yield from _tree(rule.body, program)
        yield "</details>"


def _tree(node: Node, program: Program) -> Iterator[str]:
    below = children(node)
    details = [*_details(node)]
    if not below and not details:
        yield f"<ul><li>{_head(node, program)}</li></ul>"
        return
    yield f"<details open><summary>{_head(node, program)}</summary>"
    yield from (f'<code class="step">{_text(line)}</code>' for line in details)
    for i, child in enumerate(below):
        if isinstance(node, Aggregate) and i:
            yield '<code class="step">keys</code>'
        yield from _tree(child, program)
    yield "</details>"


def _details(node: Node) -> Iterator[str]:
    match node:
        case FlatMap() | JoinFlatMap():
            yield from map(print_step, node.steps)
        case Values():
            yield from (f"row {', '.join(map(spell_value, row))}" for row in node.rows)


def _head(node: Node, program: Program) -> str:
    text = _text(print_head(node))
    match node:
        case Scan(relation) if relation in program.relations:
            return f'<a href="#{_anchor(relation)}">{text}</a>'
        case Shared(id):
            return f'<a href="#shared-{id}">{text}</a>'
        case _:
            return text


def _source(span: Span) -> str:
    return span.file.text[span.start : span.end]


def _anchor(name: str) -> str:
    return "relation-" + _text(name.replace(" ", "_"))


def _text(text: str) -> str:
    """Safe between tags and in attributes; what is no character at all becomes a question mark."""
    return escape(text.encode("utf-8", "replace").decode("utf-8"))
