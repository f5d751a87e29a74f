"""The update of one stratum by its rules, as `incremental.strategies.rounds_update` describes it.

An update is gone through until it needs something that only Python can give; what it has come to stands in its block.
Whatever is done again after that is the same: rows have their places, and instances that wait are not looked at again.
"""

from __future__ import annotations

from flintlog.engines.local.kernels.layout import (
    DONE,
    PAUSED,
    T_BUDGET,
    T_ROOM,
)
from flintlog.engines.local.kernels.source.rules import continue_rule
from flintlog.engines.local.kernels.source.update.searches import begin_search, look_after_indexes
from flintlog.engines.local.kernels.source.update.waiting import (
    latest_new,
    latest_old,
    new_round,
    old_round,
    take_found,
)
from flintlog.engines.local.kernels.source.words import function, inlined, load, load_half, store, store_half
from flintlog.engines.local.kernels.update_layout import (
    A_COUNT,
    A_KEPT,
    A_LESS,
    A_MORE,
    A_ROW,
    ADDED,
    AGAIN,
    BATCH_ROWS,
    C_HEAD,
    C_NPLACES,
    C_PLACES,
    C_SEARCHES,
    COUNT,
    COUNT_UNKNOWN,
    COUNTED,
    FINISHED,
    FOUND_ROWS,
    K_ASKED,
    K_CAPACITY,
    K_COME,
    K_COUNTS,
    K_LATE,
    K_MARKS,
    K_NASKED,
    K_NCOME,
    K_NEW,
    K_NLATE,
    K_NSAVED,
    K_OLD,
    K_SAVED,
    K_SAVED_ROOM,
    N_CLAUSE,
    N_HEAD,
    N_KIND,
    N_NEXT,
    N_PLACE,
    N_ROWS,
    NEEDS_INSTANCES,
    NEEDS_LISTS,
    NEEDS_SEARCH,
    NEEDS_TELLING,
    NEXT,
    PLACE_ABSENT,
    PLACE_WORDS,
    Q_RULE,
    Q_THREAD,
    REMOVED,
    ROUND_NEVER,
    SEARCH_OUTSIDE,
    SEARCH_UNKNOWN,
    SETTLE,
    SETTLED_WORDS,
    SPREAD,
    TELL_AFTER,
    U_AT,
    U_CLAUSE,
    U_CLAUSES,
    U_FOUND,
    U_FREE,
    U_INSTANCES,
    U_KEPT,
    U_LAST,
    U_NCLAUSES,
    U_NKEPT,
    U_NOWN,
    U_NSETTLED,
    U_PHASE,
    U_ROUND,
    U_ROUNDS,
    U_RUNNING,
    U_SETTLED,
    U_SETTLED_ROOM,
    U_STEP,
    U_TAKEN,
    U_WAITING,
    U_WANTED,
)

# --- Searches -------------------------------------------------------------------------------------


@function
def search_from(update, number, kind, clause, place, kept, rows, count):
    """Looks for the instances that have rows of a list at a place of a clause, or give them: `number` is that of the
    search. Goes on where it was; returns 0 when all were found, or what is needed first."""
    search = load(load(clause, C_SEARCHES), number)
    if search == SEARCH_UNKNOWN:
        return NEEDS_SEARCH
    if search == SEARCH_OUTSIDE:
        return NEEDS_INSTANCES
    rule, thread = load(search, Q_RULE), load(search, Q_THREAD)
    while True:
        for i in range(load(update, U_TAKEN), load(update, U_FOUND)):
            need = take_found(update, search, kind, clause, place, i)
            if need:
                store(update, U_TAKEN, i)
                return need
        store(update, U_FOUND, 0)
        store(update, U_TAKEN, 0)
        if load(update, U_INSTANCES) >= TELL_AFTER:
            return NEEDS_TELLING
        if not load(update, U_RUNNING):
            start = load(update, U_AT)
            if start >= count:
                store(update, U_AT, 0)
                return 0
            end = min(count, start + BATCH_ROWS)
            begun = begin_search(update, search, kept, rows, start, end)
            store(update, U_AT, end)
            if rule == 0:
                store(update, U_FOUND, begun)
                store(update, U_INSTANCES, load(update, U_INSTANCES) + begun)
                continue
            if begun == 0:
                continue
            store(update, U_RUNNING, 1)
        store(thread, T_ROOM, FOUND_ROWS)
        store(thread, T_BUDGET, TELL_AFTER)
        state = continue_rule(rule, thread)
        found = FOUND_ROWS - load(thread, T_ROOM)
        store(update, U_FOUND, found)
        # What was looked at in vain took its time, too.
        store(update, U_INSTANCES, load(update, U_INSTANCES) + (TELL_AFTER if state == PAUSED else found))
        if state == DONE:
            store(update, U_RUNNING, 0)


@function
def spread(update):
    """Finds all instances that what has changed in this round has to do with."""
    for c in range(load(update, U_CLAUSE), load(update, U_NCLAUSES)):
        store(update, U_CLAUSE, c)
        clause = load(load(update, U_CLAUSES), c)
        width = load(clause, C_NPLACES)
        for step in range(load(update, U_STEP), 2 * width + 1):
            store(update, U_STEP, step)
            place = step >> 1
            if place == width:
                kind, kept, is_late = AGAIN, load(clause, C_HEAD), True
            else:
                at = C_PLACES + PLACE_WORDS * place
                kind = ADDED if step & 1 else REMOVED
                kept = load(clause, at)
                is_late = (kind == REMOVED) != (load(clause, at + 1) == PLACE_ABSENT)
            rows = load(kept, K_LATE) if is_late else load(kept, K_COME)
            count = load(kept, K_NLATE) if is_late else load(kept, K_NCOME)
            if count:
                need = search_from(update, place, kind, clause, place, kept, rows, count)
                if need:
                    return need
        store(update, U_STEP, 0)
    store(update, U_CLAUSE, 0)
    for k in range(load(update, U_NKEPT)):
        kept = load(load(update, U_KEPT), k)
        store(kept, K_NLATE, 0)
        store(kept, K_NCOME, 0)
    return 0


# --- A round --------------------------------------------------------------------------------------


@function
def has_effect(kind, clause, place, rows, kept, head, round):
    """Whether an instance that has waited for this round has its effect in it."""
    width = load(clause, C_NPLACES)
    if kind == REMOVED:
        if new_round(clause, rows, place) < round:
            return False
        first = 0
        while first < place and new_round(clause, rows, first) < round:
            first += 1
        return first == place  # the first that is late speaks for all
    if latest_new(clause, rows) != round - 1:
        return False
    if kind == AGAIN:
        for p in range(width + 1):
            if old_round(clause, rows, p) != new_round(clause, rows, p):
                return False
        return load_half(load(kept, K_NEW), head) == ROUND_NEVER
    speaker = new_round(clause, rows, place)
    for p in range(width + 1):
        if p != place:  # of several that have changed, the last to come speaks for all
            after = new_round(clause, rows, p)
            if old_round(clause, rows, p) != after and (after > speaker or (after == speaker and p > place)):
                return False
    return load_half(load(kept, K_OLD), head) != round or latest_old(clause, rows) != round - 1


@function
def settled_row(update, kept, row):
    """The entry of a row among those that are being settled."""
    marks = load(kept, K_MARKS)
    mark = load_half(marks, row)
    if mark == 0:
        mark = load(update, U_NSETTLED) + 1
        store(update, U_NSETTLED, mark)
        store_half(marks, row, mark)
        settled = load(update, U_SETTLED) + 8 * SETTLED_WORDS * (mark - 1)
        store(settled, A_KEPT, kept)
        store(settled, A_ROW, row)
        store(settled, A_MORE, 0)
        store(settled, A_LESS, 0)
        store(settled, A_COUNT, COUNT_UNKNOWN)
    return load(update, U_SETTLED) + 8 * SETTLED_WORDS * (mark - 1)


@function
def begin_round(update):
    """Goes to the next round for which something waits, and collects what its rows gain and lose; returns 0, or what is
    needed first. Without any such round, that is one behind the last."""
    round, last = load(update, U_ROUND) + 1, load(update, U_LAST)
    rounds = load(update, U_ROUNDS)
    while round <= last and load(rounds, 2 * round) == 0:
        round += 1
    if round > last:
        store(update, U_ROUND, round)
        return 0
    number = load(rounds, 2 * round + 1)
    store(update, U_WANTED, number)
    if number > load(update, U_SETTLED_ROOM):
        return NEEDS_LISTS
    for k in range(load(update, U_NOWN)):
        kept = load(load(update, U_KEPT), k)
        if number > load(kept, K_CAPACITY) or load(kept, K_NSAVED) + number > load(kept, K_SAVED_ROOM):
            return NEEDS_LISTS
    store(update, U_ROUND, round)
    at = load(rounds, 2 * round) - 1
    store(rounds, 2 * round, 0)
    store(rounds, 2 * round + 1, 0)
    free = load(update, U_FREE)
    while at >= 0:
        instance = load(update, U_WAITING) + 8 * at
        following = load(instance, N_NEXT) - 1
        clause, kind, head = load(instance, N_CLAUSE), load(instance, N_KIND), load(instance, N_HEAD)
        kept = load(clause, C_HEAD)
        if has_effect(kind, clause, load(instance, N_PLACE), instance + 8 * N_ROWS, kept, head, round):
            settled = settled_row(update, kept, head)
            what = A_LESS if kind == REMOVED else A_MORE
            store(settled, what, load(settled, what) + 1)
        width = load(clause, C_NPLACES)
        store(instance, N_NEXT, load(free, width))
        store(free, width, at + 1)
        at = following
    for s in range(load(update, U_NSETTLED)):
        settled = load(update, U_SETTLED) + 8 * SETTLED_WORDS * s
        kept, row = load(settled, A_KEPT), load(settled, A_ROW)
        is_here = load_half(load(kept, K_NEW), row) == round
        if is_here and load(settled, A_LESS) and load_half(load(kept, K_COUNTS), row) == COUNT_UNKNOWN:
            store(settled, A_COUNT, 0)
            asked = load(kept, K_NASKED)
            store(load(kept, K_ASKED), asked, row)
            store(kept, K_NASKED, asked + 1)
    return 0


@function
def count_asked(update):
    """Finds out in how many ways rows came in this round before the update, where that is not known."""
    for c in range(load(update, U_CLAUSE), load(update, U_NCLAUSES)):
        store(update, U_CLAUSE, c)
        clause = load(load(update, U_CLAUSES), c)
        kept = load(clause, C_HEAD)
        count = load(kept, K_NASKED)
        if count and load(update, U_STEP) == 0:
            width = load(clause, C_NPLACES)
            need = search_from(update, width, COUNTED, clause, width, kept, load(kept, K_ASKED), count)
            if need:
                return need
        store(update, U_STEP, 0)
    store(update, U_CLAUSE, 0)
    return 0


@inlined
def append(kept, rows, length, row):
    count = load(kept, length)
    store(load(kept, rows), count, row)
    store(kept, length, count + 1)


@inlined
def set_count(kept, row, count):
    """Changes a row's count, and remembers what it was, and that the row was changed."""
    counts = load(kept, K_COUNTS)
    at = load(kept, K_NSAVED)
    store(load(kept, K_SAVED), 2 * at, row)
    store(load(kept, K_SAVED), 2 * at + 1, load_half(counts, row))
    store(kept, K_NSAVED, at + 1)
    store_half(counts, row, count)


@function
def settle(update):
    """Which rows come in this round, and which no longer do."""
    round = load(update, U_ROUND)
    for k in range(load(update, U_NOWN)):
        store(load(load(update, U_KEPT), k), K_NASKED, 0)
    for s in range(load(update, U_NSETTLED)):
        settled = load(update, U_SETTLED) + 8 * SETTLED_WORDS * s
        kept, row = load(settled, A_KEPT), load(settled, A_ROW)
        store_half(load(kept, K_MARKS), row, 0)
        rounds = load(kept, K_NEW)
        comes, more = load_half(rounds, row), load(settled, A_MORE)
        if comes == round:
            count = load(settled, A_COUNT)
            if count == COUNT_UNKNOWN:
                count = load_half(load(kept, K_COUNTS), row)
            if count == COUNT_UNKNOWN:
                continue  # nothing is lost, and nobody has asked
            count += more - load(settled, A_LESS)
            set_count(kept, row, count)
            if count == 0:
                store_half(rounds, row, ROUND_NEVER)
                append(kept, K_LATE, K_NLATE, row)
        elif comes > round and more > 0:
            set_count(kept, row, more)
            store_half(rounds, row, round)
            append(kept, K_COME, K_NCOME, row)
    store(update, U_NSETTLED, 0)
    return 0


def run_update(update):
    """Goes on with an update; returns FINISHED, or what is needed first."""
    while True:
        phase = load(update, U_PHASE)
        if phase in (SPREAD, COUNT):
            if load(update, U_CLAUSE) == 0 and load(update, U_STEP) == 0 and load(update, U_AT) == 0:
                need = look_after_indexes(update)
                if need:
                    return need
        if phase == SPREAD:
            need = spread(update)
            phase = NEXT
        elif phase == NEXT:
            need = begin_round(update)
            if need == 0 and load(update, U_ROUND) > load(update, U_LAST):
                return FINISHED
            phase = COUNT
        elif phase == COUNT:
            need = count_asked(update)
            phase = SETTLE
        else:
            need = settle(update)
            phase = SPREAD
        if need:
            return need
        store(update, U_PHASE, phase)


def abandon_update(update):
    """Forgets which rows were being settled."""
    for s in range(load(update, U_NSETTLED)):
        settled = load(update, U_SETTLED) + 8 * SETTLED_WORDS * s
        store_half(load(load(settled, A_KEPT), K_MARKS), load(settled, A_ROW), 0)
    store(update, U_NSETTLED, 0)
    return 0


KERNELS = {"run_update": run_update, "abandon_update": abandon_update}
