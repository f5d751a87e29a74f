"""The kernels' source. Only the compiler imports this room: a run loads the machine code alone."""

from flintlog.engines.local.kernels.source import heads, indexes, numbers, pairs, row_ids, row_sets, rules, sets, tables
from flintlog.engines.local.kernels.source.update import entries, updates, waiting

KERNELS = {
    name: kernel
    for room in (sets, row_sets, row_ids, tables, pairs, indexes, heads, rules, entries, waiting, updates, numbers)
    for name, kernel in room.KERNELS.items()
}
