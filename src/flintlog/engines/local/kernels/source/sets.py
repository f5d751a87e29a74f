"""The sets that know a relation's rows. Threads insert side by side: a slot is taken with one exchange.

A set has room for what it is given; whoever calls sees to that. New rows go to the end of the relation's log.
"""

from __future__ import annotations

from flintlog.engines.local.kernels.layout import (
    BUFFER_WORDS,
    R_ARITY,
    R_BITS,
    R_COUNT,
    R_ROWS,
    R_SET,
    R_TABLE,
    SET_BITS,
    SET_KEYS,
)
from flintlog.engines.local.kernels.source.hashing import combined, mixed, slot_of
from flintlog.engines.local.kernels.source.words import (
    fetch_add,
    fetch_or,
    function,
    inlined,
    load,
    load_shared,
    prefetch,
    shift_right,
    store,
    swap_if,
)

TAKEN = -1  # a slot whose row is being written
ROW_BITS = 40
ROW_MASK = (1 << ROW_BITS) - 1
TAG_MASK = ((1 << 62) - 1) ^ ROW_MASK


# --- Packed keys ----------------------------------------------------------------------------------------------------------------


@function
def insert_hashed(table, bits, keys, count, new, shared):
    """Inserts keys; writes those that were not there to `new` and returns how many."""
    mask = (1 << bits) - 1
    for i in range(count):
        prefetch(table + 8 * slot_of(mixed(load(keys, i)), bits))
    found = 0
    for i in range(count):
        key = load(keys, i)
        slot = slot_of(mixed(key), bits)
        while True:
            entry = load_shared(table, slot)
            if entry == key + 1:
                break
            if entry == 0:
                if shared:
                    if swap_if(table, slot, 0, key + 1) != 0:
                        continue
                else:
                    store(table, slot, key + 1)
                store(new, found, key)
                found += 1
                break
            slot = (slot + 1) & mask
    return found


@function
def insert_bits(table, keys, count, new, shared):
    """The same for one bit a key."""
    for i in range(count):
        prefetch(table + 8 * (load(keys, i) >> 6))
    found = 0
    for i in range(count):
        key = load(keys, i)
        bit = 1 << (key & 63)
        word = load_shared(table, key >> 6)
        if word & bit:
            continue
        if shared:
            if fetch_or(table, key >> 6, bit) & bit:
                continue
        else:
            store(table, key >> 6, word | bit)
        store(new, found, key)
        found += 1
    return found


@function
def take_keys(relation, keys, count, new, shared):
    """Inserts keys into a relation, at most as many as `new` has room for; returns how many are new."""
    table = load(relation, R_TABLE)
    if load(relation, R_SET) == SET_BITS:
        found = insert_bits(table, keys, count, new, shared)
    else:
        found = insert_hashed(table, load(relation, R_BITS), keys, count, new, shared)
    if found:
        rows = load(relation, R_ROWS)
        start = fetch_add(relation, R_COUNT, found)
        for i in range(found):
            store(rows, start + i, load(new, i))
    return found


def add_keys(relation, keys, count, buffer, shared):
    """Inserts any number of keys; `buffer` has BUFFER_WORDS words."""
    added = 0
    for start in range(0, count, BUFFER_WORDS):
        added += take_keys(relation, keys + 8 * start, min(BUFFER_WORDS, count - start), buffer, shared)
    return added


@inlined
def has_key(relation, key):
    table = load(relation, R_TABLE)
    if load(relation, R_SET) == SET_BITS:
        return (shift_right(load(table, key >> 6), key & 63) & 1) != 0
    bits = load(relation, R_BITS)
    mask = (1 << bits) - 1
    slot = slot_of(mixed(key), bits)
    while True:
        entry = load_shared(table, slot)
        if entry == 0 or entry == key + 1:
            return entry != 0
        slot = (slot + 1) & mask


# --- Rows of several words --------------------------------------------------------------------------------------------------------


@inlined
def hash_row(row, arity):
    h = 0
    for c in range(arity):
        h = combined(h, load(row, c))
    return h


@inlined
def same_row(a, b, arity):
    for c in range(arity):
        if load(a, c) != load(b, c):
            return False
    return True


@function
def take_row(relation, row, shared):
    """Inserts a row of words; returns 1 if it is new."""
    arity = load(relation, R_ARITY)
    rows = load(relation, R_ROWS)
    table = load(relation, R_TABLE)
    bits = load(relation, R_BITS)
    mask = (1 << bits) - 1
    h = hash_row(row, arity)
    tag = (h << ROW_BITS) & TAG_MASK
    slot = slot_of(h, bits)
    while True:
        entry = load_shared(table, slot)
        if entry == 0:
            if shared and swap_if(table, slot, 0, TAKEN) != 0:
                continue
            number = fetch_add(relation, R_COUNT, 1)
            for c in range(arity):
                store(rows, number * arity + c, load(row, c))
            if shared:
                swap_if(table, slot, TAKEN, tag | (number + 1))  # an exchange, so that the row is there before it
            else:
                store(table, slot, tag | (number + 1))
            return 1
        if entry == TAKEN:
            continue
        if (entry & TAG_MASK) == tag and same_row(rows + 8 * arity * ((entry & ROW_MASK) - 1), row, arity):
            return 0
        slot = (slot + 1) & mask


def add_rows(relation, rows, count):
    """Inserts any number of rows, one after the other in memory."""
    added = 0
    arity = load(relation, R_ARITY)
    for i in range(count):
        added += take_row(relation, rows + 8 * arity * i, False)
    return added


@inlined
def has_row(relation, row):
    arity = load(relation, R_ARITY)
    rows = load(relation, R_ROWS)
    table = load(relation, R_TABLE)
    bits = load(relation, R_BITS)
    mask = (1 << bits) - 1
    h = hash_row(row, arity)
    tag = (h << ROW_BITS) & TAG_MASK
    slot = slot_of(h, bits)
    while True:
        entry = load_shared(table, slot)
        if entry == 0:
            return False
        if (
            entry != TAKEN
            and (entry & TAG_MASK) == tag
            and same_row(rows + 8 * arity * ((entry & ROW_MASK) - 1), row, arity)
        ):
            return True
        slot = (slot + 1) & mask


# --- Other sizes ------------------------------------------------------------------------------------------------------------------


def fill_table(relation):
    """Enters all rows of a relation into its empty set."""
    count = load(relation, R_COUNT)
    rows = load(relation, R_ROWS)
    table = load(relation, R_TABLE)
    bits = load(relation, R_BITS)
    mask = (1 << bits) - 1
    kind = load(relation, R_SET)
    arity = load(relation, R_ARITY)
    for i in range(count):
        if kind == SET_BITS:
            key = load(rows, i)
            store(table, key >> 6, load(table, key >> 6) | (1 << (key & 63)))
        else:
            if kind == SET_KEYS:
                h = mixed(load(rows, i))
                entry = load(rows, i) + 1
            else:
                h = hash_row(rows + 8 * arity * i, arity)
                entry = ((h << ROW_BITS) & TAG_MASK) | (i + 1)
            slot = slot_of(h, bits)
            while load(table, slot) != 0:
                slot = (slot + 1) & mask
            store(table, slot, entry)
    return count


def move_keys(old, old_bits, table, bits):
    """Copies the keys of a table into a larger, empty one, in the order they stand in."""
    mask = (1 << bits) - 1
    for i in range(1 << old_bits):
        entry = load(old, i)
        if entry != 0:
            slot = slot_of(mixed(entry - 1), bits)
            while load(table, slot) != 0:
                slot = (slot + 1) & mask
            store(table, slot, entry)
    return 0


KERNELS = {"add_keys": add_keys, "add_rows": add_rows, "fill_table": fill_table, "move_keys": move_keys}
