"""A program after each stage of the compiler, as text."""

from __future__ import annotations

from flintlog.check.checked import CheckedProgram, Clause, NegatedAtom
from flintlog.compiler import STAGES, Compilation
from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError, did_you_mean
from flintlog.ir.text import print_program as print_ir
from flintlog.syntax import ast
from flintlog.syntax.printer import print_item, print_program


@deep_recursion()
def explain(compilation: Compilation, stage: str = "ir") -> str:
    """The text form of a stage. Raises the program's errors if they keep it from getting there."""
    if stage not in STAGES:
        note = did_you_mean(stage, STAGES) or f"stages: {', '.join(STAGES)}"
        raise FlintlogError([Diagnostic("E905", f"there is no stage `{stage}`", note=note)])
    if stage == "ast" and not compilation.report.has_errors:
        return print_program(compilation.ast)
    program = compilation.program
    assert compilation.checked is not None
    return _print_checked(compilation.checked) if stage == "checked" else print_ir(program)


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
