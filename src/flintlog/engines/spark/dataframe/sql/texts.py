"""Pieces of SQL text over rows of words.

The text of a node selects the columns of its schema under their names, in their order; a node without columns has one,
EMPTY, with a 0 in every row. Frames have the columns c0, c1, … instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flintlog.engines.spark.data.plain import column_names
from flintlog.engines.spark.dataframe.sql.scalars import literal, quoted
from flintlog.ir.nodes import Schema

EMPTY = "$"


@dataclass(frozen=True)
class Rows:
    """A text, and an estimate of the rows that it selects. `pieces`, if there are any, together select the same rows;
    Spark knows the partitioning of each piece, but not of the whole."""

    text: str
    count: int
    pieces: tuple[Rows, ...] = ()


SALT = "salt$"


@dataclass(frozen=True)
class Salted:
    """Rows in which some keys have too many rows for one partition. The column SALT spreads these rows: it holds one of
    the key's numbers in `salts`."""

    rows: Rows
    salts: Mapping[tuple[int, ...], Sequence[int]]


def salts_of(columns: Sequence[str], salts: Mapping[tuple[int, ...], Sequence[int]]) -> str:
    """An array of all salts of the key in these columns; a key that is not spread has one."""
    cases = []
    for key, numbers in salts.items():
        test = " AND ".join(f"{quoted(c)} = {literal(word)}" for c, word in zip(columns, key, strict=True))
        cases.append(f"WHEN {test} THEN array({', '.join(map(str, numbers))})")
    return f"CASE {' '.join(cases)} ELSE array(0) END"


def everywhere(text: str, on: Sequence[str], salted: Salted) -> str:
    """The rows that are joined with salted ones: a copy of each row for every salt of its key."""
    return f"SELECT *, explode({salts_of(on, salted.salts)}) AS {quoted(SALT)} FROM ({text})"


def renamed(schema: Schema, text: str, *more: str) -> str:
    """Columns c0, c1, … under the names of a schema, and `more` under their own."""
    if not schema:
        return f"SELECT 0L AS {quoted(EMPTY)} FROM ({text})"
    columns = [*(f"c{i} AS {quoted(c.name)}" for i, c in enumerate(schema)), *map(quoted, more)]
    return f"SELECT {', '.join(columns)} FROM ({text})"


def numbered(schema: Schema, text: str) -> str:
    """The columns of a schema as c0, c1, …"""
    if not schema:
        return f"SELECT 0L AS c0 FROM ({text})"
    return f"SELECT {', '.join(f'{quoted(c.name)} AS c{i}' for i, c in enumerate(schema))} FROM ({text})"


def in_order(names: Sequence[str], text: str) -> str:
    """The named columns of a text, in this order."""
    return f"SELECT {', '.join(map(quoted, names)) or f'0L AS {quoted(EMPTY)}'} FROM ({text})"


def selected(columns: Sequence[str], text: str, conditions: Sequence[str], *more: str) -> str:
    """The named columns and `more` expressions, of the rows for which all conditions hold."""
    if columns and not conditions and not more:
        return text
    what = ", ".join([*map(quoted, columns), *more]) or f"0L AS {quoted(EMPTY)}"
    where = f" WHERE {' AND '.join(f'({c})' for c in conditions)}" if conditions else ""
    return f"SELECT {what} FROM ({text}){where}"


def joined(
    hint: str,
    kind: str,
    left: str,
    right: str,
    on: Sequence[str],
    picked: Sequence[tuple[str, str]],
    sides: Mapping[str, str],
) -> str:
    """A join of `l` and `r`. `picked` are pairs of a new name and a column, which is on the side that `sides` has for
    it."""
    what = ", ".join(f"{sides[old]}.{quoted(old)} AS {quoted(new)}" for new, old in picked) or f"0L AS {quoted(EMPTY)}"
    return f"SELECT {hint} {what} FROM ({left}) l {kind} ({right}) r ON {agreeing(on)}"


def agreeing(on: Sequence[str]) -> str:
    """The condition that `l` and `r` agree on these columns."""
    return " AND ".join(f"l.{quoted(name)} = r.{quoted(name)}" for name in on) or "true"


def in_one_partition(text: str) -> str:
    """The rows of a text, in one partition. For joins and unions of rows in one partition the hint is needed, too:
    Spark does not know it of their results, and would shuffle them."""
    return f"SELECT /*+ COALESCE(1) */ * FROM ({text})"


def distinct(text: str) -> str:
    return f"SELECT DISTINCT * FROM ({text})"


def constant_rows(words: Iterable[Sequence[int]], arity: int) -> str:
    """
    >>> constant_rows([(1, 2), (3, 4)], 2)
    'SELECT * FROM VALUES (1L, 2L), (3L, 4L) AS t(c0, c1)'
    """
    rows = ", ".join(f"({', '.join(map(literal, row)) or '0L'})" for row in words)
    if not rows:
        return f"SELECT {', '.join(f'0L AS {name}' for name in column_names(arity))} WHERE false"
    return f"SELECT * FROM VALUES {rows} AS t({', '.join(column_names(arity))})"
