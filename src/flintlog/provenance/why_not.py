"""Why a database lacks a row: how far each rule of its relation matches it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from flintlog.check.checked import CheckedProgram, Clause, Literal, NegatedAtom
from flintlog.check.clauses.traverse import walk
from flintlog.diagnostics import FlintlogError
from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.questions.question import answers
from flintlog.incremental.state import State
from flintlog.io.column_facts import ColumnFacts
from flintlog.provenance.derivations import SKIPPED_PASSES, Derivations
from flintlog.provenance.explanation import Attempt
from flintlog.provenance.spelling import print_clause, print_literal, with_values
from flintlog.syntax import ast


def attempts(
    state: State, checked: CheckedProgram, derivations: Derivations, relation: str, columns: list[Array]
) -> Iterator[Attempt]:
    """For each rule of a relation, how far it matches the row of `columns`, which the relation lacks."""
    goal = {derivations.goal_name(relation): ColumnFacts(tuple(columns), 1)}
    for number, clause in enumerate(checked.clauses):
        if clause.head.name == relation and clause.body:
            yield _attempt(state, derivations, clause, number, goal)


def _attempt(
    state: State, derivations: Derivations, clause: Clause, number: int, goal: Mapping[str, ColumnFacts]
) -> Attempt:
    """The longest beginning of a rule's body that has answers, with one of them, and the literal after it."""
    body = _ordered(clause)
    text = print_clause(clause)
    for length in range(len(body), -1, -1):
        name = f"{derivations.goal_name(clause.head.name)}_{number}_{length}"
        asked = derivations.question_for(clause, body[:length], name)
        if asked is None:
            return Attempt(text, (), "its head combines values of several rows")
        try:
            relation = answers(state, derivations.compiled([asked]), [asked.name], goal, SKIPPED_PASSES)[asked.name]
        except FlintlogError:  # the beginning of a body need not compile by itself
            continue
        if relation.size:
            columns = relation.columns()
            first = np.lexsort(columns[::-1])[0] if columns else 0
            values = derivations.values(asked, [int(column[first]) for column in columns])
            held = tuple(print_literal(with_values(part, values)) for part in body[:length])
            if length == len(body):
                return Attempt(text, held, "another row came first, or has a better value")
            return Attempt(text, held, _missing(with_values(body[length], values)))
    return Attempt(text, (), "its head does not match")


def _ordered(clause: Clause) -> list[Literal]:
    """The body in its order, but a condition not before the atoms that bind the variables it shares with them."""
    bound = _variables(clause.head)
    shared = bound.union(*(_variables(part) for part in clause.body if isinstance(part, ast.Atom)))
    waiting: list[Literal] = []
    result: list[Literal] = []
    for part in clause.body:
        if isinstance(part, ast.Atom):
            bound |= _variables(part)
            result.append(part)
        else:
            waiting.append(part)
        ready = [other for other in waiting if _variables(other) & shared <= bound]
        result += ready
        waiting = [other for other in waiting if other not in ready]
    return result + waiting


def _variables(node: ast.Node) -> set[str]:
    return {part.name for part in walk(node) if isinstance(part, ast.Variable)}


def _missing(literal: Literal) -> str:
    if isinstance(literal, NegatedAtom):
        return f"{print_literal(literal.atom)} is there"
    return f"{'no' if isinstance(literal, ast.Atom) else 'not'} {print_literal(literal)}"
