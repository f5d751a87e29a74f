"""The order in which a query's sources are joined: the one that is estimated to find the fewest rows on the way."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from flintlog.engines.local.statistics import Place, Statistics
from flintlog.engines.queries.query import Literal, Query, Rows, reads
from flintlog.ir.nodes import Each, Let

# So many sources are tried in every order; of more, the next best is taken.
EXHAUSTIVE = 5
# A probe costs as much as this many rows that it finds.
PROBE_COST = 0.5


def best_order(
    query: Query, delta: int | None, statistics: Statistics | None, given: Collection[str] = ()
) -> list[Rows]:
    """All sources but the delta, in the order they should be joined in, for bindings of the variables `given`. Without
    statistics, that is the written one."""
    sources = [literal for literal in query.literals if isinstance(literal, Rows)]
    if statistics is None:
        return _as_written(sources, query.literals[delta] if delta is not None else None, given)
    first = query.literals[delta] if delta is not None else None
    others = [rows for rows in sources if rows is not first]
    if len(others) <= 1:
        return others
    search = _Search(query, statistics)
    bound: dict[str, Place | None] = dict.fromkeys(given)
    search.close(bound)
    if isinstance(first, Rows):
        search.bind(first, bound)
    return search.best(others, bound, 1.0)[1]


def _as_written(sources: Sequence[Rows], first: Literal | None, given: Collection[str]) -> list[Rows]:
    """The sources in the order they are written in, but for those that have nothing to do with what is bound yet."""
    waiting = [rows for rows in sources if rows is not first]
    bound = {variable.name for variable in first.variables} if isinstance(first, Rows) else set(given)
    order: list[Rows] = []
    while waiting:
        connected = (rows for rows in waiting if any(variable.name in bound for variable in rows.variables))
        order.append(next(connected, waiting[0]))
        waiting.remove(order[-1])
        bound |= {variable.name for variable in order[-1].variables}
    return order


def pinned_order(query: Query, orders: Sequence[tuple[int, tuple[int, ...]]], version: int) -> list[Rows] | None:
    """The order that `.plan` gives for a version of a rule: the one that reads the delta of its first recursive atom is
    version 0, and so on. None if there is none that fits."""
    atoms = [literal for literal in query.literals if isinstance(literal, Rows) and isinstance(literal.source, str)]
    for number, order in orders:
        if number == version and sorted(order) == list(range(1, len(atoms) + 1)):
            return [atoms[place - 1] for place in order]
    return None


class _Search:
    """`bound` maps the variables that have values to where these come from; None where they are computed."""

    def __init__(self, query: Query, statistics: Statistics) -> None:
        self._statistics = statistics
        self._computed = [literal for literal in query.literals if isinstance(literal, Let | Each)]
        self._names = {id(rows): [v.name for v in rows.variables] for rows in query.literals if isinstance(rows, Rows)}
        self._fanouts: dict[tuple[int, tuple[int, ...]], float] = {}

    def close(self, bound: dict[str, Place | None]) -> None:
        """Adds the variables that can be computed from those that are bound."""
        changed = True
        while changed:
            changed = False
            for literal in self._computed:
                if literal.column.name not in bound and reads(literal) <= bound.keys():
                    bound[literal.column.name] = None
                    changed = True

    def bind(self, rows: Rows, bound: dict[str, Place | None]) -> None:
        for position, variable in enumerate(rows.variables):
            bound.setdefault(variable.name, (rows, position))
        self.close(bound)

    def fanout(self, rows: Rows, bound: dict[str, Place | None]) -> float:
        """How many rows a source has for each binding. Where the values come from depends on the order too, but little:
        the first answer stands for all."""
        key = tuple([i for i, name in enumerate(self._names[id(rows)]) if name in bound])
        found = self._fanouts.get((id(rows), key))
        if found is None:
            found = self._statistics.fanout(rows, key, [bound[rows.variables[i].name] for i in key])
            if len(key) == len(rows.variables):
                found = min(1.0, found)
            self._fanouts[id(rows), key] = found
        return found

    def best(self, waiting: list[Rows], bound: dict[str, Place | None], rows: float) -> tuple[float, list[Rows]]:
        """The cheapest order of these sources for so many bindings, and what it costs."""
        if len(waiting) > EXHAUSTIVE:
            return self._greedy(waiting, bound, rows)
        best_cost, best_rest = float("inf"), list(waiting)
        for source in waiting:
            found = rows * self.fanout(source, bound)
            cost = rows * PROBE_COST + found
            if cost >= best_cost:
                continue
            inner = dict(bound)
            self.bind(source, inner)
            rest_cost, rest = self.best([w for w in waiting if w is not source], inner, found)
            if cost + rest_cost < best_cost:
                best_cost, best_rest = cost + rest_cost, [source, *rest]
        return (best_cost, best_rest) if waiting else (0.0, [])

    def _greedy(self, waiting: list[Rows], bound: dict[str, Place | None], rows: float) -> tuple[float, list[Rows]]:
        source = min(waiting, key=lambda w: self.fanout(w, bound))
        found = rows * self.fanout(source, bound)
        inner = dict(bound)
        self.bind(source, inner)
        cost, rest = self.best([w for w in waiting if w is not source], inner, found)
        return rows * PROBE_COST + found + cost, [source, *rest]
