"""The best value of each key: recursive MIN and MAX."""

from __future__ import annotations

from flintlog.engines.local.kernels.jit import kernel


@kernel
def improve(best, state, numbers, values, sign, changed):
    """Takes `values` that beat what `best` has for their key's number: smaller for sign 1, larger for sign -1. `state`
    is 0 for a number without a value, 1 for one with, 2 for one that changed in this round. Writes the numbers that
    begin to change to `changed` and returns how many; there must be room for every number."""
    count = 0
    for i in range(numbers.size):
        number = numbers[i]
        value = values[i]
        if state[number] == 0 or (value < best[number] and sign > 0) or (value > best[number] and sign < 0):
            best[number] = value
            if state[number] != 2:
                state[number] = 2
                changed[count] = number
                count += 1
    return count
