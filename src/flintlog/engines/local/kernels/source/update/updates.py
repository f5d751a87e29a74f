"""The update of one stratum by its rules, as `incremental.strategies.rounds_update` describes it.

`run_update` runs until it needs something that only Python can give, returns the code of that, and is called again. The
update's block says how far it has come. The steps that the next call repeats change nothing: rows keep their positions,
and instances that wait already are not put off a second time.
"""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels import update_layout as up
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

# --- Searches -------------------------------------------------------------------------------------


@function
def search_from(update, number, kind, clause, place, kept, rows, count):
    """Looks for the instances that have rows of a list at a literal of a clause, or as their head, with the search of
    this number. Continues where it stopped; returns 0 when it has found all, or the code of what is needed first."""
    search = load(load(clause, up.C_SEARCHES), number)
    if search == up.SEARCH_UNKNOWN:
        return up.NEEDS_SEARCH
    if search == up.SEARCH_OUTSIDE:
        return up.NEEDS_INSTANCES
    rule, thread = load(search, up.Q_RULE), load(search, up.Q_THREAD)
    while True:
        for i in range(load(update, up.U_TAKEN), load(update, up.U_FOUND)):
            need = take_found(update, search, kind, clause, place, i)
            if need:
                store(update, up.U_TAKEN, i)
                return need
        store(update, up.U_FOUND, 0)
        store(update, up.U_TAKEN, 0)
        if load(update, up.U_INSTANCES) >= up.TELL_AFTER:
            return up.NEEDS_TELLING
        if not load(update, up.U_RUNNING):
            start = load(update, up.U_AT)
            if start >= count:
                store(update, up.U_AT, 0)
                return 0
            end = min(count, start + up.BATCH_ROWS)
            begun = begin_search(update, search, kept, rows, start, end)
            store(update, up.U_AT, end)
            if rule == 0:
                store(update, up.U_FOUND, begun)
                store(update, up.U_INSTANCES, load(update, up.U_INSTANCES) + begun)
                continue
            if begun == 0:
                continue
            store(update, up.U_RUNNING, 1)
        store(thread, at.T_ROOM, up.FOUND_ROWS)
        store(thread, at.T_BUDGET, up.TELL_AFTER)
        state = continue_rule(rule, thread)
        found = up.FOUND_ROWS - load(thread, at.T_ROOM)
        store(update, up.U_FOUND, found)
        # Rows that led to no instance took their time, too.
        store(update, up.U_INSTANCES, load(update, up.U_INSTANCES) + (up.TELL_AFTER if state == at.PAUSED else found))
        if state == at.DONE:
            store(update, up.U_RUNNING, 0)


@function
def spread(update):
    """Finds all instances of the rows that have changed in this round."""
    for c in range(load(update, up.U_CLAUSE), load(update, up.U_NCLAUSES)):
        store(update, up.U_CLAUSE, c)
        clause = load(load(update, up.U_CLAUSES), c)
        width = load(clause, up.C_NPLACES)
        for step in range(load(update, up.U_STEP), 2 * width + 1):
            store(update, up.U_STEP, step)
            place = step >> 1
            if place == width:
                kind, kept, is_late = up.AGAIN, load(clause, up.C_HEAD), True
            else:
                where = up.C_PLACES + up.PLACE_WORDS * place
                kind = up.ADDED if step & 1 else up.REMOVED
                kept = load(clause, where)
                is_late = (kind == up.REMOVED) != (load(clause, where + 1) == up.PLACE_ABSENT)
            rows = load(kept, up.K_LATE) if is_late else load(kept, up.K_COME)
            count = load(kept, up.K_NLATE) if is_late else load(kept, up.K_NCOME)
            if count:
                need = search_from(update, place, kind, clause, place, kept, rows, count)
                if need:
                    return need
        store(update, up.U_STEP, 0)
    store(update, up.U_CLAUSE, 0)
    for k in range(load(update, up.U_NKEPT)):
        kept = load(load(update, up.U_KEPT), k)
        store(kept, up.K_NLATE, 0)
        store(kept, up.K_NCOME, 0)
    return 0


# --- A round --------------------------------------------------------------------------------------


@function
def has_effect(kind, clause, place, rows, kept, head, round):
    """Whether an instance that has waited for this round has its effect in it."""
    width = load(clause, up.C_NPLACES)
    if kind == up.REMOVED:
        if new_round(clause, rows, place) < round:
            return False
        first = 0
        while first < place and new_round(clause, rows, first) < round:
            first += 1
        return first == place  # the first that is late speaks for all
    if latest_new(clause, rows) != round - 1:
        return False
    if kind == up.AGAIN:
        for p in range(width + 1):
            if old_round(clause, rows, p) != new_round(clause, rows, p):
                return False
        return load_half(load(kept, up.K_NEW), head) == up.ROUND_NEVER
    speaker = new_round(clause, rows, place)
    for p in range(width + 1):
        if p != place:  # of several that have changed, the last to come speaks for all
            after = new_round(clause, rows, p)
            if old_round(clause, rows, p) != after and (after > speaker or (after == speaker and p > place)):
                return False
    return load_half(load(kept, up.K_OLD), head) != round or latest_old(clause, rows) != round - 1


@function
def settled_row(update, kept, row):
    """The entry of a row among those that are being settled."""
    marks = load(kept, up.K_MARKS)
    mark = load_half(marks, row)
    if mark == 0:
        mark = load(update, up.U_NSETTLED) + 1
        store(update, up.U_NSETTLED, mark)
        store_half(marks, row, mark)
        settled = load(update, up.U_SETTLED) + 8 * up.SETTLED_WORDS * (mark - 1)
        store(settled, up.A_KEPT, kept)
        store(settled, up.A_ROW, row)
        store(settled, up.A_MORE, 0)
        store(settled, up.A_LESS, 0)
        store(settled, up.A_COUNT, up.COUNT_UNKNOWN)
    return load(update, up.U_SETTLED) + 8 * up.SETTLED_WORDS * (mark - 1)


@function
def begin_round(update):
    """Goes to the next round for which an instance waits, or behind the last one, and collects the instances that the
    rows of the round gain and lose. Returns 0, or the code of what is needed first."""
    round, last = load(update, up.U_ROUND) + 1, load(update, up.U_LAST)
    rounds = load(update, up.U_ROUNDS)
    while round <= last and load(rounds, 2 * round) == 0:
        round += 1
    if round > last:
        store(update, up.U_ROUND, round)
        return 0
    number = load(rounds, 2 * round + 1)
    store(update, up.U_WANTED, number)
    if number > load(update, up.U_SETTLED_ROOM):
        return up.NEEDS_LISTS
    for k in range(load(update, up.U_NOWN)):
        kept = load(load(update, up.U_KEPT), k)
        if number > load(kept, up.K_CAPACITY) or load(kept, up.K_NSAVED) + number > load(kept, up.K_SAVED_ROOM):
            return up.NEEDS_LISTS
    store(update, up.U_ROUND, round)
    where = load(rounds, 2 * round) - 1
    store(rounds, 2 * round, 0)
    store(rounds, 2 * round + 1, 0)
    free = load(update, up.U_FREE)
    while where >= 0:
        instance = load(update, up.U_WAITING) + 8 * where
        following = load(instance, up.N_NEXT) - 1
        clause, kind, head = load(instance, up.N_CLAUSE), load(instance, up.N_KIND), load(instance, up.N_HEAD)
        kept = load(clause, up.C_HEAD)
        if has_effect(kind, clause, load(instance, up.N_PLACE), instance + 8 * up.N_ROWS, kept, head, round):
            settled = settled_row(update, kept, head)
            what = up.A_LESS if kind == up.REMOVED else up.A_MORE
            store(settled, what, load(settled, what) + 1)
        width = load(clause, up.C_NPLACES)
        store(instance, up.N_NEXT, load(free, width))
        store(free, width, where + 1)
        where = following
    for s in range(load(update, up.U_NSETTLED)):
        settled = load(update, up.U_SETTLED) + 8 * up.SETTLED_WORDS * s
        kept, row = load(settled, up.A_KEPT), load(settled, up.A_ROW)
        is_here = load_half(load(kept, up.K_NEW), row) == round
        if is_here and load(settled, up.A_LESS) and load_half(load(kept, up.K_COUNTS), row) == up.COUNT_UNKNOWN:
            store(settled, up.A_COUNT, 0)
            asked = load(kept, up.K_NASKED)
            store(load(kept, up.K_ASKED), asked, row)
            store(kept, up.K_NASKED, asked + 1)
    return 0


@function
def count_asked(update):
    """Finds out in how many ways rows came in this round before the update, where that is not known."""
    for c in range(load(update, up.U_CLAUSE), load(update, up.U_NCLAUSES)):
        store(update, up.U_CLAUSE, c)
        clause = load(load(update, up.U_CLAUSES), c)
        kept = load(clause, up.C_HEAD)
        count = load(kept, up.K_NASKED)
        if count and load(update, up.U_STEP) == 0:
            width = load(clause, up.C_NPLACES)
            need = search_from(update, width, up.COUNTED, clause, width, kept, load(kept, up.K_ASKED), count)
            if need:
                return need
        store(update, up.U_STEP, 0)
    store(update, up.U_CLAUSE, 0)
    return 0


@inlined
def append(kept, rows, length, row):
    count = load(kept, length)
    store(load(kept, rows), count, row)
    store(kept, length, count + 1)


@inlined
def set_count(kept, row, count):
    """Changes a row's count, and remembers what it was, and that the row was changed."""
    counts = load(kept, up.K_COUNTS)
    where = load(kept, up.K_NSAVED)
    store(load(kept, up.K_SAVED), 2 * where, row)
    store(load(kept, up.K_SAVED), 2 * where + 1, load_half(counts, row))
    store(kept, up.K_NSAVED, where + 1)
    store_half(counts, row, count)


@function
def settle(update):
    """Which rows come in this round, and which no longer do."""
    round = load(update, up.U_ROUND)
    for k in range(load(update, up.U_NOWN)):
        store(load(load(update, up.U_KEPT), k), up.K_NASKED, 0)
    for s in range(load(update, up.U_NSETTLED)):
        settled = load(update, up.U_SETTLED) + 8 * up.SETTLED_WORDS * s
        kept, row = load(settled, up.A_KEPT), load(settled, up.A_ROW)
        store_half(load(kept, up.K_MARKS), row, 0)
        rounds = load(kept, up.K_NEW)
        comes, more = load_half(rounds, row), load(settled, up.A_MORE)
        if comes == round:
            count = load(settled, up.A_COUNT)
            if count == up.COUNT_UNKNOWN:
                count = load_half(load(kept, up.K_COUNTS), row)
            if count == up.COUNT_UNKNOWN:
                continue  # the row loses nothing, so that its count was not asked for
            count += more - load(settled, up.A_LESS)
            set_count(kept, row, count)
            if count == 0:
                store_half(rounds, row, up.ROUND_NEVER)
                append(kept, up.K_LATE, up.K_NLATE, row)
        elif comes > round and more > 0:
            set_count(kept, row, more)
            store_half(rounds, row, round)
            append(kept, up.K_COME, up.K_NCOME, row)
    store(update, up.U_NSETTLED, 0)
    return 0


def run_update(update):
    """Continues an update; returns FINISHED, or the code of what is needed first."""
    while True:
        phase = load(update, up.U_PHASE)
        if phase in (up.SPREAD, up.COUNT):
            if load(update, up.U_CLAUSE) == 0 and load(update, up.U_STEP) == 0 and load(update, up.U_AT) == 0:
                need = look_after_indexes(update)
                if need:
                    return need
        if phase == up.SPREAD:
            need = spread(update)
            phase = up.NEXT
        elif phase == up.NEXT:
            need = begin_round(update)
            if need == 0 and load(update, up.U_ROUND) > load(update, up.U_LAST):
                return up.FINISHED
            phase = up.COUNT
        elif phase == up.COUNT:
            need = count_asked(update)
            phase = up.SETTLE
        else:
            need = settle(update)
            phase = up.SPREAD
        if need:
            return need
        store(update, up.U_PHASE, phase)


def abandon_update(update):
    """Forgets which rows were being settled."""
    for s in range(load(update, up.U_NSETTLED)):
        settled = load(update, up.U_SETTLED) + 8 * up.SETTLED_WORDS * s
        store_half(load(load(settled, up.A_KEPT), up.K_MARKS), load(settled, up.A_ROW), 0)
    store(update, up.U_NSETTLED, 0)
    return 0


KERNELS = {"run_update": run_update, "abandon_update": abandon_update}
