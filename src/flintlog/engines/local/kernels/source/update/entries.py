"""New rows in a log: heads that rules give, and facts."""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels import update_layout as up
from flintlog.engines.local.kernels.source.row_ids import place_of, slot_of_laid
from flintlog.engines.local.kernels.source.row_sets import take_row
from flintlog.engines.local.kernels.source.sets import take_keys
from flintlog.engines.local.kernels.source.words import below, function, load, store, store_half


@function
def enter_laid(kept, values, new_key):
    """Appends the row of these values, which was looked for last, to the log. Returns its position; or, negative, the
    code of what is needed first. `new_key` is room for a word."""
    relation, places = load(kept, up.K_RELATION), load(kept, up.K_PLACES)
    count = load(relation, at.R_COUNT)
    if count >= load(kept, up.K_ROOM):
        return -up.NEEDS_ROWS
    for c in range(load(relation, at.R_ARITY)):
        where = at.R_COLUMNS + at.COLUMN_WORDS * c
        if below(load(relation, where + 3), load(values, c) - load(relation, where)):
            return -up.NEEDS_RANGE
    row = load(places, at.W_ROW)
    if load(relation, at.R_WIDE):
        take_row(relation, row, False)
    elif take_keys(relation, row, 1, new_key, False) >> 32 == 0:
        return -up.NEEDS_ROWS  # the set is too crowded
    store_half(load(places, at.W_TABLE), slot_of_laid(places), count + 1)
    return count


@function
def enter_row(update, kept):
    """The same for the row that an update looked for last."""
    place = enter_laid(kept, load(update, up.U_VALUES), update + 8 * up.U_NEW_KEY)
    if place < 0:
        store(update, up.U_WHERE, kept)
    return place


def enter_columns(kept, start, count, found):
    """Writes the positions of rows in columns, and appends each row that the log does not have. Returns where it
    stopped: there is no room for the next row, or its values are outside the known range."""
    relation, places = load(kept, up.K_RELATION), load(kept, up.K_PLACES)
    arity, values = load(relation, at.R_ARITY), load(places, at.W_VALUES)
    columns = places + 8 * at.W_COLUMNS
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
