"""Searches for instances of a rule that have, or give, some rows: what a row says about the variables, the rule that
finds the others, and the places of all rows of what was found."""

from __future__ import annotations

from flintlog.engines.local.kernels.layout import (
    INDEX_ALL,
    INDEX_DENSE,
    P_CAPACITY,
    P_CHUNK,
    P_CURSOR,
    P_END,
    P_FUSED,
    P_HEAD,
    P_OUT,
    P_SHARED,
    P_SINK,
    R_ARITY,
    R_COUNT,
    R_VISIBLE,
    SINK_BATCH,
    X_BITS,
    X_END,
    X_GROUPS,
    X_KIND,
    X_RELATION,
    X_ROOM,
)
from flintlog.engines.local.kernels.source.indexes import lengthen_chains, row_word, value_of
from flintlog.engines.local.kernels.source.row_ids import place_of
from flintlog.engines.local.kernels.source.rules import begin_rule
from flintlog.engines.local.kernels.source.words import function, load, store
from flintlog.engines.local.kernels.update_layout import (
    BATCH_ROWS,
    FOUND_ROWS,
    K_PLACES,
    K_RELATION,
    NEEDS_INDEXES,
    Q_BATCH,
    Q_BINDS,
    Q_NGIVEN,
    Q_NTESTS,
    Q_OUT,
    Q_RULE,
    Q_TESTS,
    Q_THREAD,
    Q_VALUES,
    TEST_WORDS,
    U_BUFFER,
    U_COLUMNS,
    U_INDEXES,
    U_KEPT,
    U_NINDEXES,
    U_NOWN,
    U_STALE,
    U_VALUES,
    VALUE_CONST,
)


@function
def fits(search, relation, word):
    """Whether a row has what the search's literal has in its place: constants, and variables that stand in it twice."""
    tests = load(search, Q_TESTS)
    for t in range(load(search, Q_NTESTS)):
        at = tests + 8 * TEST_WORDS * t
        expected = load(at, 2)
        if load(at, 1):
            expected = value_of(relation, word, expected)
        if value_of(relation, word, load(at, 0)) != expected:
            return False
    return True


@function
def begin_search(update, search, kept, rows, start, end):
    """Begins with the rows from `start` to `end` of a list; returns how many of them fit. Where there is no rule, they
    are what was found."""
    relation = load(kept, K_RELATION)
    rule = load(search, Q_RULE)
    columns, step = load(update, U_BUFFER), FOUND_ROWS
    if rule:
        columns, step = load(update, U_COLUMNS), BATCH_ROWS
    given = load(search, Q_NGIVEN)
    binds = load(search, Q_BINDS)
    count = 0
    for i in range(start, end):
        word = row_word(relation, load(rows, i))
        if fits(search, relation, word):
            for g in range(given):
                store(columns, g * step + count, value_of(relation, word, load(binds, g)))
            count += 1
    if rule and count:
        batch = load(search, Q_BATCH)
        for g in range(given):
            store(batch, g, columns + 8 * step * g)
        store(rule, P_CURSOR, 0)
        store(rule, P_END, count)
        store(rule, P_CHUNK, BATCH_ROWS)
        store(rule, P_SHARED, 0)
        store(rule, P_FUSED, 0)
        store(rule, P_SINK, SINK_BATCH)
        store(rule, P_HEAD, load(update, U_BUFFER))
        store(rule, P_CAPACITY, FOUND_ROWS)
        store(rule, P_OUT, load(search, Q_OUT))
        begin_rule(rule, load(search, Q_THREAD))
    return count


@function
def lay_found(update, search, place, arity, i):
    """Writes the values that a place, or the head, has in an instance that was found."""
    values = load(update, U_VALUES)
    buffer = load(update, U_BUFFER)
    columns = load(search, Q_VALUES + place)
    for c in range(arity):
        value = load(columns, 2 * c + 1)
        if load(columns, 2 * c) != VALUE_CONST:
            value = load(buffer, value * FOUND_ROWS + i)
        store(values, c, value)
    return values


@function
def find_place(update, search, place, kept, i):
    """The place of the row that a place, or the head, has in an instance; -1 for one that never was."""
    arity = load(load(kept, K_RELATION), R_ARITY)
    return place_of(load(kept, K_PLACES), lay_found(update, search, place, arity, i))


@function
def look_after_indexes(update):
    """Makes all rows visible, and enters them into the indexes; returns 0, or what is needed first."""
    for k in range(load(update, U_NOWN)):
        relation = load(load(load(update, U_KEPT), k), K_RELATION)
        store(relation, R_VISIBLE, load(relation, R_COUNT))
    for x in range(load(update, U_NINDEXES)):
        index = load(load(update, U_INDEXES), x)
        end, known = load(load(index, X_RELATION), R_COUNT), load(index, X_END)
        kind = load(index, X_KIND)
        if kind == INDEX_ALL or known == end:
            continue
        if load(update, U_STALE) or end > load(index, X_ROOM):
            return NEEDS_INDEXES
        if kind != INDEX_DENSE and load(index, X_GROUPS) + end - known > 1 << (load(index, X_BITS) - 1):
            return NEEDS_INDEXES
        lengthen_chains(index, end)
    return 0
