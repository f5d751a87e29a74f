"""The whole check: a program as parsed to a checked program, or every mistake in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from flintlog.check.checked import CheckedProgram, Clause, Relation, SubsumptiveClause
from flintlog.check.clauses.content import Content, NormalisedRules, old_style_directives
from flintlog.check.clauses.head_aggregates import check_head_aggregates
from flintlog.check.components.component_scope import ComponentScope
from flintlog.check.components.instances import instantiate
from flintlog.check.components.mistakes import check_components
from flintlog.check.declarations import declare_functors, declare_relations, unique_types
from flintlog.check.dependencies import Dependencies
from flintlog.check.directives import check_directives, check_repeated
from flintlog.check.grounding.grounding import check_grounding
from flintlog.check.grounding.witnesses import check_witnesses
from flintlog.check.inlining import check_inlining
from flintlog.check.lattices import declare_lattices
from flintlog.check.missing import Missing
from flintlog.check.names import check_counters, check_deltas, check_names
from flintlog.check.plans import check_plan
from flintlog.check.pragmas import check_pragmas, is_legacy, suppressed_relations
from flintlog.check.strata import check_stratification, strata
from flintlog.check.typing import Context, declare_types, infer_kinds
from flintlog.check.unused import check_unused
from flintlog.diagnostics import Report
from flintlog.syntax import ast
from flintlog.types import Kind

_T = TypeVar("_T")


def check(program: ast.Program, report: Report, *, word_size: int = 64) -> CheckedProgram | None:
    """The checked program, or None if the report has errors. Whatever one check finds wrong, the others still look at
    the rest; only what an error would make meaningless is left out (the types of a rule with an unknown relation)."""
    pragmas = _of_kind(program, ast.Pragma)
    check_pragmas(pragmas, report)
    missing = Missing(program.unread)
    content = _content(program, missing, report)

    def is_type(name: str) -> bool:
        return env.is_type(name) or name in missing

    types = unique_types(content, report)
    errors = _errors(report)
    env = declare_types(types, report, missing)
    types_are_sound = _errors(report) == errors
    functors = declare_functors(_of_kind(program, ast.FunctorDecl), types, is_type, report)
    relations = declare_relations(content, types, is_type, missing, report)
    lattices = declare_lattices(content.lattices, relations, functors, is_type, missing, report)

    rules, subsumptions = _parted(content.clauses)
    clauses: list[Clause | SubsumptiveClause] = [*rules, *subsumptions]
    relations = check_head_aggregates(relations, rules, subsumptions, content.directives, report)
    check_directives(content.directives, relations, missing, report)
    check_deltas(relations, clauses, content.directives, report)
    sound = [clause for clause in clauses if check_names(clause, relations, functors, missing, report)]

    dependencies = Dependencies(relations, clauses)
    _check_counters_and_plans(clauses, relations, dependencies, missing, report)
    can_inline = check_inlining(relations, clauses, content.directives, dependencies, report)
    check_stratification(dependencies, rules, report)

    sound_rules, sound_subsumptions = _parted(sound)
    check_witnesses(sound_rules, relations, report)
    check_grounding(sound_rules, sound_subsumptions, relations, report, check_inline=can_inline)
    suppressed = suppressed_relations(pragmas)
    check_unused(relations, clauses, content.directives, suppressed, report, is_whole=missing.is_program_whole)
    kinds: dict[int, Kind] = {}
    if types_are_sound:
        context = Context(env, relations, functors, word_size, is_legacy(pragmas), missing)
        kinds = infer_kinds(sound, lattices, context, report)
    if report.has_errors:
        return None
    return CheckedProgram(
        types=env.table,
        relations=relations,
        clauses=tuple(rules),
        subsumptions=tuple(subsumptions),
        functors=functors,
        lattices=lattices,
        directives=tuple(content.directives),
        pragmas=tuple(pragmas),
        strata=strata(dependencies, relations),
        kinds=kinds,
        warnings=tuple(report.warnings),
    )


def _content(program: ast.Program, missing: Missing, report: Report) -> Content:
    """What the program declares, with its components instantiated. Instances of components that are wrong are missing
    from now on: what is in them is not known."""
    rules = NormalisedRules(program)
    content = Content()
    for item in program.items:
        match item:
            case ast.SubsetType() | ast.UnionType() | ast.RecordType() | ast.AdtType():
                content.types.append(item)
            case ast.LatticeDecl():
                content.lattices.append(item)
            case ast.RelationDecl():
                content.relations.append(item)
                content.directives += old_style_directives(item)
            case ast.Directive():
                content.directives.append(item)
            case ast.Rule() | ast.Subsumption():
                content.clauses += rules.of(item)
    check_repeated(content.directives, report)
    scope = ComponentScope(program)
    unsound = check_components(program, scope, missing, report)
    for init in _of_kind(program, ast.Init):
        if init.name in unsound:
            missing.add(init.name)
        else:
            content.add(instantiate(init, scope, rules, report))
    return content


def _parted(clauses: Sequence[Clause | SubsumptiveClause]) -> tuple[list[Clause], list[SubsumptiveClause]]:
    rules = [clause for clause in clauses if isinstance(clause, Clause)]
    return rules, [clause for clause in clauses if isinstance(clause, SubsumptiveClause)]


def _check_counters_and_plans(
    clauses: Sequence[Clause | SubsumptiveClause],
    relations: Mapping[str, Relation],
    dependencies: Dependencies,
    missing: Missing,
    report: Report,
) -> None:
    """Reports counters and `.plan` directives that do not fit how a clause recurs."""
    inline = frozenset(name for name, relation in relations.items() if relation.is_inline)
    for clause in clauses:
        check_counters(clause, dependencies.is_recursive(clause), report)
        if missing.is_program_whole:
            check_plan(clause, dependencies, inline, report)


def _of_kind(program: ast.Program, kind: type[_T]) -> list[_T]:
    return [item for item in program.items if isinstance(item, kind)]


def _errors(report: Report) -> int:
    return len(report.errors)
