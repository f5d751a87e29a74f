"""Why a row is not there: how far each of its rules comes."""

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
from flintlog.provenance.derivations import FROM_GOALS, Derivations
from flintlog.provenance.explanation import Attempt
from flintlog.provenance.spelling import print_clause, print_literal, with_values
from flintlog.syntax import ast


def attempts(
    state: State, checked: CheckedProgram, derivations: Derivations, relation: str, columns: list[Array]
) -> Iterator[Attempt]:
    """What comes of each rule of a relation for a row that is not there."""
    goal = {derivations.goal_name(relation): ColumnFacts(tuple(columns), 1)}
    for number, clause in enumerate(checked.clauses):
        if clause.head.name == relation and clause.body:
            yield _attempt(state, derivations, clause, number, goal)


def _attempt(
    state: State, derivations: Derivations, clause: Clause, number: int, goal: Mapping[str, ColumnFacts]
) -> Attempt:
    """How far a rule comes: the longest beginning of its body for which there are rows."""
    body = _ordered(clause)
    text = print_clause(clause)
    for length in range(len(body), -1, -1):
        name = f"{derivations.goal_name(clause.head.name)}_{number}_{length}"
        asked = derivations.turned(clause, body[:length], name)
        if asked is None:
            return Attempt(text, (), "its head has the values of several rows together")
        try:
            relation = answers(state, derivations.compiled([asked]), [asked.name], goal, FROM_GOALS)[asked.name]
        except FlintlogError:  # the beginning of a body need not make sense by itself
            continue
        if relation.size:
            columns = relation.columns()
            first = np.lexsort(columns[::-1])[0] if columns else 0
            values = derivations.values(asked, [int(column[first]) for column in columns])
            held = tuple(print_literal(with_values(part, values)) for part in body[:length])
            if length == len(body):
                return Attempt(text, held, "other rows came first, or are better")
            return Attempt(text, held, _missing(with_values(body[length], values)))
    return Attempt(text, (), "its head has other values")


def _ordered(clause: Clause) -> list[Literal]:
    """The body in its order, but conditions no sooner than the atoms before them bind the variables they share."""
    bound = _variables(clause.head)
    shared = bound.union(*(_variables(part) for part in clause.body if isinstance(part, ast.Atom)))
    waiting: list[Literal] = []
    result: list[Literal] = []
    for part in clause.body:
        waiting.append(part)
        if isinstance(part, ast.Atom):
            bound |= _variables(part)
        ready = [other for other in waiting if isinstance(other, ast.Atom) or _variables(other) & shared <= bound]
        result += ready
        waiting = [other for other in waiting if other not in ready]
    return result + waiting


def _variables(node: ast.Node) -> set[str]:
    return {part.name for part in walk(node) if isinstance(part, ast.Variable)}


def _missing(literal: Literal) -> str:
    if isinstance(literal, NegatedAtom):
        return f"{print_literal(literal.atom)} is there"
    return f"{'no' if isinstance(literal, ast.Atom) else 'not'} {print_literal(literal)}"
