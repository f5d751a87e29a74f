"""Numbers for distinct words, in order of appearance; the best value for each number; classes of numbers."""

from __future__ import annotations

from flintlog.engines.local.kernels.source.pairs import number_at, pair_slot, put_pair
from flintlog.engines.local.kernels.source.words import inlined, load, store


def number_words(words, count, table, bits, numbers, known):
    """Gives distinct words numbers, from `known` on, in a table of pairs. Returns how many words are known now."""
    for i in range(count):
        word = load(words, i)
        slot = pair_slot(table, bits, word)
        if number_at(table, slot) < 0:
            put_pair(table, slot, word, known)
            known += 1
        store(numbers, i, number_at(table, slot))
    return known


def find_words(words, count, table, bits, numbers):
    """Writes the number of each word, -1 for one that is not known."""
    for i in range(count):
        store(numbers, i, number_at(table, pair_slot(table, bits, load(words, i))))
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


# --- Classes: a number's parent is in its class too, a root is its own; the members follow each other in a ring -------


@inlined
def root_of(parents, number):
    """The number that stands for a class. Halves the way from the number to it for later calls."""
    while load(parents, number) != number:
        store(parents, number, load(parents, load(parents, number)))
        number = load(parents, number)
    return number


def unite(parents, sizes, left, right, count, lost):
    """Makes one class of the classes of each pair, under the root of the larger one; rings stay as they are. Writes
    the former roots to `lost`, which has room for as many as there are pairs, and returns how many."""
    found = 0
    for i in range(count):
        large = root_of(parents, load(left, i))
        small = root_of(parents, load(right, i))
        if large != small:
            if load(sizes, large) < load(sizes, small):
                large, small = small, large
            store(parents, small, large)
            store(sizes, large, load(sizes, large) + load(sizes, small))
            store(lost, found, small)
            found += 1
    return found


def list_members(ring, some, count, members, starts):
    """Writes the members of rings, one after another, and where each ring begins; `some` has a member of each. Returns
    how many members there are."""
    place = 0
    for i in range(count):
        store(starts, i, place)
        number = load(some, i)
        while True:
            store(members, place, number)
            place += 1
            number = load(ring, number)
            if number == load(some, i):
                break
    store(starts, count, place)
    return place


def pair_members(values, spans, start, end, left, right):
    """Pairs each of some values with others of its class. A span is four positions: the class reaches from the first to
    the last, and the values from the second to the third are left out. Returns how many pairs there are."""
    found = 0
    for i in range(start, end):
        value = load(values, i)
        for part in range(2):
            for j in range(load(spans, 4 * i + 2 * part), load(spans, 4 * i + 2 * part + 1)):
                store(left, found, value)
                store(right, found, load(values, j))
                found += 1
    return found


KERNELS = {
    "number_words": number_words,
    "find_words": find_words,
    "improve": improve,
    "unite": unite,
    "list_members": list_members,
    "pair_members": pair_members,
}
