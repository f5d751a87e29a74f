"""Numbers for distinct words, in order of appearance, and the best value of each number."""

from __future__ import annotations

from flintlog.engines.local.kernels.source.hashing import mixed, slot_of
from flintlog.engines.local.kernels.source.words import load, store


def number_words(words, count, table, bits, numbers, known):
    """Gives distinct words numbers, from `known` on. A slot of the table is a pair of a word and its number + 1, 0
    for an empty one. Returns how many words are known now."""
    mask = (1 << bits) - 1
    for i in range(count):
        word = load(words, i)
        slot = slot_of(mixed(word), bits)
        while load(table, 2 * slot + 1) != 0 and load(table, 2 * slot) != word:
            slot = (slot + 1) & mask
        if load(table, 2 * slot + 1) == 0:
            known += 1
            store(table, 2 * slot, word)
            store(table, 2 * slot + 1, known)
        store(numbers, i, load(table, 2 * slot + 1) - 1)
    return known


def find_words(words, count, table, bits, numbers):
    """Writes the number of each word, -1 for one that is not known."""
    mask = (1 << bits) - 1
    for i in range(count):
        word = load(words, i)
        slot = slot_of(mixed(word), bits)
        while load(table, 2 * slot + 1) != 0 and load(table, 2 * slot) != word:
            slot = (slot + 1) & mask
        store(numbers, i, load(table, 2 * slot + 1) - 1)
    return 0


def move_words(old, old_bits, table, bits):
    """Copies a table of numbers into a larger, empty one."""
    mask = (1 << bits) - 1
    for i in range(1 << old_bits):
        if load(old, 2 * i + 1) != 0:
            slot = slot_of(mixed(load(old, 2 * i)), bits)
            while load(table, 2 * slot + 1) != 0:
                slot = (slot + 1) & mask
            store(table, 2 * slot, load(old, 2 * i))
            store(table, 2 * slot + 1, load(old, 2 * i + 1))
    return 0


def improve(best, state, numbers, values, count, sign, changed):
    """Takes values that beat what `best` has for their number: smaller for sign 1, larger for sign -1. `state` is 0
    for a number without a value, 1 for one with, 2 for one that changed in this round. Writes the numbers that begin
    to change to `changed` and returns how many; there is room for every number."""
    found = 0
    for i in range(count):
        number = load(numbers, i)
        value = load(values, i)
        known = load(best, number)
        now = load(state, number)
        if now == 0 or (value < known and sign > 0) or (value > known and sign < 0):
            store(best, number, value)
            if now != 2:
                store(state, number, 2)
                store(changed, found, number)
                found += 1
    return found


KERNELS = {"number_words": number_words, "find_words": find_words, "move_words": move_words, "improve": improve}
