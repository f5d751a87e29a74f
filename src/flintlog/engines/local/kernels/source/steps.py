"""Steps of a rule: tests and computations on registers."""

from __future__ import annotations

from flintlog.engines.local.kernels.layout import (
    COLUMN_WORDS,
    OP_ADD,
    OP_AND,
    OP_CONTAINS,
    OP_COPY,
    OP_DIV,
    OP_EQ,
    OP_EXISTS,
    OP_GE,
    OP_GT,
    OP_LE,
    OP_LT,
    OP_MAX,
    OP_MIN,
    OP_MOD,
    OP_MUL,
    OP_NE,
    OP_OR,
    OP_SUB,
    OP_UGE,
    OP_UGT,
    OP_ULE,
    OP_ULT,
    OP_XOR,
    R_COLUMNS,
    R_WIDE,
    S_A,
    S_B,
    S_NKEYS,
    S_OP,
    S_TO,
    STEP_WORDS,
    T_NEW,
)
from flintlog.engines.local.kernels.source.indexes import find_group, group_is_empty
from flintlog.engines.local.kernels.source.row_sets import has_row
from flintlog.engines.local.kernels.source.sets import has_key
from flintlog.engines.local.kernels.source.words import below, function, inlined, load, store


@inlined
def quotient(a, b):
    """Division towards zero."""
    q = a // b
    return q + 1 if q < 0 and q * b != a else q


@function
def contained(relation, registers, names, count, thread):
    """Whether a relation has the row in some registers."""
    if load(relation, R_WIDE):
        row = thread + 8 * T_NEW
        for c in range(count):
            store(row, c, load(registers, load(names, c)))
        return has_row(relation, row)
    key = 0
    for c in range(count):
        at = R_COLUMNS + COLUMN_WORDS * c
        value = load(registers, load(names, c)) - load(relation, at)
        if below(load(relation, at + 3), value):
            return False
        key |= value << load(relation, at + 1)
    return has_key(relation, key)


@function
def steps_hold(steps, count, registers, thread):
    """Runs a level's steps; returns whether all tests hold."""
    for s in range(count):
        step = steps + 8 * STEP_WORDS * s
        op = load(step, S_OP)
        to = load(step, S_TO)
        if op == OP_CONTAINS:
            if contained(load(step, S_A), registers, load(step, S_B), load(step, S_NKEYS), thread) != (to != 0):
                return False
            continue
        if op == OP_EXISTS:
            index = load(step, S_A)
            if group_is_empty(index, find_group(index, registers, load(step, S_B))) == (to != 0):
                return False
            continue
        a = load(registers, load(step, S_A))
        b = load(registers, load(step, S_B))
        if op <= OP_UGE:
            if op == OP_EQ:
                holds = a == b
            elif op == OP_NE:
                holds = a != b
            elif op == OP_LT:
                holds = a < b
            elif op == OP_LE:
                holds = a <= b
            elif op == OP_GT:
                holds = a > b
            elif op == OP_GE:
                holds = a >= b
            elif op == OP_ULT:
                holds = below(a, b)
            elif op == OP_ULE:
                holds = not below(b, a)
            elif op == OP_UGT:
                holds = below(b, a)
            else:
                holds = not below(a, b)
            if not holds:
                return False
            continue
        if op == OP_COPY:
            value = a
        elif op == OP_ADD:
            value = a + b
        elif op == OP_SUB:
            value = a - b
        elif op == OP_MUL:
            value = a * b
        elif op == OP_AND:
            value = a & b
        elif op == OP_OR:
            value = a | b
        elif op == OP_XOR:
            value = a ^ b
        elif op == OP_MIN:
            value = min(a, b)
        elif op == OP_MAX:
            value = max(a, b)
        elif op == OP_DIV:
            value = quotient(a, b)
        elif op == OP_MOD:
            value = a - quotient(a, b) * b
        else:
            value = 0
        store(registers, to, value)
    return True
