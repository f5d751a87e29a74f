"""Tables from a row to its position in the relation's log: a slot of 32 bits holds the position + 1, or 0."""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.source.hashing import slot_of
from flintlog.engines.local.kernels.source.row_sets import hash_row
from flintlog.engines.local.kernels.source.words import below, function, inlined, load, load_half, store, store_half

NEAR = 4  # to compare so many rows costs less than a look at the table


@inlined
def words_of_row(relation):
    """How many words a row of the log is."""
    return load(relation, at.R_ARITY) if load(relation, at.R_WIDE) else 1


@inlined
def are_same(known, row, width):
    """Whether two rows have the same words."""
    c = 0
    while c < width and load(known, c) == load(row, c):
        c += 1
    return c == width


@inlined
def slot_of_row(table, bits, rows, width, row):
    """The slot of a row like the one at an address, or the empty one where it would go."""
    mask = (1 << bits) - 1
    slot = slot_of(hash_row(row, width), bits)
    while True:
        entry = load_half(table, slot)
        if entry == 0 or are_same(rows + 8 * width * (entry - 1), row, width):
            return slot
        slot = (slot + 1) & mask


def enter_rows(places, start, end):
    """Enters rows of the log that the table does not have yet."""
    relation, table, bits = load(places, at.W_RELATION), load(places, at.W_TABLE), load(places, at.W_BITS)
    width = words_of_row(relation)
    rows = load(relation, at.R_ROWS)
    for i in range(start, end):
        store_half(table, slot_of_row(table, bits, rows, width, rows + 8 * width * i), i + 1)
    return 0


@inlined
def lay_row(relation, values, row):
    """Writes a row of these values in the form of the relation's log; returns 0 if they do not fit into a key."""
    arity = load(relation, at.R_ARITY)
    if load(relation, at.R_WIDE):
        for c in range(arity):
            store(row, c, load(values, c))
        return 1
    key = 0
    for c in range(arity):
        where = at.R_COLUMNS + at.COLUMN_WORDS * c
        value = load(values, c) - load(relation, where)
        if below(load(relation, where + 2), value):
            return 0
        key |= value << load(relation, where + 1)
    store(row, 0, key)
    return 1


@inlined
def slot_of_laid(places):
    """The slot of the row that was laid, or the empty one where it would go."""
    relation = load(places, at.W_RELATION)
    table, bits = load(places, at.W_TABLE), load(places, at.W_BITS)
    return slot_of_row(table, bits, load(relation, at.R_ROWS), words_of_row(relation), load(places, at.W_ROW))


@function
def place_of(places, values):
    """The position of the row of these values, -1 if the table does not have it."""
    if not lay_row(load(places, at.W_RELATION), values, load(places, at.W_ROW)):
        return -1
    return load_half(load(places, at.W_TABLE), slot_of_laid(places)) - 1


def find_rows(places, count, found):
    """Writes the position of each row, -1 for one that the table does not have. Rows that are computed again mostly
    come in the order of the log: the rows behind the last one found are compared first."""
    relation, row, values = load(places, at.W_RELATION), load(places, at.W_ROW), load(places, at.W_VALUES)
    arity, width, rows, end = (
        load(relation, at.R_ARITY),
        words_of_row(relation),
        load(relation, at.R_ROWS),
        load(relation, at.R_COUNT),
    )
    columns = places + 8 * at.W_COLUMNS
    after = 0
    for i in range(count):
        for c in range(arity):
            store(values, c, load(load(columns, c), i))
        position = -1
        if lay_row(relation, values, row):
            position, stop = after, min(end, after + NEAR)
            while position < stop and not are_same(rows + 8 * width * position, row, width):
                position += 1
            if position == stop:
                position = load_half(load(places, at.W_TABLE), slot_of_laid(places)) - 1
            if position >= 0:
                after = position + 1
        store(found, i, position)
    return 0


KERNELS = {"enter_rows": enter_rows, "find_rows": find_rows}
