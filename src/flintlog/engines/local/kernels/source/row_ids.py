"""Tables from a row to its place in the relation's log: a slot of 32 bits is the place + 1, or 0."""

from __future__ import annotations

from flintlog.engines.local.kernels.layout import COLUMN_WORDS, R_ARITY, R_COLUMNS, R_ROWS, R_WIDE
from flintlog.engines.local.kernels.source.hashing import slot_of
from flintlog.engines.local.kernels.source.row_sets import hash_row
from flintlog.engines.local.kernels.source.words import below, inlined, load, load_half, store, store_half


@inlined
def words_of_row(relation):
    """How many words a row of the log is."""
    return load(relation, R_ARITY) if load(relation, R_WIDE) else 1


@inlined
def slot_of_row(table, bits, rows, width, row):
    """The slot of a row like the one at an address, or the empty one where it would go."""
    mask = (1 << bits) - 1
    slot = slot_of(hash_row(row, width), bits)
    while True:
        entry = load_half(table, slot)
        if entry == 0:
            return slot
        known = rows + 8 * width * (entry - 1)
        c = 0
        while c < width and load(known, c) == load(row, c):
            c += 1
        if c == width:
            return slot
        slot = (slot + 1) & mask


def enter_rows(relation, table, bits, start, end):
    """Enters rows of the log, which are not there yet."""
    width = words_of_row(relation)
    rows = load(relation, R_ROWS)
    for i in range(start, end):
        store_half(table, slot_of_row(table, bits, rows, width, rows + 8 * width * i), i + 1)
    return 0


def lay_rows(relation, columns, count, wanted):
    """Writes rows, of which there are columns, as the relation's log has them: -1 where no key stands for one."""
    arity = load(relation, R_ARITY)
    if load(relation, R_WIDE):
        for c in range(arity):
            column = load(columns, c)
            for i in range(count):
                store(wanted, i * arity + c, load(column, i))
        return 0
    for i in range(count):
        key = 0
        for c in range(arity):
            at = R_COLUMNS + COLUMN_WORDS * c
            value = load(load(columns, c), i) - load(relation, at)
            if below(load(relation, at + 2), value):
                key = -1
                break
            key |= value << load(relation, at + 1)
        store(wanted, i, key)
    return 0


def find_rows(relation, table, bits, wanted, count, places):
    """Writes the place of each row that is wanted, -1 for one that is not there."""
    width = words_of_row(relation)
    rows = load(relation, R_ROWS)
    for i in range(count):
        slot = slot_of_row(table, bits, rows, width, wanted + 8 * width * i)
        store(places, i, load_half(table, slot) - 1)
    return 0


KERNELS = {"enter_rows": enter_rows, "lay_rows": lay_rows, "find_rows": find_rows}
