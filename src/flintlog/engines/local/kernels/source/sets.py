"""The sets that know a relation's rows. Threads insert side by side: a slot is taken with one exchange.

A set has room for what it is given; whoever calls sees to that. New rows go to the end of the relation's log.
"""

from __future__ import annotations

from flintlog.engines.local.kernels.layout import (
    BUFFER_WORDS,
    FAR,
    R_ARITY,
    R_BITS,
    R_COUNT,
    R_CROWDED,
    R_LAST,
    R_ROWS,
    R_SET,
    R_STRIDE,
    R_TABLE,
    R_WIDTH,
    SET_BITS,
    SET_KEYS,
    SET_SHORT,
)
from flintlog.engines.local.kernels.source.hashing import combined, mixed, shuffled, slot_of
from flintlog.engines.local.kernels.source.words import (
    fetch_add,
    fetch_or,
    function,
    inlined,
    load,
    load_half,
    load_half_shared,
    load_shared,
    prefetch,
    shift_right,
    store,
    store_half,
    swap_half_if,
    swap_if,
)

LOWER = (1 << 31) - 1
USED = 1 << 31
TAKEN = -1  # a slot whose row is being written
ROW_BITS = 40
ROW_MASK = (1 << ROW_BITS) - 1
TAG_MASK = ((1 << 62) - 1) ^ ROW_MASK


# --- Packed keys ----------------------------------------------------------------------------------


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
def insert_short(table, bits, width, keys, count, new, shared):
    """The same for slots of 32 bits. Stops at a key that finds no slot near enough; returns how many keys it did,
    and how many of these were new, as one number."""
    mask = (1 << bits) - 1
    rest = width - bits
    for i in range(count):
        prefetch(table + 4 * shift_right(shuffled(load(keys, i), width), rest))
    found = 0
    for i in range(count):
        key = load(keys, i)
        h = shuffled(key, width)
        entry = (h & LOWER) | USED
        slot = shift_right(h, rest)
        far = (slot + FAR) & mask
        while True:
            known = load_half_shared(table, slot)
            if known == entry:
                break
            if known == 0:
                if shared:
                    if swap_half_if(table, slot, 0, entry) != 0:
                        continue
                else:
                    store_half(table, slot, entry)
                store(new, found, key)
                found += 1
                break
            slot = (slot + 1) & mask
            if slot == far:
                return (i << 32) | found
    return (count << 32) | found


@inlined
def bit_of(key, last, stride):
    """Where a key's bit is: the values of the last column side by side."""
    return shift_right(key, last) * stride + (key & ((1 << last) - 1))


@function
def insert_bits(table, last, stride, keys, count, new, shared):
    """The same for one bit a key."""
    for i in range(count):
        prefetch(table + 8 * (bit_of(load(keys, i), last, stride) >> 6))
    found = 0
    for i in range(count):
        key = load(keys, i)
        place = bit_of(key, last, stride)
        bit = 1 << (place & 63)
        word = load_shared(table, place >> 6)
        if word & bit:
            continue
        if shared:
            if fetch_or(table, place >> 6, bit) & bit:
                continue
        else:
            store(table, place >> 6, word | bit)
        store(new, found, key)
        found += 1
    return found


@function
def take_keys(relation, keys, count, new, shared):
    """Inserts keys into a relation, at most as many as `new` has room for; returns how many it did (all of them, but
    for a short set that is crowded), and how many of these are new, as one number."""
    table = load(relation, R_TABLE)
    kind = load(relation, R_SET)
    done = count
    if kind == SET_SHORT:
        both = insert_short(table, load(relation, R_BITS), load(relation, R_WIDTH), keys, count, new, shared)
        done = both >> 32
        found = both & LOWER
        if done < count:
            store(relation, R_CROWDED, 1)
    elif kind == SET_BITS:
        found = insert_bits(table, load(relation, R_LAST), load(relation, R_STRIDE), keys, count, new, shared)
    else:
        found = insert_hashed(table, load(relation, R_BITS), keys, count, new, shared)
    if found:
        rows = load(relation, R_ROWS)
        start = fetch_add(relation, R_COUNT, found)
        for i in range(found):
            store(rows, start + i, load(new, i))
    return (done << 32) | found


def add_keys(relation, keys, count, buffer):
    """Inserts any number of keys, unless the set is too crowded; returns how many it did. `buffer` has BUFFER_WORDS
    words."""
    start = 0
    while start < count:
        wanted = min(BUFFER_WORDS, count - start)
        done = take_keys(relation, keys + 8 * start, wanted, buffer, False) >> 32
        start += done
        if done < wanted:
            break
    return start


@inlined
def has_key(relation, key):
    table = load(relation, R_TABLE)
    if load(relation, R_SET) == SET_BITS:
        place = bit_of(key, load(relation, R_LAST), load(relation, R_STRIDE))
        return (shift_right(load(table, place >> 6), place & 63) & 1) != 0
    bits = load(relation, R_BITS)
    mask = (1 << bits) - 1
    if load(relation, R_SET) == SET_SHORT:
        width = load(relation, R_WIDTH)
        h = shuffled(key, width)
        slot = shift_right(h, width - bits)
        short = (h & LOWER) | USED
        far = (slot + FAR) & mask  # further on, the same bits belong to another key
        while slot != far:
            entry = load_half_shared(table, slot)
            if entry == 0 or entry == short:
                return entry != 0
            slot = (slot + 1) & mask
        return False
    slot = slot_of(mixed(key), bits)
    while True:
        entry = load_shared(table, slot)
        if entry == 0 or entry == key + 1:
            return entry != 0
        slot = (slot + 1) & mask


# --- Rows of several words ------------------------------------------------------------------------


@inlined
def hash_row(row, arity):
    h = 0
    for c in range(arity):
        h = combined(h, load(row, c))
    return h


@inlined
def same_row(a, b, arity):
    c = 0
    while c < arity and load(a, c) == load(b, c):
        c += 1
    return c == arity


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


# --- Other sizes ----------------------------------------------------------------------------------


@inlined
def put(table, slot, mask, entry, shared):
    """Writes a key that is not there into the first free slot."""
    while True:
        if load_shared(table, slot) == 0:
            if not shared:
                store(table, slot, entry)
                return
            if swap_if(table, slot, 0, entry) == 0:
                return
        else:
            slot = (slot + 1) & mask


@inlined
def put_short(table, slot, mask, entry, shared):
    """Returns how far from its place that was."""
    far = 0
    while True:
        if load_half_shared(table, slot) == 0:
            if not shared:
                store_half(table, slot, entry)
                return far
            if swap_half_if(table, slot, 0, entry) == 0:
                return far
        else:
            slot = (slot + 1) & mask
            far += 1


def fill_table(relation):
    """Enters all rows of a relation into its empty set. Returns how far a key is from its place at most, in a short
    one."""
    far = 0
    width = load(relation, R_WIDTH)
    count = load(relation, R_COUNT)
    rows = load(relation, R_ROWS)
    table = load(relation, R_TABLE)
    bits = load(relation, R_BITS)
    mask = (1 << bits) - 1
    kind = load(relation, R_SET)
    arity = load(relation, R_ARITY)
    for i in range(count):
        if kind == SET_BITS:
            place = bit_of(load(rows, i), load(relation, R_LAST), load(relation, R_STRIDE))
            store(table, place >> 6, load(table, place >> 6) | (1 << (place & 63)))
        elif kind == SET_SHORT:
            h = shuffled(load(rows, i), width)
            far = max(far, put_short(table, shift_right(h, width - bits), mask, (h & LOWER) | USED, False))
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
    return far


def move_keys(old, start, end, table, bits):
    """Copies the keys in some slots of a table into a larger, empty one, in the order they stand in. Threads may do
    other parts at the same time: they meet near the ends."""
    mask = (1 << bits) - 1
    for i in range(start, end):
        entry = load(old, i)
        if entry != 0:
            put(table, slot_of(mixed(entry - 1), bits), mask, entry, i - start < FAR or end - i < FAR)
    return 0


def shorten_keys(old, start, end, table, bits, width):
    """The same from a table of keys into a short one. Returns how far a key is from its place at most."""
    mask = (1 << bits) - 1
    far = 0
    for i in range(start, end):
        key = load(old, i) - 1
        if key >= 0:
            h = shuffled(key, width)
            far = max(far, put_short(table, shift_right(h, width - bits), mask, (h & LOWER) | USED, True))
    return far


def move_short(old, old_bits, start, end, table, bits, width):
    """The same for short tables."""
    mask = (1 << bits) - 1
    far = 0
    rest = width - old_bits
    known = max(0, 31 - rest)  # bits of the place that the entry has
    for i in range(start, end):
        entry = load_half(old, i)
        if entry != 0:
            entry &= LOWER
            if width <= 31:
                h = entry
            else:
                home = (i - ((i - (entry >> rest)) & ((1 << known) - 1))) & ((1 << old_bits) - 1)
                h = (home << rest) | (entry & ((1 << rest) - 1))
            near = i - start < 2 * FAR or end - i < 2 * FAR
            far = max(far, put_short(table, shift_right(h, width - bits), mask, (h & LOWER) | USED, near))
    return far


KERNELS = {
    "add_keys": add_keys,
    "add_rows": add_rows,
    "fill_table": fill_table,
    "move_keys": move_keys,
    "shorten_keys": shorten_keys,
    "move_short": move_short,
}
