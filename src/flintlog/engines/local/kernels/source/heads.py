"""Heads of a rule: a thread gathers candidates in its buffer for a relation, or writes them into a batch."""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.source.row_sets import take_row
from flintlog.engines.local.kernels.source.sets import take_keys
from flintlog.engines.local.kernels.source.words import below, function, inlined, load, shift_right, store


@function
def flush(rule, thread):
    """Gives the buffered candidates to the head; returns whether there was room."""
    count = load(thread, at.T_COUNT)
    if count == 0:
        return True
    head = load(rule, at.P_HEAD)
    shared = load(rule, at.P_SHARED) != 0
    arity = load(head, at.R_ARITY)
    wide = load(head, at.R_WIDE) != 0
    rows = count // arity if wide else count
    room = load(thread, at.T_ROOM)
    if room < rows:
        return False
    buffer = thread + 8 * at.T_BUFFER
    found = 0
    if wide:
        for i in range(rows):
            found += take_row(head, buffer + 8 * arity * i, shared)
    else:
        both = take_keys(head, buffer, rows, thread + 8 * at.T_NEW, shared)
        found = both & 0xFFFFFFFF
        done = both >> 32
        if done < rows:
            for i in range(rows - done):
                store(buffer, i, load(buffer, done + i))
            store(thread, at.T_COUNT, rows - done)
            store(thread, at.T_ROOM, room - found)
            return False
    store(thread, at.T_COUNT, 0)
    store(thread, at.T_ROOM, room - found)
    store(thread, at.T_BUDGET, load(thread, at.T_BUDGET) - rows)
    store(thread, at.T_SEEN, load(thread, at.T_SEEN) + rows)
    return True


@function
def emit(rule, thread, registers):
    """Makes a candidate of the registers; returns DONE, or why it must be made again."""
    out = load(rule, at.P_OUT)
    width = load(rule, at.P_NOUT)
    head = load(rule, at.P_HEAD)
    if load(rule, at.P_SINK) == at.SINK_BATCH:
        room = load(thread, at.T_ROOM)
        if room == 0:
            return at.FULL
        capacity = load(rule, at.P_CAPACITY)
        where = capacity - room
        for c in range(width):
            store(head, c * capacity + where, load(registers, load(out, c)))
        store(thread, at.T_ROOM, room - 1)
        store(thread, at.T_BUDGET, load(thread, at.T_BUDGET) - 1)
        return at.DONE
    buffer = thread + 8 * at.T_BUFFER
    count = load(thread, at.T_COUNT)
    checked = load(rule, at.P_CHECKED) != 0
    if load(head, at.R_WIDE):
        if checked:
            for c in range(width):
                where = at.R_COLUMNS + at.COLUMN_WORDS * c
                if below(load(head, where + 3), load(registers, load(out, c)) - load(head, where)):
                    return at.OUTSIDE
        if count + width > at.BUFFER_WORDS:
            if not flush(rule, thread):
                return at.FULL
            count = 0
        for c in range(width):
            store(buffer, count + c, load(registers, load(out, c)))
        store(thread, at.T_COUNT, count + width)
        return at.DONE
    if count == at.BUFFER_WORDS:
        if not flush(rule, thread):
            return at.FULL
        count = 0
    key = 0
    for c in range(width):
        where = at.R_COLUMNS + at.COLUMN_WORDS * c
        value = load(registers, load(out, c)) - load(head, where)
        if checked and below(load(head, where + 3), value):
            return at.OUTSIDE
        key |= value << load(head, where + 1)
    store(buffer, count, key)
    store(thread, at.T_COUNT, count + 1)
    return at.DONE


@inlined
def fused_base(rule, registers, relation):
    """The part of the head's key that the outer levels give, and the packing of the last level's relation."""
    head = load(rule, at.P_HEAD)
    out = load(rule, at.P_OUT)
    key = 0
    for c in range(load(rule, at.P_NOUT)):
        where = at.R_COLUMNS + at.COLUMN_WORDS * c
        name = load(out, c)
        if name >= 0:
            value = load(registers, name)
        else:
            value = load(relation, at.R_COLUMNS + at.COLUMN_WORDS * (-1 - name))
        key += (value - load(head, where)) << load(head, where + 1)
    return key


@inlined
def fused_part(rule, relation, word):
    """The part that a row of the last level adds."""
    head = load(rule, at.P_HEAD)
    out = load(rule, at.P_OUT)
    key = 0
    for c in range(load(rule, at.P_NOUT)):
        name = load(out, c)
        if name < 0:
            where = at.R_COLUMNS + at.COLUMN_WORDS * (-1 - name)
            field = shift_right(word, load(relation, where + 1)) & load(relation, where + 2)
            key += field << load(head, at.R_COLUMNS + at.COLUMN_WORDS * c + 1)
    return key


@function
def run_fused(rule, thread, index, cursor, registers):
    """The whole last level for one binding of the outer ones. Returns whether there was room: if not, the next call
    continues where this one stopped."""
    relation = load(index, at.X_RELATION)
    head = load(rule, at.P_HEAD)
    out = load(rule, at.P_OUT)
    base = fused_base(rule, registers, relation)
    fields = 0
    source_shift = mask = shift = 0
    for c in range(load(rule, at.P_NOUT)):
        name = load(out, c)
        if name < 0:
            fields += 1
            source_shift = load(relation, at.R_COLUMNS + at.COLUMN_WORDS * (-1 - name) + 1)
            mask = load(relation, at.R_COLUMNS + at.COLUMN_WORDS * (-1 - name) + 2)
            shift = load(head, at.R_COLUMNS + at.COLUMN_WORDS * c + 1)
    buffer = thread + 8 * at.T_BUFFER
    ordered = load(relation, at.R_ROWS) if load(index, at.X_KIND) == at.INDEX_ALL else load(index, at.X_ORDERED)
    j = load(cursor, 0)
    end = load(cursor, 1)
    count = load(thread, at.T_COUNT)
    while j < end:
        if count == at.BUFFER_WORDS:
            store(thread, at.T_COUNT, count)
            store(cursor, 0, j)
            if not flush(rule, thread):
                return False
            count = 0
        stop = min(end - j, at.BUFFER_WORDS - count)
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
        rows = load(relation, at.R_ROWS)
        following = load(index, at.X_NEXT) - 8 * load(index, at.X_BASE)
        while row >= 0:
            if count == at.BUFFER_WORDS:
                store(thread, at.T_COUNT, count)
                store(cursor, 2, row)
                if not flush(rule, thread):
                    return False
                count = 0
            store(buffer, count, base + fused_part(rule, relation, load(rows, row)))
            count += 1
            row = load(following, row)
        store(cursor, 2, -1)
    store(thread, at.T_COUNT, count)
    return True


def flush_rule(rule, thread):
    """Gives the candidates in a thread's buffer to the head, which has room for them."""
    flush(rule, thread)
    return 0


KERNELS = {"flush_rule": flush_rule}
