"""Rows that get places in a log: heads that rules give, and facts."""

from __future__ import annotations

from flintlog.engines.local.kernels.layout import (
    COLUMN_WORDS,
    R_ARITY,
    R_COLUMNS,
    R_COUNT,
    R_WIDE,
    W_COLUMNS,
    W_ROW,
    W_TABLE,
    W_VALUES,
)
from flintlog.engines.local.kernels.source.row_ids import place_of, slot_of_laid
from flintlog.engines.local.kernels.source.row_sets import take_row
from flintlog.engines.local.kernels.source.sets import take_keys
from flintlog.engines.local.kernels.source.words import below, function, load, store, store_half
from flintlog.engines.local.kernels.update_layout import (
    K_PLACES,
    K_RELATION,
    K_ROOM,
    NEEDS_RANGE,
    NEEDS_ROWS,
    U_NEW_KEY,
    U_VALUES,
    U_WHERE,
)


@function
def enter_laid(kept, values, new_key):
    """Gives the row of these values, which was looked for last, a place in the log; returns it, or less than 0 what is
    needed first. `new_key` is room for a word."""
    relation, places = load(kept, K_RELATION), load(kept, K_PLACES)
    count = load(relation, R_COUNT)
    if count >= load(kept, K_ROOM):
        return -NEEDS_ROWS
    for c in range(load(relation, R_ARITY)):
        at = R_COLUMNS + COLUMN_WORDS * c
        if below(load(relation, at + 3), load(values, c) - load(relation, at)):
            return -NEEDS_RANGE
    row = load(places, W_ROW)
    if load(relation, R_WIDE):
        take_row(relation, row, False)
    elif take_keys(relation, row, 1, new_key, False) >> 32 == 0:
        return -NEEDS_ROWS  # the set is too crowded
    store_half(load(places, W_TABLE), slot_of_laid(places), count + 1)
    return count


@function
def enter_row(update, kept):
    """The same for the row that an update looked for last."""
    place = enter_laid(kept, load(update, U_VALUES), update + 8 * U_NEW_KEY)
    if place < 0:
        store(update, U_WHERE, kept)
    return place


def enter_columns(kept, start, count, found):
    """Writes the places of rows in columns, and gives one to each that has none. Returns where it stopped: there is no
    room for the next row, or its values are beyond those that may come."""
    relation, places = load(kept, K_RELATION), load(kept, K_PLACES)
    arity, values = load(relation, R_ARITY), load(places, W_VALUES)
    columns = places + 8 * W_COLUMNS
    for i in range(start, count):
        for c in range(arity):
            store(values, c, load(load(columns, c), i))
        place = place_of(places, values)
        if place < 0:
            place = enter_laid(kept, values, values + 8 * arity)
            if place < 0:
                return i
        store(found, i, place)
    return count


KERNELS = {"enter_columns": enter_columns}
