"""Instances of clauses in an update: the round in which each comes, and the lists of those that wait for the round in
which they have their effect."""

from __future__ import annotations

from flintlog.engines.local.kernels import update_layout as up
from flintlog.engines.local.kernels.source.update.entries import enter_row
from flintlog.engines.local.kernels.source.update.searches import find_place
from flintlog.engines.local.kernels.source.words import function, inlined, load, load_half, store

# --- Rounds ---------------------------------------------------------------------------------------


@inlined
def round_at(clause, rows, place, which, rule):
    """The round of the row at a literal of an instance, before the update (`which` is K_OLD) or after it (K_NEW). The
    clause itself, whose round is the word `rule` of its block, counts as one more literal behind the last."""
    if place == load(clause, up.C_NPLACES):
        return load(clause, rule)
    where = up.C_PLACES + up.PLACE_WORDS * place
    kind, row = load(clause, where + 1), load(rows, place)
    found = up.ROUND_NEVER
    if row >= 0:
        found = load_half(load(load(clause, where), which), row)
    if kind == up.PLACE_OWN:
        return found
    if kind == up.PLACE_ABSENT:
        return 0 if found == up.ROUND_NEVER else up.ROUND_NEVER
    return found if found == up.ROUND_NEVER else 0


@function
def old_round(clause, rows, place):
    return round_at(clause, rows, place, up.K_OLD, up.C_BEFORE)


@function
def new_round(clause, rows, place):
    return round_at(clause, rows, place, up.K_NEW, up.C_AFTER)


@function
def latest_old(clause, rows):
    """The round of the last row to come before the update: the instance comes in the next one; NEVER if one does
    not."""
    latest = load(clause, up.C_LEAST)
    for place in range(load(clause, up.C_NPLACES) + 1):
        latest = max(latest, old_round(clause, rows, place))
    return latest


@function
def latest_new(clause, rows):
    latest = load(clause, up.C_LEAST)
    for place in range(load(clause, up.C_NPLACES) + 1):
        latest = max(latest, new_round(clause, rows, place))
    return latest


# --- Instances that wait --------------------------------------------------------------------------


@function
def put_off(update, round, kind, clause, place, rows, head):
    """Lets an instance wait for its round; returns 0, or the code of what is needed first."""
    if round >= load(update, up.U_NROUNDS):
        store(update, up.U_WANTED, round)
        return up.NEEDS_ROUNDS
    width = load(clause, up.C_NPLACES)
    free = load(update, up.U_FREE)
    waiting = load(update, up.U_WAITING)
    where = load(free, width) - 1
    if where >= 0:
        store(free, width, load(waiting, where + up.N_NEXT))
    else:
        where = load(update, up.U_WAITING_END)
        if where + up.N_ROWS + width > load(update, up.U_WAITING_ROOM):
            return up.NEEDS_WAITING
        store(update, up.U_WAITING_END, where + up.N_ROWS + width)
    instance = waiting + 8 * where
    rounds = load(update, up.U_ROUNDS)
    store(instance, up.N_NEXT, load(rounds, 2 * round))
    store(instance, up.N_KIND, kind)
    store(instance, up.N_CLAUSE, clause)
    store(instance, up.N_PLACE, place)
    store(instance, up.N_HEAD, head)
    for p in range(width):
        store(instance, up.N_ROWS + p, load(rows, p))
    store(rounds, 2 * round, where + 1)
    store(rounds, 2 * round + 1, load(rounds, 2 * round + 1) + 1)
    store(update, up.U_LAST, max(load(update, up.U_LAST), round))
    return 0


@inlined
def coming(kind, clause, rows):
    """The round in which an instance comes, if nothing changes any more; 0 if it does not come."""
    latest = latest_old(clause, rows) if kind in (up.REMOVED, up.COUNTED) else latest_new(clause, rows)
    return 0 if latest == up.ROUND_NEVER else latest + 1


@inlined
def concerns(update, kind, kept, head, round):
    """Whether an instance that comes in a round will have to be looked at there again."""
    if kind == up.REMOVED:
        return head >= 0 and load_half(load(kept, up.K_OLD), head) == round
    if kind == up.ADDED:
        return load_half(load(kept, up.K_NEW), head) > load(update, up.U_ROUND)
    return round > load(update, up.U_ROUND)


@inlined
def count_instance(update, kept, head):
    """One more way in which a row came before the update."""
    mark = load_half(load(kept, up.K_MARKS), head)
    if mark:
        settled = load(update, up.U_SETTLED) + 8 * up.SETTLED_WORDS * (mark - 1)
        store(settled, up.A_COUNT, load(settled, up.A_COUNT) + 1)


@function
def take_found(update, search, kind, clause, place, i):
    """Looks at an instance that a search has found; returns 0, or the code of what is needed first."""
    rows, head = load(update, up.U_ROWS), load(clause, up.C_HEAD)
    width = load(clause, up.C_NPLACES)
    for p in range(width):
        store(rows, p, find_place(update, search, p, load(clause, up.C_PLACES + up.PLACE_WORDS * p), i))
    round = coming(kind, clause, rows)
    if round == 0 or (kind == up.COUNTED and round != load(update, up.U_ROUND)):
        return 0
    row = find_place(update, search, width, head, i)
    if kind == up.COUNTED:
        count_instance(update, head, row)
        return 0
    if row < 0 and kind == up.ADDED:
        row = enter_row(update, head)
        if row < 0:
            return -row
    if not concerns(update, kind, head, row, round):
        return 0
    return put_off(update, round, kind, clause, place, rows, row)


def take_instances(update, clause, kind, place, instances):
    """The same for instances whose rows and heads stand in arrays: `instances` has their number, the address of the
    heads, and the addresses of the rows at each literal. Continues where it stopped; returns 0, or the code of what is
    needed first."""
    rows, head = load(update, up.U_ROWS), load(clause, up.C_HEAD)
    for i in range(load(update, up.U_TAKEN), load(instances, 0)):
        store(update, up.U_TAKEN, i)
        for p in range(load(clause, up.C_NPLACES)):
            store(rows, p, load(load(instances, 2 + p), i))
        round = coming(kind, clause, rows)
        row = load(load(instances, 1), i)
        if round == 0:
            continue
        if kind == up.COUNTED:
            if round == load(update, up.U_ROUND):
                count_instance(update, head, row)
        elif concerns(update, kind, head, row, round):
            need = put_off(update, round, kind, clause, place, rows, row)
            if need:
                return need
    store(update, up.U_TAKEN, 0)
    return 0


KERNELS = {"take_instances": take_instances}
