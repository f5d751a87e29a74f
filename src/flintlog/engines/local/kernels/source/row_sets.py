"""Sets of rows of several words: a slot holds the row's number and some bits of its hash."""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.source.hashing import combined, may_be, number_in, slot_of, tagged
from flintlog.engines.local.kernels.source.words import fetch_add, function, inlined, load, load_shared, store, swap_if

TAKEN = -1  # a slot whose row is being written


@inlined
def hash_row(row, arity):
    h = 0
    for c in range(arity):
        h = combined(h, load(row, c))
    return h


@inlined
def is_row(entry, hashed, rows, row, arity):
    """Whether an entry is of a row with these words."""
    if not may_be(entry, hashed):
        return False
    known = rows + 8 * arity * number_in(entry)
    c = 0
    while c < arity and load(known, c) == load(row, c):
        c += 1
    return c == arity


@function
def take_row(relation, row, shared):
    """Inserts a row of words; returns 1 if it is new."""
    arity = load(relation, at.R_ARITY)
    rows = load(relation, at.R_ROWS)
    table = load(relation, at.R_TABLE)
    bits = load(relation, at.R_BITS)
    mask = (1 << bits) - 1
    h = hash_row(row, arity)
    slot = slot_of(h, bits)
    while True:
        entry = load_shared(table, slot)
        if entry == 0:
            if shared and swap_if(table, slot, 0, TAKEN) != 0:
                continue
            number = fetch_add(relation, at.R_COUNT, 1)
            for c in range(arity):
                store(rows, number * arity + c, load(row, c))
            if shared:
                swap_if(table, slot, TAKEN, tagged(h, number))  # an exchange, so that the row is there before it
            else:
                store(table, slot, tagged(h, number))
            return 1
        if entry == TAKEN:
            continue
        if is_row(entry, h, rows, row, arity):
            return 0
        slot = (slot + 1) & mask


def add_rows(relation, rows, count):
    """Inserts any number of rows, one after the other in memory."""
    added = 0
    arity = load(relation, at.R_ARITY)
    for i in range(count):
        added += take_row(relation, rows + 8 * arity * i, False)
    return added


@inlined
def has_row(relation, row):
    arity = load(relation, at.R_ARITY)
    rows = load(relation, at.R_ROWS)
    table = load(relation, at.R_TABLE)
    bits = load(relation, at.R_BITS)
    mask = (1 << bits) - 1
    h = hash_row(row, arity)
    slot = slot_of(h, bits)
    while True:
        entry = load_shared(table, slot)
        if entry == 0:
            return False
        if entry != TAKEN and is_row(entry, h, rows, row, arity):
            return True
        slot = (slot + 1) & mask


KERNELS = {"add_rows": add_rows}
