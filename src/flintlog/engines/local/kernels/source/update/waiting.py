"""Instances of rules in an update: in which round they come, and those that wait for the one in which they have their
effect."""

from __future__ import annotations

from flintlog.engines.local.kernels.source.update.entries import enter_row
from flintlog.engines.local.kernels.source.update.searches import find_place
from flintlog.engines.local.kernels.source.words import function, inlined, load, load_half, store
from flintlog.engines.local.kernels.update_layout import (
    A_COUNT,
    ADDED,
    C_AFTER,
    C_BEFORE,
    C_HEAD,
    C_LEAST,
    C_NPLACES,
    C_PLACES,
    COUNTED,
    K_MARKS,
    K_NEW,
    K_OLD,
    N_CLAUSE,
    N_HEAD,
    N_KIND,
    N_NEXT,
    N_PLACE,
    N_ROWS,
    NEEDS_ROUNDS,
    NEEDS_WAITING,
    PLACE_ABSENT,
    PLACE_OWN,
    PLACE_WORDS,
    REMOVED,
    ROUND_NEVER,
    SETTLED_WORDS,
    U_FREE,
    U_LAST,
    U_NROUNDS,
    U_ROUND,
    U_ROUNDS,
    U_ROWS,
    U_SETTLED,
    U_TAKEN,
    U_WAITING,
    U_WAITING_END,
    U_WAITING_ROOM,
    U_WANTED,
)

# --- Rounds ---------------------------------------------------------------------------------------


@inlined
def round_at(clause, rows, place, which, rule):
    """The round of what stands at a place of an instance, `which` is K_OLD or K_NEW; the rule itself, whose word is at
    `rule`, stands behind all others."""
    if place == load(clause, C_NPLACES):
        return load(clause, rule)
    at = C_PLACES + PLACE_WORDS * place
    kind, row = load(clause, at + 1), load(rows, place)
    found = ROUND_NEVER
    if row >= 0:
        found = load_half(load(load(clause, at), which), row)
    if kind == PLACE_OWN:
        return found
    if kind == PLACE_ABSENT:
        return 0 if found == ROUND_NEVER else ROUND_NEVER
    return found if found == ROUND_NEVER else 0


@function
def old_round(clause, rows, place):
    return round_at(clause, rows, place, K_OLD, C_BEFORE)


@function
def new_round(clause, rows, place):
    return round_at(clause, rows, place, K_NEW, C_AFTER)


@function
def latest_old(clause, rows):
    """The round of the last row to come before the update: the instance comes in the next one; NEVER if one does
    not."""
    latest = load(clause, C_LEAST)
    for place in range(load(clause, C_NPLACES) + 1):
        latest = max(latest, old_round(clause, rows, place))
    return latest


@function
def latest_new(clause, rows):
    latest = load(clause, C_LEAST)
    for place in range(load(clause, C_NPLACES) + 1):
        latest = max(latest, new_round(clause, rows, place))
    return latest


# --- Instances that wait --------------------------------------------------------------------------


@function
def put_off(update, round, kind, clause, place, rows, head):
    """Lets an instance wait for its round; returns 0, or what is needed first."""
    if round >= load(update, U_NROUNDS):
        store(update, U_WANTED, round)
        return NEEDS_ROUNDS
    width = load(clause, C_NPLACES)
    free = load(update, U_FREE)
    waiting = load(update, U_WAITING)
    at = load(free, width) - 1
    if at >= 0:
        store(free, width, load(waiting, at + N_NEXT))
    else:
        at = load(update, U_WAITING_END)
        if at + N_ROWS + width > load(update, U_WAITING_ROOM):
            return NEEDS_WAITING
        store(update, U_WAITING_END, at + N_ROWS + width)
    instance = waiting + 8 * at
    rounds = load(update, U_ROUNDS)
    store(instance, N_NEXT, load(rounds, 2 * round))
    store(instance, N_KIND, kind)
    store(instance, N_CLAUSE, clause)
    store(instance, N_PLACE, place)
    store(instance, N_HEAD, head)
    for p in range(width):
        store(instance, N_ROWS + p, load(rows, p))
    store(rounds, 2 * round, at + 1)
    store(rounds, 2 * round + 1, load(rounds, 2 * round + 1) + 1)
    store(update, U_LAST, max(load(update, U_LAST), round))
    return 0


@inlined
def coming(kind, clause, rows):
    """The round in which an instance comes, if nothing changes any more; 0 if it does not come."""
    latest = latest_old(clause, rows) if kind in (REMOVED, COUNTED) else latest_new(clause, rows)
    return 0 if latest == ROUND_NEVER else latest + 1


@inlined
def concerns(update, kind, kept, head, round):
    """Whether an instance that comes in a round will have to be looked at there again."""
    if kind == REMOVED:
        return head >= 0 and load_half(load(kept, K_OLD), head) == round
    if kind == ADDED:
        return load_half(load(kept, K_NEW), head) > load(update, U_ROUND)
    return round > load(update, U_ROUND)


@inlined
def count_instance(update, kept, head):
    """One more way in which a row came before the update."""
    mark = load_half(load(kept, K_MARKS), head)
    if mark:
        settled = load(update, U_SETTLED) + 8 * SETTLED_WORDS * (mark - 1)
        store(settled, A_COUNT, load(settled, A_COUNT) + 1)


@function
def take_found(update, search, kind, clause, place, i):
    """Looks at an instance that a search has found; returns 0, or what is needed first."""
    rows, head = load(update, U_ROWS), load(clause, C_HEAD)
    width = load(clause, C_NPLACES)
    for p in range(width):
        store(rows, p, find_place(update, search, p, load(clause, C_PLACES + PLACE_WORDS * p), i))
    round = coming(kind, clause, rows)
    if round == 0 or (kind == COUNTED and round != load(update, U_ROUND)):
        return 0
    row = find_place(update, search, width, head, i)
    if kind == COUNTED:
        count_instance(update, head, row)
        return 0
    if row < 0 and kind == ADDED:
        row = enter_row(update, head)
        if row < 0:
            return -row
    if not concerns(update, kind, head, row, round):
        return 0
    return put_off(update, round, kind, clause, place, rows, row)


def take_instances(update, clause, kind, place, instances):
    """The same for instances whose rows and heads stand in arrays: `instances` has how many there are, the address of
    the heads, and those of the rows at each place. Goes on where it was; returns 0, or what is needed first."""
    rows, head = load(update, U_ROWS), load(clause, C_HEAD)
    for i in range(load(update, U_TAKEN), load(instances, 0)):
        store(update, U_TAKEN, i)
        for p in range(load(clause, C_NPLACES)):
            store(rows, p, load(load(instances, 2 + p), i))
        round = coming(kind, clause, rows)
        row = load(load(instances, 1), i)
        if round == 0:
            continue
        if kind == COUNTED:
            if round == load(update, U_ROUND):
                count_instance(update, head, row)
        elif concerns(update, kind, head, row, round):
            need = put_off(update, round, kind, clause, place, rows, row)
            if need:
                return need
    store(update, U_TAKEN, 0)
    return 0


KERNELS = {"take_instances": take_instances}
