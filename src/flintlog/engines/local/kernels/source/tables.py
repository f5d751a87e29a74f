"""New tables of sets: filled from a relation's log, or with the entries of a smaller table."""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.source.hashing import mixed, shuffled, slot_of, tagged
from flintlog.engines.local.kernels.source.row_sets import hash_row
from flintlog.engines.local.kernels.source.sets import LOWER, bit_of, short_entry
from flintlog.engines.local.kernels.source.words import (
    inlined,
    load,
    load_half,
    load_half_shared,
    load_shared,
    shift_right,
    store,
    store_half,
    swap_half_if,
    swap_if,
)


@inlined
def put(table, slot, mask, entry, shared):
    """Writes a key that the table does not have into the first free slot."""
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
    """The same for slots of 32 bits. Returns how far the free slot is from the one where the key belongs."""
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
    """Enters all rows of a relation into its empty set. In a short set, returns how far a key is at most from the slot
    where it belongs."""
    count = load(relation, at.R_COUNT)
    rows = load(relation, at.R_ROWS)
    table = load(relation, at.R_TABLE)
    kind = load(relation, at.R_SET)
    if kind == at.SET_BITS:  # which has no slots: R_BITS is no logarithm
        last, stride = load(relation, at.R_LAST), load(relation, at.R_STRIDE)
        for i in range(count):
            bit = bit_of(load(rows, i), last, stride)
            store(table, bit >> 6, load(table, bit >> 6) | (1 << (bit & 63)))
        return 0
    far = 0
    width = load(relation, at.R_WIDTH)
    bits = load(relation, at.R_BITS)
    mask = (1 << bits) - 1
    arity = load(relation, at.R_ARITY)
    for i in range(count):
        if kind == at.SET_SHORT:
            h = shuffled(load(rows, i), width)
            far = max(far, put_short(table, shift_right(h, width - bits), mask, short_entry(h), False))
        else:
            if kind == at.SET_KEYS:
                h = mixed(load(rows, i))
                entry = load(rows, i) + 1
            else:
                h = hash_row(rows + 8 * arity * i, arity)
                entry = tagged(h, i)
            slot = slot_of(h, bits)
            while load(table, slot) != 0:
                slot = (slot + 1) & mask
            store(table, slot, entry)
    return far


def move_keys(old, start, end, table, bits):
    """Copies the keys in some slots of a table into a larger, empty one, in the order of the slots. Threads may copy
    other parts at the same time: they meet near the ends."""
    mask = (1 << bits) - 1
    for i in range(start, end):
        entry = load(old, i)
        if entry != 0:
            put(table, slot_of(mixed(entry - 1), bits), mask, entry, i - start < at.FAR or end - i < at.FAR)
    return 0


def shorten_keys(old, start, end, table, bits, width):
    """The same from a table of keys into a short one. Returns how far a key is at most from where it belongs."""
    mask = (1 << bits) - 1
    far = 0
    for i in range(start, end):
        key = load(old, i) - 1
        if key >= 0:
            h = shuffled(key, width)
            far = max(far, put_short(table, shift_right(h, width - bits), mask, short_entry(h), True))
    return far


def move_short(old, old_bits, start, end, table, bits, width):
    """The same for short tables."""
    mask = (1 << bits) - 1
    far = 0
    rest = width - old_bits
    known = max(0, 31 - rest)  # bits of the slot's number that the entry has
    for i in range(start, end):
        entry = load_half(old, i)
        if entry != 0:
            entry &= LOWER
            if width <= 31:
                h = entry
            else:
                home = (i - ((i - (entry >> rest)) & ((1 << known) - 1))) & ((1 << old_bits) - 1)
                h = (home << rest) | (entry & ((1 << rest) - 1))
            near = i - start < 2 * at.FAR or end - i < 2 * at.FAR
            far = max(far, put_short(table, shift_right(h, width - bits), mask, short_entry(h), near))
    return far


KERNELS = {
    "fill_table": fill_table,
    "move_keys": move_keys,
    "shorten_keys": shorten_keys,
    "move_short": move_short,
}
