"""Runs a rule: loops in loops over rows, with tests and computations between, whose results go to the head.

Each loop is a level. A level's block says what the loop does, the thread's block how far the loop has come: so a thread
can return at any time, to report progress or to ask for room, and continue later. The last level of most rules only
adds columns to the head's key; it runs as one tight loop ("fused").
"""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.source.heads import emit, flush, run_fused
from flintlog.engines.local.kernels.source.indexes import find_group, row_word, value_of
from flintlog.engines.local.kernels.source.steps import steps_hold
from flintlog.engines.local.kernels.source.words import fetch_add, function, inlined, load, store


@inlined
def open_level(level, cursor, registers):
    """Finds the rows of a level for the values in the registers; returns whether there are any."""
    index = load(level, at.L_SOURCE)
    if load(index, at.X_KIND) == at.INDEX_ALL:
        end = load(load(index, at.X_RELATION), at.R_VISIBLE)
        store(cursor, 0, 0)
        store(cursor, 1, end)
        store(cursor, 2, -1)
        return end > 0
    group = find_group(index, registers, load(level, at.L_KEYS))
    if group < 0:
        return False
    start = end = 0
    if group < load(index, at.X_BASE_GROUPS):
        offsets = load(index, at.X_OFFSETS)
        start = load(offsets, group)
        end = load(offsets, group + 1)
    row = load(load(index, at.X_HEADS), group)
    store(cursor, 0, start)
    store(cursor, 1, end)
    store(cursor, 2, row)
    return start < end or row >= 0


@inlined
def next_chunk(rule, cursor):
    """Takes rows of the first level that no other thread has; returns whether there are any."""
    chunk = load(rule, at.P_CHUNK)
    end = load(rule, at.P_END)
    if load(rule, at.P_CURSOR) >= end:
        return False
    start = fetch_add(rule, at.P_CURSOR, chunk)
    if start >= end:
        return False
    store(cursor, 0, start)
    store(cursor, 1, min(end, start + chunk))
    return True


@inlined
def bind(level, relation, word, registers):
    binds = load(level, at.L_BINDS)
    for b in range(load(level, at.L_NBINDS)):
        store(registers, load(binds, 2 * b), value_of(relation, word, load(binds, 2 * b + 1)))


@inlined
def bind_batch(level, row, registers):
    """The columns of a batch stand at addresses of their own."""
    binds = load(level, at.L_BINDS)
    columns = load(level, at.L_SOURCE)
    for b in range(load(level, at.L_NBINDS)):
        store(registers, load(binds, 2 * b), load(load(columns, load(binds, 2 * b + 1)), row))


@inlined
def next_row(level, cursor):
    """The next row of an opened level: its word, or -1 if there is none. Packed keys and row numbers are not
    negative."""
    index = load(level, at.L_SOURCE)
    relation = load(index, at.X_RELATION)
    j = load(cursor, 0)
    if j < load(cursor, 1):
        store(cursor, 0, j + 1)
        if load(index, at.X_KIND) == at.INDEX_ALL:
            return row_word(relation, j)
        return load(load(index, at.X_ORDERED), j)
    row = load(cursor, 2)
    if row < 0:
        return -1
    store(cursor, 2, load(load(index, at.X_NEXT), row - load(index, at.X_BASE)))
    return row_word(relation, row)


def begin(rule, thread):
    registers = thread + 8 * at.T_REGISTERS
    constants = load(rule, at.P_CONSTANTS)
    for k in range(load(rule, at.P_NCONSTANTS)):
        store(registers, load(constants, 2 * k), load(constants, 2 * k + 1))
    store(thread, at.T_LEVEL, 0)
    store(thread, at.T_AGAIN, 0)
    store(thread, at.T_COUNT, 0)
    store(thread, at.T_CURSORS, 0)
    store(thread, at.T_CURSORS + 1, 0)
    return 0


def run_rule(rule, thread):
    """Runs a rule until it is done, or returns what is missing."""
    registers = thread + 8 * at.T_REGISTERS
    last = load(rule, at.P_NLEVELS) - 1
    fused = load(rule, at.P_FUSED) != 0
    depth = load(thread, at.T_LEVEL)
    if load(thread, at.T_AGAIN):
        # The loop of the last level, or the row it had found, was interrupted.
        if not fused:
            status = emit(rule, thread, registers)
            if status != at.DONE:
                return status
            depth = load(load(rule, at.P_LEVELS + depth), at.L_BACK)
            store(thread, at.T_AGAIN, 0)
    while True:
        level = load(rule, at.P_LEVELS + depth)
        cursor = thread + 8 * (at.T_CURSORS + at.CURSOR_WORDS * depth)
        if depth == 0:
            row = load(cursor, 0)
            if row == load(cursor, 1):
                if load(thread, at.T_BUDGET) <= 0:
                    store(thread, at.T_LEVEL, 0)
                    return at.PAUSED
                if not next_chunk(rule, cursor):
                    break
                row = load(cursor, 0)
            store(cursor, 0, row + 1)
            if load(level, at.L_KIND) == at.LEVEL_SCAN:
                relation = load(level, at.L_SOURCE)
                bind(level, relation, row_word(relation, row), registers)
            elif load(level, at.L_KIND) == at.LEVEL_BATCH:
                bind_batch(level, row, registers)
            else:
                index = load(level, at.L_SOURCE)
                offsets = load(index, at.X_OFFSETS)
                first = load(offsets, row)
                if first == load(offsets, row + 1):
                    continue
                bind(level, load(index, at.X_RELATION), load(load(index, at.X_ORDERED), first), registers)
            store(thread, at.T_BUDGET, load(thread, at.T_BUDGET) - 1)
        elif fused and depth == last:
            if not run_fused(rule, thread, load(level, at.L_SOURCE), cursor, registers):
                store(thread, at.T_LEVEL, depth)
                return at.FULL
            depth -= 1
            if load(thread, at.T_BUDGET) <= 0:
                store(thread, at.T_LEVEL, depth)
                return at.PAUSED
            continue
        else:
            word = next_row(level, cursor)
            if word < 0:
                depth -= 1
                if load(thread, at.T_BUDGET) <= 0:
                    store(thread, at.T_LEVEL, depth)
                    return at.PAUSED
                continue
            bind(level, load(load(level, at.L_SOURCE), at.X_RELATION), word, registers)
            store(thread, at.T_BUDGET, load(thread, at.T_BUDGET) - 1)
        steps = load(level, at.L_NSTEPS)
        if steps and not steps_hold(load(level, at.L_STEPS), steps, registers, thread):
            continue
        if depth < last:
            inner = load(rule, at.P_LEVELS + depth + 1)
            if open_level(inner, thread + 8 * (at.T_CURSORS + at.CURSOR_WORDS * (depth + 1)), registers):
                depth += 1
            continue
        status = emit(rule, thread, registers)
        if status != at.DONE:
            store(thread, at.T_LEVEL, depth)
            store(thread, at.T_AGAIN, 1)
            return status
        depth = load(level, at.L_BACK)
    store(thread, at.T_LEVEL, 0)
    if load(rule, at.P_SINK) != at.SINK_BATCH and not flush(rule, thread):
        return at.FULL
    return at.DONE


# For kernels that run rules themselves.
begin_rule, continue_rule = function(begin), function(run_rule)

KERNELS = {"begin": begin, "run_rule": run_rule}
