"""Changes of a program's text that must not change its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.properties.rich_programs import declaration, relations_of, rules_of

from flintlog.syntax import ast


def rewrite(node: Any, change: Callable[[Any], Any]) -> Any:
    """The tree with `change` applied to every node, from the leaves up."""
    if isinstance(node, tuple):
        return tuple(rewrite(part, change) for part in node)
    if not isinstance(node, ast.Node):
        return node
    parts = {f.name: rewrite(getattr(node, f.name), change) for f in fields(node) if "span" not in f.name}
    return change(replace(node, **parts))


def nodes(node: Any) -> Iterator[Any]:
    if isinstance(node, tuple):
        for part in node:
            yield from nodes(part)
    elif is_dataclass(node):
        yield node
        for f in fields(node):
            if "span" not in f.name:
                yield from nodes(getattr(node, f.name))


def conjuncts(body: ast.Body | None) -> tuple[ast.Body, ...]:
    if body is None:
        return ()
    return body.items if isinstance(body, ast.Conjunction) else (body,)


def conjunction(literals: tuple[ast.Body, ...]) -> ast.Body:
    """Flat: the tree that its own text reads back as."""
    flat = tuple(part for literal in literals for part in conjuncts(literal))
    return flat[0] if len(flat) == 1 else ast.Conjunction(flat)


def with_rules(program: ast.Program, rules: list[ast.Rule]) -> ast.Program:
    return ast.Program((*(item for item in program.items if not isinstance(item, ast.Rule)), *rules))


@st.composite
def shuffled(draw: DrawFn, program: ast.Program) -> ast.Program:
    """Literals of all bodies, those of aggregates too, and rules in another order."""

    def change(node: Any) -> Any:
        if isinstance(node, ast.Conjunction | ast.Disjunction):
            return replace(node, items=tuple(draw(st.permutations(node.items))))
        if isinstance(node, ast.Constraint) and node.op in ("=", "!=") and draw(st.booleans()):
            return replace(node, left=node.right, right=node.left)
        return node

    return with_rules(program, draw(st.permutations(rules_of(rewrite(program, change)))))


def qualified(program: ast.Program, name: str, qualifier: str) -> ast.Program:
    """With a qualifier on one relation, which is no output any more."""
    items = [item for item in program.items if not (isinstance(item, ast.Directive) and item.relation == name)]
    return ast.Program(
        tuple(
            replace(item, qualifiers=(qualifier,)) if isinstance(item, ast.RelationDecl) and item.name == name else item
            for item in items
        )
    )


def split_alternatives(program: ast.Program) -> ast.Program:
    """A rule for each alternative of the disjunctions that stand in a body directly."""

    def split(rule: ast.Rule) -> list[ast.Rule]:
        literals = conjuncts(rule.body)
        for i, literal in enumerate(literals):
            if isinstance(literal, ast.Disjunction):
                bodies = [conjunction((*literals[:i], item, *literals[i + 1 :])) for item in literal.items]
                return [single for body in bodies for single in split(replace(rule, body=body))]
        return [rule]

    return with_rules(program, [single for rule in rules_of(program) for single in split(rule)])


def de_morgan(program: ast.Program) -> ast.Program:
    """Negations of conjunctions and disjunctions, one level further in."""

    def change(node: Any) -> Any:
        match node:
            case ast.Negation(ast.Conjunction(items)):
                return ast.Disjunction(tuple(ast.Negation(item) for item in items))
            case ast.Negation(ast.Disjunction(items)):
                return conjunction(tuple(ast.Negation(item) for item in items))
            case ast.Conjunction(items):
                return conjunction(items)
        return node

    result: ast.Program = rewrite(program, change)
    return result


def in_component(program: ast.Program, instance: str) -> ast.Program:
    """Everything inside a component with one instance."""
    component = ast.ComponentType("Everything")
    return ast.Program((ast.Component(component, (), program.items), ast.Init(instance, component)))


@st.composite
def aliased(draw: DrawFn, program: ast.Program) -> ast.Program:
    """Some variables of the clause under another name in one of its literals, with a chain of equalities between."""

    def alias(rule: ast.Rule) -> ast.Rule:
        literals = list(conjuncts(rule.body))
        atoms = [i for i, literal in enumerate(literals) if isinstance(literal, ast.Atom)]
        names = {n.name for i in atoms for n in nodes(literals[i]) if isinstance(n, ast.Variable)}
        if not names:
            return rule
        name = draw(st.sampled_from(sorted(names)))
        links = [name, *(f"{name}_{i}" for i in range(draw(st.integers(1, 3))))]
        at = draw(st.integers(0, len(literals) - 1))
        literals[at] = rewrite(literals[at], _renaming(name, links[-1]))
        chain: list[ast.Body] = [ast.Constraint("=", ast.Variable(a), ast.Variable(b)) for a, b in pairwise(links)]
        return replace(rule, body=conjunction(tuple(draw(st.permutations(literals + chain)))))

    return with_rules(program, [alias(rule) for rule in rules_of(program)])


def _renaming(old: str, new: str) -> Callable[[Any], Any]:
    return lambda node: ast.Variable(new) if isinstance(node, ast.Variable) and node.name == old else node


def packed(program: ast.Program, name: str) -> ast.Program:
    """A relation of two numbers as one of pairs, `packed`; the relation itself is unpacked from that one at the end."""

    def change(node: Any) -> Any:
        match node:
            case ast.Atom(name=relation) if relation == name:
                return ast.Atom("packed", (ast.RecordInit(node.args),))
        return node

    x, y = ast.Variable("x"), ast.Variable("y")
    unpacked = ast.Rule((ast.Atom(name, (x, y)),), ast.Atom("packed", (ast.RecordInit((x, y)),)))
    rewritten = rewrite(program, change)
    return ast.Program((*rewritten.items, declaration("packed", "p"), unpacked))


def has_denied_wildcard(program: ast.Program, name: str) -> bool:
    """Whether a negated atom of the relation has a `_`, in which case it cannot become a record."""
    return any(
        isinstance(node, ast.Negation)
        and any(isinstance(a, ast.Atom) and a.name == name and _has_wildcard(a) for a in nodes(node))
        for node in nodes(program)
    )


def _has_wildcard(atom: ast.Atom) -> bool:
    return any(isinstance(arg, ast.Unnamed) for arg in atom.args)


def candidates(program: ast.Program) -> list[str]:
    """The relations that rules derive."""
    derived = {rule.heads[0].name for rule in rules_of(program) if rule.body is not None}
    return [name for name in relations_of(program) if name in derived]
