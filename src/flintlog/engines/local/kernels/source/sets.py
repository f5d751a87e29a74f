"""Sets of a relation's packed keys. Threads insert at the same time: each takes a slot with one exchange.

The caller makes room beforehand, in the set and in the relation's log. New keys go to the end of the log.
"""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.source.hashing import mixed, shuffled, slot_of
from flintlog.engines.local.kernels.source.words import (
    fetch_add,
    fetch_or,
    function,
    inlined,
    load,
    load_half_shared,
    load_shared,
    prefetch,
    shift_right,
    store,
    store_half,
    swap_half_if,
    swap_if,
)

# A slot of a short set: so many bits of the hash, and one that says it is used.
LOWER = (1 << 31) - 1
USED = 1 << 31


@inlined
def short_entry(hashed):
    return (hashed & LOWER) | USED


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
    """The same for slots of 32 bits. Stops at a key that finds no slot near enough. Returns the number of keys that it
    did, shifted by 32 bits, and the number of new ones among them."""
    mask = (1 << bits) - 1
    rest = width - bits
    for i in range(count):
        prefetch(table + 4 * shift_right(shuffled(load(keys, i), width), rest))
    found = 0
    for i in range(count):
        key = load(keys, i)
        h = shuffled(key, width)
        entry = short_entry(h)
        slot = shift_right(h, rest)
        far = (slot + at.FAR) & mask
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
    """The number of a key's bit: keys that differ in the last column alone have their bits side by side."""
    return shift_right(key, last) * stride + (key & ((1 << last) - 1))


@function
def insert_bits(table, last, stride, keys, count, new, shared):
    """The same for one bit a key."""
    for i in range(count):
        prefetch(table + 8 * (bit_of(load(keys, i), last, stride) >> 6))
    found = 0
    for i in range(count):
        key = load(keys, i)
        number = bit_of(key, last, stride)
        bit = 1 << (number & 63)
        word = load_shared(table, number >> 6)
        if word & bit:
            continue
        if shared:
            if fetch_or(table, number >> 6, bit) & bit:
                continue
        else:
            store(table, number >> 6, word | bit)
        store(new, found, key)
        found += 1
    return found


@function
def take_keys(relation, keys, count, new, shared):
    """Inserts keys into a relation, at most as many as `new` has room for. Returns the number of keys that it did (all,
    unless a short set is crowded), shifted by 32 bits, and the number of new ones among them."""
    table = load(relation, at.R_TABLE)
    kind = load(relation, at.R_SET)
    done = count
    if kind == at.SET_SHORT:
        both = insert_short(table, load(relation, at.R_BITS), load(relation, at.R_WIDTH), keys, count, new, shared)
        done = both >> 32
        found = both & LOWER
        if done < count:
            store(relation, at.R_CROWDED, 1)
    elif kind == at.SET_BITS:
        found = insert_bits(table, load(relation, at.R_LAST), load(relation, at.R_STRIDE), keys, count, new, shared)
    else:
        found = insert_hashed(table, load(relation, at.R_BITS), keys, count, new, shared)
    if found:
        rows = load(relation, at.R_ROWS)
        start = fetch_add(relation, at.R_COUNT, found)
        for i in range(found):
            store(rows, start + i, load(new, i))
    return (done << 32) | found


def add_keys(relation, keys, count, buffer):
    """Inserts keys until all are done or the set is too crowded; returns how many are done. `buffer` has BUFFER_WORDS
    words."""
    start = 0
    while start < count:
        wanted = min(at.BUFFER_WORDS, count - start)
        done = take_keys(relation, keys + 8 * start, wanted, buffer, False) >> 32
        start += done
        if done < wanted:
            break
    return start


@inlined
def has_key(relation, key):
    table = load(relation, at.R_TABLE)
    if load(relation, at.R_SET) == at.SET_BITS:
        number = bit_of(key, load(relation, at.R_LAST), load(relation, at.R_STRIDE))
        return (shift_right(load(table, number >> 6), number & 63) & 1) != 0
    bits = load(relation, at.R_BITS)
    mask = (1 << bits) - 1
    if load(relation, at.R_SET) == at.SET_SHORT:
        width = load(relation, at.R_WIDTH)
        h = shuffled(key, width)
        slot = shift_right(h, width - bits)
        short = short_entry(h)
        far = (slot + at.FAR) & mask  # further on, the same bits belong to another key
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


KERNELS = {"add_keys": add_keys}
