"""A set of keys as one bit for every possible key: smaller and faster than a hash table once a relation is dense.

Bit k of the set is bit k % 64 of word k // 64.
"""

from __future__ import annotations

import numpy as np

from flintlog.engines.local.kernels.jit import kernel


@kernel
def set_bits(words, keys, new):
    """Inserts keys; writes those that were not there to `new` and returns how many."""
    count = 0
    for i in range(keys.size):
        key = keys[i]
        bit = np.uint64(1) << np.uint64(key & 63)
        word = words[key >> 6]
        if word & bit == 0:
            words[key >> 6] = word | bit
            new[count] = key
            count += 1
    return count


@kernel
def set_join_bits(words, left, low, high, right, new, at):
    """Inserts `left[i] | right[j]` for every i and low[i] <= j < high[i], until `new` is full; `at` holds (i, j) of the
    next candidate. Returns how many are new."""
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
            j += 1
            bit = np.uint64(1) << np.uint64(key & 63)
            word = words[key >> 6]
            if word & bit == 0:
                words[key >> 6] = word | bit
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
def test_bits(words, keys, found):
    """Writes for each key whether the set has it; a negative one never."""
    for i in range(keys.size):
        key = keys[i]
        if key < 0:
            found[i] = False
        else:
            found[i] = (words[key >> 6] >> np.uint64(key & 63)) & np.uint64(1) != 0
