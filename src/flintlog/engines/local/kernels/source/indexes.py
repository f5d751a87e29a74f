"""Indexes: the group of a key, the rows of a group.

The older rows of a group stand next to each other, the newer ones form a chain. To add rows to chains costs in
proportion to the rows that are added; now and then, all rows are ordered anew.
"""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.source.hashing import combined, may_be, number_in, slot_of, tagged
from flintlog.engines.local.kernels.source.pairs import number_at, pair_slot, put_pair
from flintlog.engines.local.kernels.source.words import function, inlined, load, prefetch, store


@inlined
def value_of(relation, word, column):
    """A column of a row: of a packed key, or of the row of that number."""
    if load(relation, at.R_WIDE):
        return load(load(relation, at.R_ROWS), word * load(relation, at.R_ARITY) + column)
    where = at.R_COLUMNS + at.COLUMN_WORDS * column
    return ((word >> load(relation, where + 1)) & load(relation, where + 2)) + load(relation, where)


@inlined
def row_word(relation, row):
    """The word that stands for a row: its packed key, or its number."""
    return row if load(relation, at.R_WIDE) else load(load(relation, at.R_ROWS), row)


@inlined
def key_of_row(index, relation, word):
    """The index's packed key of a row."""
    key = 0
    for k in range(load(index, at.X_NKEYS)):
        where = at.X_KEYS + at.KEY_WORDS * k
        key |= (value_of(relation, word, load(index, where)) - load(index, where + 1)) << load(index, where + 2)
    return key


@inlined
def key_of_registers(index, registers, names):
    """The index's packed key of values in registers; -1 if no row can have them."""
    key = 0
    for k in range(load(index, at.X_NKEYS)):
        where = at.X_KEYS + at.KEY_WORDS * k
        value = load(registers, load(names, k)) - load(index, where + 1)
        if value & ~load(index, where + 3):
            return -1
        key |= value << load(index, where + 2)
    return key


@inlined
def find_packed(index, key):
    """The group of a packed key, -1 if there is none."""
    if load(index, at.X_KIND) == at.INDEX_DENSE:
        return key
    table = load(index, at.X_TABLE)
    return number_at(table, pair_slot(table, load(index, at.X_BITS), key))


@inlined
def wide_hash(index, words, places, step):
    """The hash of a key of several words. `places` has the position of each in `words`, `step` words apart."""
    h = 0
    for k in range(load(index, at.X_NKEYS)):
        h = combined(h, load(words, load(places, step * k)))
    return h


@function
def wide_slot(index, h, words, places, step):
    """The slot of the group that has a key of several words, or the empty one where it would go."""
    relation = load(index, at.X_RELATION)
    table = load(index, at.X_TABLE)
    bits = load(index, at.X_BITS)
    mask = (1 << bits) - 1
    slot = slot_of(h, bits)
    while True:
        entry = load(table, slot)
        if entry == 0:
            return slot
        if may_be(entry, h):
            row = load(load(index, at.X_FIRST), number_in(entry))
            same = True
            for k in range(load(index, at.X_NKEYS)):
                column = load(index, at.X_KEYS + at.KEY_WORDS * k)
                if value_of(relation, row, column) != load(words, load(places, step * k)):
                    same = False
            if same:
                return slot
        slot = (slot + 1) & mask


@inlined
def find_wide(index, registers, names):
    """The group of a key of several words, -1 if there is none."""
    slot = wide_slot(index, wide_hash(index, registers, names, 1), registers, names, 1)
    return number_in(load(load(index, at.X_TABLE), slot))


@inlined
def find_group(index, registers, names):
    """The group of the values in some registers, -1 if there is none."""
    kind = load(index, at.X_KIND)
    if kind == at.INDEX_ALL:
        return 0
    if kind != at.INDEX_WIDE:
        key = key_of_registers(index, registers, names)
        if key < 0:
            return -1
        return find_packed(index, key)
    return find_wide(index, registers, names)


@inlined
def new_group(index):
    group = load(index, at.X_GROUPS)
    store(index, at.X_GROUPS, group + 1)
    store(load(index, at.X_HEADS), group, -1)
    return group


@function
def add_packed(index, key):
    """The group of a packed key, a new one if need be."""
    table = load(index, at.X_TABLE)
    slot = pair_slot(table, load(index, at.X_BITS), key)
    if number_at(table, slot) < 0:
        put_pair(table, slot, key, new_group(index))
    return number_at(table, slot)


@inlined
def row_words(relation, row):
    """Where a row of words begins."""
    return load(relation, at.R_ROWS) + 8 * load(relation, at.R_ARITY) * row


@function
def add_wide(index, relation, row):
    """The same for keys of several words: the key of a row of words."""
    words = row_words(relation, row)
    places = index + 8 * at.X_KEYS
    h = wide_hash(index, words, places, at.KEY_WORDS)
    slot = wide_slot(index, h, words, places, at.KEY_WORDS)
    table = load(index, at.X_TABLE)
    if load(table, slot) == 0:
        group = new_group(index)
        store(load(index, at.X_FIRST), group, row)
        store(table, slot, tagged(h, group))
    return number_in(load(table, slot))


@inlined
def group_of_row(index, relation, word):
    kind = load(index, at.X_KIND)
    if kind == at.INDEX_ALL:
        return 0
    if kind == at.INDEX_DENSE:
        return key_of_row(index, relation, word)
    if kind == at.INDEX_HASH:
        return add_packed(index, key_of_row(index, relation, word))
    return add_wide(index, relation, word)


@function
def group_is_empty(index, group):
    if group < 0:
        return True
    if load(index, at.X_KIND) == at.INDEX_ALL:
        return load(load(index, at.X_RELATION), at.R_VISIBLE) == 0
    if group < load(index, at.X_BASE_GROUPS):
        offsets = load(index, at.X_OFFSETS)
        if load(offsets, group) < load(offsets, group + 1):
            return False
    return load(load(index, at.X_HEADS), group) < 0


@function
def passes(index, relation, word):
    """Whether a row passes the filters of an index."""
    for f in range(load(index, at.X_NFILTERS)):
        record = load(index, at.X_FILTERS) + 8 * at.FILTER_WORDS * f
        values = load(record, at.F_VALUES)
        columns = load(record, at.F_COLUMNS)
        for c in range(load(record, at.F_COUNT)):
            store(values, c, value_of(relation, word, load(columns, c)))
        other = load(record, at.F_INDEX)
        if group_is_empty(other, find_group(other, values, load(record, at.F_NAMES))):
            return False
    return True


def extend_chains(index, end):
    """Adds the rows up to `end` to the chains. Tables, heads and next have room."""
    relation = load(index, at.X_RELATION)
    base = load(index, at.X_BASE)
    filtered = load(index, at.X_NFILTERS) > 0
    for row in range(load(index, at.X_END), end):
        word = row_word(relation, row)
        if filtered and not passes(index, relation, word):
            continue
        group = group_of_row(index, relation, word)
        heads = load(index, at.X_HEADS)
        store(load(index, at.X_NEXT), row - base, load(heads, group))
        store(heads, group, row)
    store(index, at.X_END, end)
    return load(index, at.X_GROUPS)


def number_groups(index, start, end, groups):
    """Writes the group of every row from `start` to `end`, -1 for one that does not pass, finding new groups on the
    way; returns how many there are."""
    relation = load(index, at.X_RELATION)
    filtered = load(index, at.X_NFILTERS) > 0
    for row in range(start, end):
        word = row_word(relation, row)
        if filtered and not passes(index, relation, word):
            store(groups, row, -1)
        else:
            store(groups, row, group_of_row(index, relation, word))
    return load(index, at.X_GROUPS)


def order_rows(index, start, end, groups, offsets, ordered):
    """Orders the rows from `start` to `end` by group. `offsets` has a zero for every group and two more."""
    relation = load(index, at.X_RELATION)
    for row in range(start, end):
        where = load(groups, row) + 2
        if where >= 2:
            store(offsets, where, load(offsets, where) + 1)
    total = 0
    for group in range(2, load(index, at.X_GROUPS) + 2):
        total += load(offsets, group)
        store(offsets, group, total)
    # Offset g + 1 is now where group g begins; it moves on as rows come, so that in the end it is where group g ends.
    for row in range(start, end):
        if row + 16 < end:
            prefetch(ordered + 8 * load(offsets, load(groups, row + 16) + 1))
        group = load(groups, row)
        if group < 0:
            continue
        where = load(offsets, group + 1)
        store(ordered, where, row_word(relation, row))
        store(offsets, group + 1, where + 1)
    return 0


def fill_wide(index):
    """Enters all groups of wide keys into an empty table."""
    relation = load(index, at.X_RELATION)
    table = load(index, at.X_TABLE)
    places = index + 8 * at.X_KEYS
    for group in range(load(index, at.X_GROUPS)):
        words = row_words(relation, load(load(index, at.X_FIRST), group))
        h = wide_hash(index, words, places, at.KEY_WORDS)
        slot = wide_slot(index, h, words, places, at.KEY_WORDS)
        store(table, slot, tagged(h, group))
    return 0


lengthen_chains = function(extend_chains)  # for kernels

KERNELS = {
    "extend_chains": extend_chains,
    "number_groups": number_groups,
    "order_rows": order_rows,
    "fill_wide": fill_wide,
}
