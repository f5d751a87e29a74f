"""Prints whole programs: types, functions, relations, input and output, strata, shared subplans."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from flintlog.ir.program import IoDirective, Program, Relation, Rule, Stratum, Subsumption, UserFunction
from flintlog.ir.text.node_printer import INDENT, node_lines
from flintlog.ir.text.scalar_printer import print_scalar
from flintlog.ir.text.spelling import spell_name, spell_text
from flintlog.ir.text.type_printer import kind_of_type, print_fields, type_lines
from flintlog.types import Field, Kind, TypeTable

# Words after a relation's columns; any other word is the relation's representation.
RELATION_CLAUSES = frozenset({"merge", "limit", "delta", "choice", "qualifiers"})


def print_program(program: Program) -> str:
    """The text of a program. `parse_program` makes an equal program of it, if it is one that `verify` accepts."""
    sections: list[Iterable[str]] = [
        type_lines(program.types),
        map(_function_line, program.functions.values()),
        (_relation_line(relation, program.types) for relation in program.relations.values()),
        map(_io_line, program.io),
        *map(_stratum_lines, program.strata),
        *([f"shared {id}", *node_lines(node, INDENT)] for id, node in program.shared.items()),
    ]
    texts = ("\n".join(section) for section in sections)
    return "\n\n".join(text for text in texts if text) + "\n"


# --- Declarations ---------------------------------------------------------------------------------


def _function_line(function: UserFunction) -> str:
    params = ", ".join(kind.value for kind in function.params)
    stateful = " stateful" if function.stateful else ""
    return f"function @{spell_name(function.name)}({params}): {function.result.value}{stateful}"


def _relation_line(relation: Relation, types: TypeTable) -> str:
    columns = (
        _relation_column(column, kind, types) for column, kind in zip(relation.columns, relation.kinds, strict=False)
    )
    parts = [f"relation {spell_name(relation.name)}({', '.join(columns)})", *_relation_clauses(relation)]
    return " ".join(parts)


def _relation_column(column: Field, kind: Kind, types: TypeTable) -> str:
    """`x: Id`, with the kind where the type table does not tell it: `x: Id as number`."""
    text = print_fields([column])
    return text if kind_of_type(column.type, types) is kind else f"{text} as {kind.value}"


def _relation_clauses(relation: Relation) -> Iterator[str]:
    names = [spell_name(column.name) for column in relation.columns]
    merged = [f"{name} = {print_scalar(how)}" for name, how in zip(names, relation.merge, strict=False) if how]
    if merged:
        yield f"merge {', '.join(merged)}"
    if relation.limit is not None:
        yield f"limit {relation.limit}"
    if relation.delta_of is not None:
        yield f"delta {spell_name(relation.delta_of)}"
    if relation.representation:
        yield spell_name(relation.representation, RELATION_CLAUSES)
    if relation.choice:
        # A position that does not exist is a mistake `verify` reports; it must not keep a program from being shown.
        domains = (", ".join(names[i] if i < len(names) else str(i) for i in domain) for domain in relation.choice)
        yield f"choice {', '.join(f'({domain})' for domain in domains)}"
    if relation.qualifiers:
        yield f"qualifiers {', '.join(map(spell_name, sorted(relation.qualifiers)))}"


def _io_line(directive: IoDirective) -> str:
    params = ", ".join(f"{spell_name(key)}={spell_text(value)}" for key, value in directive.params)
    return f"{directive.kind} {spell_name(directive.relation)}" + (f" ({params})" if params else "")


# --- Strata ---------------------------------------------------------------------------------------


def _stratum_lines(stratum: Stratum) -> Iterator[str]:
    words = ["stratum", *(["recursive"] if stratum.recursive else [])]
    relations = ", ".join(map(spell_name, stratum.relations))
    yield " ".join([*words, relations]).rstrip()
    rules: list[Rule | Subsumption] = [*stratum.rules, *stratum.subsumptions]
    for rule in rules:
        yield f"{INDENT}{_rule_head(rule)}"
        yield from node_lines(rule.body, INDENT * 2)


def _rule_head(rule: Rule | Subsumption) -> str:
    if isinstance(rule, Subsumption):
        return f"subsume {rule.id} {spell_name(rule.relation)}"
    plans = (f"{version}: ({', '.join(map(str, order))})" for version, order in rule.plan)
    return f"rule {rule.id} {spell_name(rule.relation)}" + (f" plan {', '.join(plans)}" if rule.plan else "")
