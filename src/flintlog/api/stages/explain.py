"""A program after each stage of the compiler, as text, as a graph or as a page."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from flintlog.check.checked import CheckedProgram, Clause, NegatedAtom
from flintlog.compiler import STAGES, Compilation, optimise_compiled
from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError, did_you_mean
from flintlog.ir.program import Program
from flintlog.ir.text import print_program as print_ir
from flintlog.passes.changes import describe_change
from flintlog.passes.sequence import Applied
from flintlog.syntax import ast
from flintlog.syntax.printer import print_item, print_program

FORMATS = ("text", "dot", "html")


@deep_recursion()
def explain(compilation: Compilation, stage: str = "ir", format: str = "text", without: Collection[str] = ()) -> str:
    """A stage in one of the formats. Raises the program's errors if they keep it from getting there."""
    _check("E905", "stage", stage, STAGES)
    _check("E912", "format", format, FORMATS)
    if stage in ("ast", "checked"):
        if format != "text":
            note = "ir and optimised are the stages with graphs and pages"
            raise FlintlogError([Diagnostic("E912", f"stage `{stage}` has no format `{format}`", note=note)])
        return _source(compilation, stage)
    if stage == "ir":
        return _rendered(compilation.program, [], format)
    optimisation = optimise_compiled(compilation, without=without, verified=True)
    return _rendered(optimisation.program, list(map(_pass_line, optimisation.passes)), format)


def _check(code: str, what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        note = did_you_mean(name, known) or f"{what}s: {', '.join(known)}"
        raise FlintlogError([Diagnostic(code, f"there is no {what} `{name}`", note=note)])


# --- The IR ---------------------------------------------------------------------------------------


def _rendered(program: Program, passes: Sequence[tuple[str, str, str]], format: str) -> str:
    if format == "dot":
        from flintlog.api.stages.explain_dot import dot_of

        return dot_of(program)
    if format == "html":
        from flintlog.api.stages.explain_html import html_of

        return html_of(program, passes)
    width = max((len(name) for name, _, _ in passes), default=0)
    heading = "".join(f"# {name:{width}}  {change}\n" for name, _, change in passes)
    return f"{heading}\n{print_ir(program)}" if heading else print_ir(program)


def _pass_line(applied: Applied) -> tuple[str, str, str]:
    """A pass's name, what it is for, and what it changed."""
    change = "switched off" if applied.skipped else describe_change(applied.before, applied.after)
    return applied.step.name, applied.step.summary, change


# --- Earlier stages -------------------------------------------------------------------------------


def _source(compilation: Compilation, stage: str) -> str:
    compilation.report.raise_if_errors()
    if stage == "ast":
        return print_program(compilation.ast)
    assert compilation.checked is not None
    return _print_checked(compilation.checked)


def _print_checked(program: CheckedProgram) -> str:
    """Flat clauses stratum by stratum: components instantiated, disjunctions split."""
    lines: list[str] = []
    inline = [r.name for r in program.relations.values() if r.is_inline]
    groups = [(f"// inline: {', '.join(inline)}", inline)] if inline else []
    for i, stratum in enumerate(program.strata):
        kind = "recursive" if stratum.recursive else "once"
        groups.append((f"// stratum {i}, {kind}: {', '.join(stratum.relations)}", list(stratum.relations)))
    for title, names in groups:
        lines.append(title)
        for name in names:
            relation = program.relations[name]
            lines.append(print_item(ast.RelationDecl(name, relation.attributes, tuple(sorted(relation.qualifiers)))))
            lines += [print_item(_rule(clause)) for clause in program.clauses if clause.head.name == name]
        lines.append("")
    return "\n".join(lines)


def _rule(clause: Clause) -> ast.Rule:
    items = tuple(ast.Negation(part.atom) if isinstance(part, NegatedAtom) else part for part in clause.body)
    body: ast.Body | None = ast.Conjunction(items) if len(items) > 1 else (items[0] if items else None)
    return ast.Rule((clause.head,), body, clause.plan)
