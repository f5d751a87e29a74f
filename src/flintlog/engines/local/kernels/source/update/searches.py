"""Searches for the instances of a clause that have a changed row at one of its literals, or as their head.

A row gives values to the variables of its literal; a rule finds the values of the other variables; then each row of an
instance is looked up in its log."""

from __future__ import annotations

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels import update_layout as up
from flintlog.engines.local.kernels.source.indexes import lengthen_chains, row_word, value_of
from flintlog.engines.local.kernels.source.row_ids import place_of
from flintlog.engines.local.kernels.source.rules import begin_rule
from flintlog.engines.local.kernels.source.words import function, load, store


@function
def fits(search, relation, word):
    """Whether a row has the constants of the search's literal, and equal values where a variable stands in it twice."""
    tests = load(search, up.Q_TESTS)
    for t in range(load(search, up.Q_NTESTS)):
        where = tests + 8 * up.TEST_WORDS * t
        expected = load(where, 2)
        if load(where, 1):
            expected = value_of(relation, word, expected)
        if value_of(relation, word, load(where, 0)) != expected:
            return False
    return True


@function
def begin_search(update, search, kept, rows, start, end):
    """Begins with the rows from `start` to `end` of a list; returns how many of them fit. Where there is no rule, they
    are the instances."""
    relation = load(kept, up.K_RELATION)
    rule = load(search, up.Q_RULE)
    columns, step = load(update, up.U_BUFFER), up.FOUND_ROWS
    if rule:
        columns, step = load(update, up.U_COLUMNS), up.BATCH_ROWS
    given = load(search, up.Q_NGIVEN)
    binds = load(search, up.Q_BINDS)
    count = 0
    for i in range(start, end):
        word = row_word(relation, load(rows, i))
        if fits(search, relation, word):
            for g in range(given):
                store(columns, g * step + count, value_of(relation, word, load(binds, g)))
            count += 1
    if rule and count:
        batch = load(search, up.Q_BATCH)
        for g in range(given):
            store(batch, g, columns + 8 * step * g)
        store(rule, at.P_CURSOR, 0)
        store(rule, at.P_END, count)
        store(rule, at.P_CHUNK, up.BATCH_ROWS)
        store(rule, at.P_SHARED, 0)
        store(rule, at.P_FUSED, 0)
        store(rule, at.P_SINK, at.SINK_BATCH)
        store(rule, at.P_HEAD, load(update, up.U_BUFFER))
        store(rule, at.P_CAPACITY, up.FOUND_ROWS)
        store(rule, at.P_OUT, load(search, up.Q_OUT))
        begin_rule(rule, load(search, up.Q_THREAD))
    return count


@function
def lay_found(update, search, place, arity, i):
    """Writes the values of a literal, or of the head, in an instance that was found."""
    values = load(update, up.U_VALUES)
    buffer = load(update, up.U_BUFFER)
    columns = load(search, up.Q_VALUES + place)
    for c in range(arity):
        value = load(columns, 2 * c + 1)
        if load(columns, 2 * c) != up.VALUE_CONST:
            value = load(buffer, value * up.FOUND_ROWS + i)
        store(values, c, value)
    return values


@function
def find_place(update, search, place, kept, i):
    """The position of the row of a literal, or of the head, in an instance; -1 for a row that was never there."""
    arity = load(load(kept, up.K_RELATION), at.R_ARITY)
    return place_of(load(kept, up.K_PLACES), lay_found(update, search, place, arity, i))


@function
def look_after_indexes(update):
    """Makes all rows visible, and enters them into the indexes; returns 0, or the code of what is needed first."""
    for k in range(load(update, up.U_NOWN)):
        relation = load(load(load(update, up.U_KEPT), k), up.K_RELATION)
        store(relation, at.R_VISIBLE, load(relation, at.R_COUNT))
    for x in range(load(update, up.U_NINDEXES)):
        index = load(load(update, up.U_INDEXES), x)
        end, known = load(load(index, at.X_RELATION), at.R_COUNT), load(index, at.X_END)
        kind = load(index, at.X_KIND)
        if kind == at.INDEX_ALL or known == end:
            continue
        if load(update, up.U_STALE) or end > load(index, at.X_ROOM):
            return up.NEEDS_INDEXES
        if kind != at.INDEX_DENSE and load(index, at.X_GROUPS) + end - known > 1 << (load(index, at.X_BITS) - 1):
            return up.NEEDS_INDEXES
        lengthen_chains(index, end)
    return 0
