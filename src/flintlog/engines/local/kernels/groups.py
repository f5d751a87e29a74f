"""Postings: the rows of a relation gathered by key, contiguous for each key, and finding them.

A key finds its group by its value, where the keys are dense, or through a hash table of the distinct keys.
"""

from __future__ import annotations

import numpy as np

from flintlog.engines.local.kernels.jit import kernel
from flintlog.engines.local.kernels.key_set import mix, slot_of


@kernel
def count_dense(keys, offsets):
    """Makes `offsets` (one longer than the domain, zeros) the start of each key's group."""
    for i in range(keys.size):
        offsets[keys[i] + 1] += 1
    for k in range(1, offsets.size):
        offsets[k] += offsets[k - 1]


@kernel
def fill_dense(keys, offsets, order):
    """Writes the positions of the keys, group by group, in ascending order inside a group."""
    at = offsets[:-1].copy()
    for i in range(keys.size):
        k = keys[i]
        order[at[k]] = i
        at[k] += 1


@kernel
def number_keys(keys, table, numbers, bits, group, count):
    """Gives distinct keys numbers in order of appearance, from `count` on: in the hash table, where a slot without a
    key has the number -1, and for each key. Returns how many keys are known now."""
    mask = table.size - 1
    for i in range(keys.size):
        key = keys[i]
        slot = slot_of(mix(key), bits)
        while numbers[slot] >= 0 and table[slot] != key:
            slot = (slot + 1) & mask
        if numbers[slot] < 0:
            table[slot] = key
            numbers[slot] = count
            count += 1
        group[i] = numbers[slot]
    return count


@kernel
def renumber(old_table, old_numbers, table, numbers, bits):
    """Copies all keys and their numbers into a larger, empty table."""
    mask = table.size - 1
    for i in range(old_table.size):
        if old_numbers[i] >= 0:
            slot = slot_of(mix(old_table[i]), bits)
            while numbers[slot] >= 0:
                slot = (slot + 1) & mask
            table[slot] = old_table[i]
            numbers[slot] = old_numbers[i]


@kernel
def probe_dense(keys, offsets, low, high):
    """Writes where each key's group begins and ends; returns the number of rows in all of them. A key outside the
    domain has none."""
    total = 0
    domain = offsets.size - 1
    for i in range(keys.size):
        key = keys[i]
        if 0 <= key < domain:
            low[i] = offsets[key]
            high[i] = offsets[key + 1]
            total += high[i] - low[i]
        else:
            low[i] = 0
            high[i] = 0
    return total


@kernel
def find_numbers(keys, table, numbers, bits, group):
    """Writes the number of each key, -1 for one that is not known."""
    mask = table.size - 1
    for i in range(keys.size):
        key = keys[i]
        slot = slot_of(mix(key), bits)
        while numbers[slot] >= 0 and table[slot] != key:
            slot = (slot + 1) & mask
        group[i] = numbers[slot]


@kernel
def fill_pairs(low, high, start, left, right):
    """Writes (i, j) for every i from `start` on and low[i] <= j < high[i] while whole groups fit; returns the next i
    and how many were written. A group larger than the room is an error of the caller's."""
    count = 0
    i = start
    while i < low.size and count + high[i] - low[i] <= left.size:
        for j in range(low[i], high[i]):
            left[count] = i
            right[count] = j
            count += 1
        i += 1
    return i, count


@kernel
def widest(low, high):
    """The size of the largest group."""
    largest = np.int64(0)
    for i in range(low.size):
        largest = max(largest, high[i] - low[i])
    return largest
