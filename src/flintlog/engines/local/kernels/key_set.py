"""A set of keys in an open-addressing table. Keys are not negative; an empty slot is -1; a table has 2**bits slots.

Several threads share a set by parts: each part is a table of its own, and a key's hash says which one has it.
"""

from __future__ import annotations

import numpy as np

from flintlog.engines.local.kernels.jit import inlined, kernel

EMPTY = -1


@inlined
def mix(key):
    """A hash whose upper bits depend on all bits of the key."""
    h = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(29))


@inlined
def slot_of(hashed, bits):
    return np.int64((hashed * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(64 - bits))


@kernel
def insert_keys(table, bits, keys, part, parts, new):
    """Inserts the keys of one part; writes those that were not there to `new` and returns how many."""
    mask = table.size - 1
    count = 0
    for i in range(keys.size):
        key = keys[i]
        hashed = mix(key)
        if parts > 1 and np.int64(hashed & np.uint64(parts - 1)) != part:
            continue
        slot = slot_of(hashed, bits)
        while table[slot] != EMPTY and table[slot] != key:
            slot = (slot + 1) & mask
        if table[slot] == EMPTY:
            table[slot] = key
            new[count] = key
            count += 1
    return count


@kernel
def insert_join(table, bits, left, low, high, right, part, parts, new, at):
    """Inserts `left[i] | right[j]` for every i and low[i] <= j < high[i]: the candidates of a join go straight into the
    duplicate check. Stops when `new` is full; `at` holds (i, j) of the next candidate. Returns how many are new."""
    mask = table.size - 1
    count = 0
    i, j = at[0], at[1]
    n, room = left.size, new.size
    while i < n:
        base = left[i]
        end = high[i]
        if j < low[i]:
            j = low[i]
        while j < end:
            key = base | right[j]
            hashed = mix(key)
            j += 1
            if parts > 1 and np.int64(hashed & np.uint64(parts - 1)) != part:
                continue
            slot = slot_of(hashed, bits)
            while table[slot] != EMPTY and table[slot] != key:
                slot = (slot + 1) & mask
            if table[slot] == EMPTY:
                table[slot] = key
                new[count] = key
                count += 1
                if count == room:
                    at[0], at[1] = i, j
                    return count
        i += 1
        j = 0
    at[0], at[1] = i, 0
    return count


@kernel
def contains_keys(table, bits, keys, found):
    """Writes for each key whether a set of one part has it."""
    mask = table.size - 1
    for i in range(keys.size):
        key = keys[i]
        slot = slot_of(mix(key), bits)
        while table[slot] != EMPTY and table[slot] != key:
            slot = (slot + 1) & mask
        found[i] = table[slot] == key


@kernel
def rehash(old, table, bits):
    """Copies all keys of a table into a larger, empty one."""
    mask = table.size - 1
    for i in range(old.size):
        key = old[i]
        if key != EMPTY:
            slot = slot_of(mix(key), bits)
            while table[slot] != EMPTY:
                slot = (slot + 1) & mask
            table[slot] = key
