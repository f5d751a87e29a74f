"""Numbers symbols in an order that does not depend on the engine, if a program can see numbers: with `ord`, `as`, or a
choice among rows.

Symbols of the program's text come first, in the order of evaluation; then those of the facts, row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from flintlog.engines.reference.closures import Machine
from flintlog.ir.nodes import Values
from flintlog.ir.program import Program
from flintlog.ir.scalar import Call, Const, Counter, Reinterpret, Scalar
from flintlog.ir.visit import node_terms, walk, walk_scalar
from flintlog.types import Kind, Row


def number_symbols(program: Program, facts: Mapping[str, Iterable[Row]], machine: Machine) -> None:
    """Numbers all symbols of the program and its facts, if the program can see numbers."""
    if not numbers_show(program):
        return
    for symbol in constants(program):
        machine.word(symbol, Kind.SYMBOL)
    for rows in facts.values():
        for row in rows:
            for value in row:
                if isinstance(value, str):
                    machine.word(value, Kind.SYMBOL)


def numbers_show(program: Program) -> bool:
    """Whether a program's answer may depend on the numbers that symbols get, or on the order of rows."""
    if any(relation.choice for relation in program.relations.values()):
        return True
    scalars = _scalars(program)
    return any(isinstance(s, Reinterpret | Counter) or (isinstance(s, Call) and s.op == "ord") for s in scalars)


def _scalars(program: Program) -> Iterator[Scalar]:
    for relation in program.relations.values():
        for merge in relation.merge:
            yield from walk_scalar(merge) if merge is not None else ()
    for stratum in program.strata:
        for body in [*(rule.body for rule in stratum.rules), *(rule.body for rule in stratum.subsumptions)]:
            for node in walk(body):
                if isinstance(node, Values):
                    yield from (Const(v, c.kind) for row in node.rows for v, c in zip(row, node.schema, strict=True))
                for term in node_terms(node):
                    yield from walk_scalar(term)


def constants(program: Program) -> Iterator[str]:
    """The symbols of the program's text, in the order of evaluation."""
    for scalar in _scalars(program):
        if isinstance(scalar, Const) and isinstance(scalar.value, str):
            yield scalar.value
