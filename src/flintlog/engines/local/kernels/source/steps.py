"""Steps of a rule: tests and computations on registers."""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
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
    if load(relation, at.R_WIDE):
        row = thread + 8 * at.T_NEW
        for c in range(count):
            store(row, c, load(registers, load(names, c)))
        return has_row(relation, row)
    key = 0
    for c in range(count):
        where = at.R_COLUMNS + at.COLUMN_WORDS * c
        value = load(registers, load(names, c)) - load(relation, where)
        if below(load(relation, where + 3), value):
            return False
        key |= value << load(relation, where + 1)
    return has_key(relation, key)


@function
def steps_hold(steps, count, registers, thread):
    """Runs a level's steps; returns whether all tests hold."""
    for s in range(count):
        step = steps + 8 * at.STEP_WORDS * s
        op = load(step, at.S_OP)
        to = load(step, at.S_TO)
        if op == at.OP_CONTAINS:
            if contained(load(step, at.S_A), registers, load(step, at.S_B), load(step, at.S_NKEYS), thread) != (
                to != 0
            ):
                return False
            continue
        if op == at.OP_EXISTS:
            index = load(step, at.S_A)
            if group_is_empty(index, find_group(index, registers, load(step, at.S_B))) == (to != 0):
                return False
            continue
        a = load(registers, load(step, at.S_A))
        b = load(registers, load(step, at.S_B))
        if op <= at.OP_UGE:
            if op == at.OP_EQ:
                holds = a == b
            elif op == at.OP_NE:
                holds = a != b
            elif op == at.OP_LT:
                holds = a < b
            elif op == at.OP_LE:
                holds = a <= b
            elif op == at.OP_GT:
                holds = a > b
            elif op == at.OP_GE:
                holds = a >= b
            elif op == at.OP_ULT:
                holds = below(a, b)
            elif op == at.OP_ULE:
                holds = not below(b, a)
            elif op == at.OP_UGT:
                holds = below(b, a)
            else:
                holds = not below(a, b)
            if not holds:
                return False
            continue
        if op == at.OP_COPY:
            value = a
        elif op == at.OP_ADD:
            value = a + b
        elif op == at.OP_SUB:
            value = a - b
        elif op == at.OP_MUL:
            value = a * b
        elif op == at.OP_AND:
            value = a & b
        elif op == at.OP_OR:
            value = a | b
        elif op == at.OP_XOR:
            value = a ^ b
        elif op == at.OP_MIN:
            value = min(a, b)
        elif op == at.OP_MAX:
            value = max(a, b)
        elif op == at.OP_DIV:
            value = quotient(a, b)
        elif op == at.OP_MOD:
            value = a - quotient(a, b) * b
        else:
            value = 0
        store(registers, to, value)
    return True
