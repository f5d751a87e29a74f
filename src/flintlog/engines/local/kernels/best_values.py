"""The best value of each key, in an open-addressing table: recursive MIN and MAX."""

from __future__ import annotations

from flintlog.engines.local.kernels.jit import kernel
from flintlog.engines.local.kernels.key_set import EMPTY, mix, slot_of


@kernel
def improve(table, rows, bits, best, keys, values, sign, count, changed):
    """Takes `values` that beat what `best` has for their key: smaller for sign 1, larger for sign -1. `rows` numbers
    the keys of the table in order of appearance, and `best` is by that number; `count` keys are known. Writes the
    numbers whose value changed to `changed`, once each, and returns how many keys are known now and how many changed.
    `changed` must have room for every key."""
    mask = table.size - 1
    news = 0
    for i in range(keys.size):
        key = keys[i]
        value = values[i]
        slot = slot_of(mix(key), bits)
        while table[slot] != EMPTY and table[slot] != key:
            slot = (slot + 1) & mask
        if table[slot] == EMPTY:
            table[slot] = key
            rows[slot] = count
            best[count, 0] = key
            best[count, 1] = value
            best[count, 2] = 1
            changed[news] = count
            news += 1
            count += 1
        else:
            row = rows[slot]
            if (value < best[row, 1] and sign > 0) or (value > best[row, 1] and sign < 0):
                best[row, 1] = value
                if best[row, 2] == 0:
                    best[row, 2] = 1
                    changed[news] = row
                    news += 1
    return count, news


@kernel
def settle(best, changed, news):
    """Forgets which values changed, before the next round."""
    for i in range(news):
        best[changed[i], 2] = 0
