"""Datalog by its definition: every assignment of domain values to a rule's variables is tried.

It shares no code with the compiler or the engines, so that an agreement means something. It knows the part of the
language that tests/properties/programs.py generates: numbers, atoms, negation, comparisons, one aggregate a rule.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

DOMAIN = range(4)
Row = tuple[int, ...]
Facts = dict[str, set[Row]]
Term = str | int  # a variable, `_`, or a constant

COMPARE = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Literal:
    """`[!]name(terms)`, or a comparison of two terms."""

    name: str
    terms: tuple[Term, ...]
    negated: bool = False

    def __str__(self) -> str:
        if self.name in COMPARE:
            return f"{self.terms[0]} {self.name} {self.terms[1]}"
        return f"{'!' if self.negated else ''}{self.name}({', '.join(map(str, self.terms))})"


@dataclass(frozen=True)
class Aggregate:
    op: str
    target: str
    body: tuple[Literal, ...]

    def __str__(self) -> str:
        target = "" if self.op == "count" else f" {self.target}"
        return f"{self.op}{target} : {{ {', '.join(map(str, self.body))} }}"


@dataclass(frozen=True)
class Rule:
    """`result`, when there is an aggregate, is the variable that has its value; it stands in the head only."""

    head: Literal
    body: tuple[Literal, ...]
    aggregate: Aggregate | None = None
    result: str = "agg"

    def __str__(self) -> str:
        body = [str(literal) for literal in self.body]
        if self.aggregate:
            body.append(f"{self.result} = {self.aggregate}")
        return f"{self.head} :- {', '.join(body)}."


@dataclass(frozen=True)
class Program:
    """`layers` are the derived relations of each stratum with their rules."""

    facts: Facts
    layers: tuple[tuple[Rule, ...], ...] = field(default=())

    def text(self) -> str:
        names = {name: len(next(iter(rows), (0, 0))) for name, rows in self.facts.items()}
        names |= {rule.head.name: len(rule.head.terms) for layer in self.layers for rule in layer}
        lines = []
        for name, arity in names.items():
            columns = ", ".join(f"c{i}: number" for i in range(arity))
            lines += [f".decl {name}({columns})", f".output {name}"]
        for name, rows in self.facts.items():
            lines += [f"{name}({', '.join(map(str, row))})." for row in sorted(rows)]
        lines += [str(rule) for layer in self.layers for rule in layer]
        return "\n".join(lines)


def evaluate(program: Program) -> Facts:
    """All relations, layer by layer, each to its fixpoint."""
    state = {name: set(rows) for name, rows in program.facts.items()}
    for layer in program.layers:
        for rule in layer:
            state.setdefault(rule.head.name, set())
        while True:
            new = [(rule.head.name, row) for rule in layer for row in _derive(rule, state)]
            before = sum(map(len, state.values()))
            for name, row in new:
                state[name].add(row)
            if sum(map(len, state.values())) == before:
                break
    return state


def _derive(rule: Rule, state: Facts) -> Iterator[Row]:
    outer = sorted(set(_variables((rule.head, *rule.body))) - {rule.result})
    for values in product(DOMAIN, repeat=len(outer)):
        binding = dict(zip(outer, values, strict=True))
        if all(_holds(literal, binding, state) for literal in rule.body):
            if rule.aggregate:
                value = _fold(rule.aggregate, binding, state)
                if value is None:
                    continue
                binding = {**binding, rule.result: value}
            yield tuple(binding[t] if isinstance(t, str) else t for t in rule.head.terms)


def _fold(aggregate: Aggregate, binding: dict[str, int], state: Facts) -> int | None:
    """Over the distinct bindings of the body's variables; `_` is a variable of its own in a body of one atom."""
    outside = {name: value for name, value in binding.items() if name != aggregate.target}
    body = _name_wildcards(aggregate.body)
    inner = sorted(set(_variables(body)) - set(outside))
    seen = set()
    for values in product(DOMAIN, repeat=len(inner)):
        local = {**outside, **dict(zip(inner, values, strict=True))}
        if all(_holds(literal, local, state) for literal in body):
            seen.add(tuple(sorted(local.items())))
    # In a body of several atoms, or with a variable twice, only named variables tell bindings apart.
    atoms = [literal for literal in aggregate.body if literal.name not in COMPARE and not literal.negated]
    places = [t for literal in atoms for t in literal.terms if _is_variable(t) and t != "_"]
    if len(atoms) > 1 or len(places) > len(set(places)):
        seen = {tuple(item for item in row if not item[0].startswith("_")) for row in seen}
    if aggregate.op == "count":
        return len(seen)
    targets = [dict(row)[aggregate.target] for row in seen]
    if aggregate.op == "sum":
        return sum(targets)
    return ({"min": min, "max": max}[aggregate.op])(targets) if targets else None


def _name_wildcards(body: tuple[Literal, ...]) -> tuple[Literal, ...]:
    named = []
    for i, literal in enumerate(body):
        terms = tuple(f"_{i}_{j}" if t == "_" and not literal.negated else t for j, t in enumerate(literal.terms))
        named.append(Literal(literal.name, terms, literal.negated))
    return tuple(named)


def _holds(literal: Literal, binding: dict[str, int], state: Facts) -> bool:
    if literal.name in COMPARE:
        left, right = (binding[t] if isinstance(t, str) else t for t in literal.terms)
        return bool(COMPARE[literal.name](left, right))
    wanted = [None if t == "_" else binding[t] if isinstance(t, str) else t for t in literal.terms]
    found = any(
        all(w is None or w == value for w, value in zip(wanted, row, strict=True)) for row in state[literal.name]
    )
    return found is not literal.negated


def _is_variable(term: Term) -> bool:
    return isinstance(term, str)


def _variables(body: tuple[Literal, ...]) -> Iterator[str]:
    for literal in body:
        yield from (t for t in literal.terms if isinstance(t, str) and t != "_")
