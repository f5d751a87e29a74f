"""Tables from words to numbers: a slot is a word and its number + 1; an empty slot has 0 there."""

from __future__ import annotations

from flintlog.engines.local.kernels.source.hashing import mixed, slot_of
from flintlog.engines.local.kernels.source.words import inlined, load, store


@inlined
def pair_slot(table, bits, word):
    """The slot that has a word, or the empty one where it would go."""
    mask = (1 << bits) - 1
    slot = slot_of(mixed(word), bits)
    while load(table, 2 * slot + 1) != 0 and load(table, 2 * slot) != word:
        slot = (slot + 1) & mask
    return slot


@inlined
def number_at(table, slot):
    """The number in a slot, -1 in an empty one."""
    return load(table, 2 * slot + 1) - 1


@inlined
def put_pair(table, slot, word, number):
    store(table, 2 * slot, word)
    store(table, 2 * slot + 1, number + 1)


def move_pairs(old, old_bits, table, bits):
    """Copies a table into a larger, empty one."""
    for i in range(1 << old_bits):
        number = number_at(old, i)
        if number >= 0:
            word = load(old, 2 * i)
            put_pair(table, pair_slot(table, bits, word), word, number)
    return 0


KERNELS = {"move_pairs": move_pairs}
