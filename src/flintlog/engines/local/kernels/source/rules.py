"""Runs a rule: loops in loops over rows, with tests and computations between, whose results go to the head.

The loops are levels. What a level needs stands in its block, where it is, in the thread's: so a thread can come back at
any time, to say that it is alive or to ask for room, and go on later. The last level of most rules only adds columns
to the head's key; it runs as one tight loop ("fused").
"""

from __future__ import annotations

from flintlog.engines.local.kernels.layout import (
    BUFFER_WORDS,
    COLUMN_WORDS,
    CURSOR_WORDS,
    DONE,
    FULL,
    INDEX_ALL,
    L_BACK,
    L_BINDS,
    L_KEYS,
    L_KIND,
    L_NBINDS,
    L_NSTEPS,
    L_SOURCE,
    L_STEPS,
    LEVEL_BATCH,
    LEVEL_SCAN,
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
    OUTSIDE,
    P_CAPACITY,
    P_CHECKED,
    P_CHUNK,
    P_CONSTANTS,
    P_CURSOR,
    P_END,
    P_FUSED,
    P_HEAD,
    P_LEVELS,
    P_NCONSTANTS,
    P_NLEVELS,
    P_NOUT,
    P_OUT,
    P_SHARED,
    P_SINK,
    PAUSED,
    R_ARITY,
    R_COLUMNS,
    R_ROWS,
    R_VISIBLE,
    R_WIDE,
    S_A,
    S_B,
    S_NKEYS,
    S_OP,
    S_TO,
    SINK_BATCH,
    STEP_WORDS,
    T_AGAIN,
    T_BUDGET,
    T_BUFFER,
    T_COUNT,
    T_CURSORS,
    T_LEVEL,
    T_NEW,
    T_REGISTERS,
    T_ROOM,
    T_SEEN,
    X_BASE,
    X_BASE_GROUPS,
    X_HEADS,
    X_KIND,
    X_NEXT,
    X_OFFSETS,
    X_ORDERED,
    X_RELATION,
)
from flintlog.engines.local.kernels.source.indexes import find_group, group_is_empty, row_word, value_of
from flintlog.engines.local.kernels.source.sets import has_key, has_row, take_keys, take_row
from flintlog.engines.local.kernels.source.words import below, fetch_add, function, inlined, load, shift_right, store

# --- Steps ----------------------------------------------------------------------------------------


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


# --- The head -------------------------------------------------------------------------------------


@function
def flush(rule, thread):
    """Gives the buffered candidates to the head; returns whether there was room."""
    count = load(thread, T_COUNT)
    if count == 0:
        return True
    head = load(rule, P_HEAD)
    shared = load(rule, P_SHARED) != 0
    arity = load(head, R_ARITY)
    wide = load(head, R_WIDE) != 0
    rows = count // arity if wide else count
    room = load(thread, T_ROOM)
    if room < rows:
        return False
    buffer = thread + 8 * T_BUFFER
    found = 0
    if wide:
        for i in range(rows):
            found += take_row(head, buffer + 8 * arity * i, shared)
    else:
        both = take_keys(head, buffer, rows, thread + 8 * T_NEW, shared)
        found = both & 0xFFFFFFFF
        done = both >> 32
        if done < rows:
            for i in range(rows - done):
                store(buffer, i, load(buffer, done + i))
            store(thread, T_COUNT, rows - done)
            store(thread, T_ROOM, room - found)
            return False
    store(thread, T_COUNT, 0)
    store(thread, T_ROOM, room - found)
    store(thread, T_BUDGET, load(thread, T_BUDGET) - rows)
    store(thread, T_SEEN, load(thread, T_SEEN) + rows)
    return True


@function
def emit(rule, thread, registers):
    """Makes a candidate of the registers; returns DONE, or why it must be made again."""
    out = load(rule, P_OUT)
    width = load(rule, P_NOUT)
    head = load(rule, P_HEAD)
    if load(rule, P_SINK) == SINK_BATCH:
        room = load(thread, T_ROOM)
        if room == 0:
            return FULL
        capacity = load(rule, P_CAPACITY)
        at = capacity - room
        for c in range(width):
            store(head, c * capacity + at, load(registers, load(out, c)))
        store(thread, T_ROOM, room - 1)
        store(thread, T_BUDGET, load(thread, T_BUDGET) - 1)
        return DONE
    buffer = thread + 8 * T_BUFFER
    count = load(thread, T_COUNT)
    checked = load(rule, P_CHECKED) != 0
    if load(head, R_WIDE):
        if checked:
            for c in range(width):
                at = R_COLUMNS + COLUMN_WORDS * c
                if below(load(head, at + 3), load(registers, load(out, c)) - load(head, at)):
                    return OUTSIDE
        if count + width > BUFFER_WORDS:
            if not flush(rule, thread):
                return FULL
            count = 0
        for c in range(width):
            store(buffer, count + c, load(registers, load(out, c)))
        store(thread, T_COUNT, count + width)
        return DONE
    if count == BUFFER_WORDS:
        if not flush(rule, thread):
            return FULL
        count = 0
    key = 0
    for c in range(width):
        at = R_COLUMNS + COLUMN_WORDS * c
        value = load(registers, load(out, c)) - load(head, at)
        if checked and below(load(head, at + 3), value):
            return OUTSIDE
        key |= value << load(head, at + 1)
    store(buffer, count, key)
    store(thread, T_COUNT, count + 1)
    return DONE


@inlined
def fused_base(rule, registers, relation):
    """What the outer levels, and the packing of the last one's relation, contribute to the head's key."""
    head = load(rule, P_HEAD)
    out = load(rule, P_OUT)
    key = 0
    for c in range(load(rule, P_NOUT)):
        at = R_COLUMNS + COLUMN_WORDS * c
        name = load(out, c)
        if name >= 0:
            value = load(registers, name)
        else:
            value = load(relation, R_COLUMNS + COLUMN_WORDS * (-1 - name))
        key += (value - load(head, at)) << load(head, at + 1)
    return key


@inlined
def fused_part(rule, relation, word):
    """What a row of the last level adds to that."""
    head = load(rule, P_HEAD)
    out = load(rule, P_OUT)
    key = 0
    for c in range(load(rule, P_NOUT)):
        name = load(out, c)
        if name < 0:
            at = R_COLUMNS + COLUMN_WORDS * (-1 - name)
            field = shift_right(word, load(relation, at + 1)) & load(relation, at + 2)
            key += field << load(head, R_COLUMNS + COLUMN_WORDS * c + 1)
    return key


@function
def run_fused(rule, thread, index, cursor, registers):
    """The whole last level for one binding of the outer ones. Returns whether there was room: if not, it goes on where
    it stopped."""
    relation = load(index, X_RELATION)
    head = load(rule, P_HEAD)
    out = load(rule, P_OUT)
    base = fused_base(rule, registers, relation)
    fields = 0
    source_shift = mask = shift = 0
    for c in range(load(rule, P_NOUT)):
        name = load(out, c)
        if name < 0:
            fields += 1
            source_shift = load(relation, R_COLUMNS + COLUMN_WORDS * (-1 - name) + 1)
            mask = load(relation, R_COLUMNS + COLUMN_WORDS * (-1 - name) + 2)
            shift = load(head, R_COLUMNS + COLUMN_WORDS * c + 1)
    buffer = thread + 8 * T_BUFFER
    ordered = load(relation, R_ROWS) if load(index, X_KIND) == INDEX_ALL else load(index, X_ORDERED)
    j = load(cursor, 0)
    end = load(cursor, 1)
    count = load(thread, T_COUNT)
    while j < end:
        if count == BUFFER_WORDS:
            store(thread, T_COUNT, count)
            store(cursor, 0, j)
            if not flush(rule, thread):
                return False
            count = 0
        stop = min(end - j, BUFFER_WORDS - count)
        source = ordered + 8 * j
        target = buffer + 8 * count
        if fields == 1:
            for i in range(stop):
                field = shift_right(load(source, i), source_shift) & mask
                store(target, i, base + (field << shift))
        else:
            for i in range(stop):
                store(target, i, base + fused_part(rule, relation, load(source, i)))
        j += stop
        count += stop
    store(cursor, 0, end)
    row = load(cursor, 2)
    if row >= 0:
        rows = load(relation, R_ROWS)
        following = load(index, X_NEXT) - 8 * load(index, X_BASE)
        while row >= 0:
            if count == BUFFER_WORDS:
                store(thread, T_COUNT, count)
                store(cursor, 2, row)
                if not flush(rule, thread):
                    return False
                count = 0
            store(buffer, count, base + fused_part(rule, relation, load(rows, row)))
            count += 1
            row = load(following, row)
        store(cursor, 2, -1)
    store(thread, T_COUNT, count)
    return True


# --- Levels ---------------------------------------------------------------------------------------


@inlined
def open_level(level, cursor, registers):
    """Finds the rows of a level for the values that are bound; returns whether there are any."""
    index = load(level, L_SOURCE)
    if load(index, X_KIND) == INDEX_ALL:
        end = load(load(index, X_RELATION), R_VISIBLE)
        store(cursor, 0, 0)
        store(cursor, 1, end)
        store(cursor, 2, -1)
        return end > 0
    group = find_group(index, registers, load(level, L_KEYS))
    if group < 0:
        return False
    start = end = 0
    if group < load(index, X_BASE_GROUPS):
        offsets = load(index, X_OFFSETS)
        start = load(offsets, group)
        end = load(offsets, group + 1)
    row = load(load(index, X_HEADS), group)
    store(cursor, 0, start)
    store(cursor, 1, end)
    store(cursor, 2, row)
    return start < end or row >= 0


@inlined
def next_chunk(rule, cursor):
    """Takes rows of the first level that no other thread has; returns whether there are any."""
    chunk = load(rule, P_CHUNK)
    end = load(rule, P_END)
    if load(rule, P_CURSOR) >= end:
        return False
    start = fetch_add(rule, P_CURSOR, chunk)
    if start >= end:
        return False
    store(cursor, 0, start)
    store(cursor, 1, min(end, start + chunk))
    return True


@inlined
def bind(level, relation, word, registers):
    binds = load(level, L_BINDS)
    for b in range(load(level, L_NBINDS)):
        store(registers, load(binds, 2 * b), value_of(relation, word, load(binds, 2 * b + 1)))


@inlined
def bind_batch(level, row, registers):
    """The columns of a batch stand at addresses of their own."""
    binds = load(level, L_BINDS)
    columns = load(level, L_SOURCE)
    for b in range(load(level, L_NBINDS)):
        store(registers, load(binds, 2 * b), load(load(columns, load(binds, 2 * b + 1)), row))


@inlined
def next_row(level, cursor):
    """The next row of an opened level: its word, or -1 if there is none. Packed keys and row numbers are not
    negative."""
    index = load(level, L_SOURCE)
    relation = load(index, X_RELATION)
    j = load(cursor, 0)
    if j < load(cursor, 1):
        store(cursor, 0, j + 1)
        if load(index, X_KIND) == INDEX_ALL:
            return row_word(relation, j)
        return load(load(index, X_ORDERED), j)
    row = load(cursor, 2)
    if row < 0:
        return -1
    store(cursor, 2, load(load(index, X_NEXT), row - load(index, X_BASE)))
    return row_word(relation, row)


def begin(rule, thread):
    registers = thread + 8 * T_REGISTERS
    constants = load(rule, P_CONSTANTS)
    for k in range(load(rule, P_NCONSTANTS)):
        store(registers, load(constants, 2 * k), load(constants, 2 * k + 1))
    store(thread, T_LEVEL, 0)
    store(thread, T_AGAIN, 0)
    store(thread, T_COUNT, 0)
    store(thread, T_CURSORS, 0)
    store(thread, T_CURSORS + 1, 0)
    return 0


def run_rule(rule, thread):
    """Runs a rule until it is done or something is needed."""
    registers = thread + 8 * T_REGISTERS
    last = load(rule, P_NLEVELS) - 1
    fused = load(rule, P_FUSED) != 0
    depth = load(thread, T_LEVEL)
    if load(thread, T_AGAIN):
        # The loop of the last level, or the row it had found, was interrupted.
        if not fused:
            status = emit(rule, thread, registers)
            if status != DONE:
                return status
            depth = load(load(rule, P_LEVELS + depth), L_BACK)
            store(thread, T_AGAIN, 0)
    while True:
        level = load(rule, P_LEVELS + depth)
        cursor = thread + 8 * (T_CURSORS + CURSOR_WORDS * depth)
        if depth == 0:
            row = load(cursor, 0)
            if row == load(cursor, 1):
                if load(thread, T_BUDGET) <= 0:
                    store(thread, T_LEVEL, 0)
                    return PAUSED
                if not next_chunk(rule, cursor):
                    break
                row = load(cursor, 0)
            store(cursor, 0, row + 1)
            if load(level, L_KIND) == LEVEL_SCAN:
                relation = load(level, L_SOURCE)
                bind(level, relation, row_word(relation, row), registers)
            elif load(level, L_KIND) == LEVEL_BATCH:
                bind_batch(level, row, registers)
            else:
                index = load(level, L_SOURCE)
                offsets = load(index, X_OFFSETS)
                first = load(offsets, row)
                if first == load(offsets, row + 1):
                    continue
                bind(level, load(index, X_RELATION), load(load(index, X_ORDERED), first), registers)
            store(thread, T_BUDGET, load(thread, T_BUDGET) - 1)
        elif fused and depth == last:
            if not run_fused(rule, thread, load(level, L_SOURCE), cursor, registers):
                store(thread, T_LEVEL, depth)
                return FULL
            depth -= 1
            if load(thread, T_BUDGET) <= 0:
                store(thread, T_LEVEL, depth)
                return PAUSED
            continue
        else:
            word = next_row(level, cursor)
            if word < 0:
                depth -= 1
                if load(thread, T_BUDGET) <= 0:
                    store(thread, T_LEVEL, depth)
                    return PAUSED
                continue
            bind(level, load(load(level, L_SOURCE), X_RELATION), word, registers)
            store(thread, T_BUDGET, load(thread, T_BUDGET) - 1)
        steps = load(level, L_NSTEPS)
        if steps and not steps_hold(load(level, L_STEPS), steps, registers, thread):
            continue
        if depth < last:
            inner = load(rule, P_LEVELS + depth + 1)
            if open_level(inner, thread + 8 * (T_CURSORS + CURSOR_WORDS * (depth + 1)), registers):
                depth += 1
            continue
        status = emit(rule, thread, registers)
        if status != DONE:
            store(thread, T_LEVEL, depth)
            store(thread, T_AGAIN, 1)
            return status
        depth = load(level, L_BACK)
    store(thread, T_LEVEL, 0)
    if load(rule, P_SINK) != SINK_BATCH and not flush(rule, thread):
        return FULL
    return DONE


def flush_rule(rule, thread):
    """Gives what a thread has buffered to the head; there is room."""
    flush(rule, thread)
    return 0


KERNELS = {"begin": begin, "run_rule": run_rule, "flush_rule": flush_rule}
