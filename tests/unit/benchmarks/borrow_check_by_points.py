"""A borrow check by worklists over sets of points: what benchmarks/programs/borrow_check must derive.

Shares nothing with Flintlog. Dataflow is a search of the control-flow graph from its sources, subsets are graphs, one a
point, and loans are searched for in them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set

from tests.unit.benchmarks.graph_search import Facts, Row, closure, graph, reached, successors

Pair = tuple[int, int]
Graph = dict[int, set[int]]

INPUTS = (
    "cfg_edge child_path path_is_var path_assigned_at_base path_moved_at_base path_accessed_at_base var_used_at "
    "var_defined_at var_dropped_at use_of_var_derefs_origin drop_of_var_derefs_origin universal_region subset_base "
    "loan_issued_at loan_killed_at loan_invalidated_at placeholder known_placeholder_subset"
).split()


def borrow_check(facts: Facts) -> dict[str, Set[Row]]:
    """Every relation that the program prints the size of."""
    after, before = successors(facts["cfg_edge"]), graph((to, from_) for from_, to in facts["cfg_edge"])
    found: dict[str, Set[Row]] = _initialisation(facts, after)
    found |= _liveness(facts, after, before, found["var_maybe_partly_initialized_on_exit"])
    live: Graph = defaultdict(set)
    for origin, point in found["origin_live_on_entry"]:
        live[point].add(origin)
    subsets = _subsets(facts, after, live)
    contains = _loans_by_point(facts, after, live, subsets)
    placeholders = {origin for origin, _ in facts["placeholder"]}
    promised = {(a, b) for a, bs in closure(successors(facts["known_placeholder_subset"])).items() for b in bs}
    by_point = {(a, b, point) for point, edges in subsets.items() for a, bs in edges.items() for b in bs}
    loan_live = {(loan, point) for point, rows in contains.items() for origin, loan in rows if origin in live[point]}
    found |= {
        "subset": by_point,
        "origin_contains_loan_on_entry": {(*row, point) for point, rows in contains.items() for row in rows},
        "loan_live_at": loan_live,
        "errors": {(loan, point) for point, loan in facts["loan_invalidated_at"] if (loan, point) in loan_live},
        "subset_error": {row for row in by_point if _unpromised(row[0], row[1], placeholders, promised)},
    }
    return found | _all_points_together(facts, live, placeholders, promised, found["errors"])


def flow(sources: Set[Row], stops: Set[Row], edges: Graph) -> set[Row]:
    """(thing, point) for all points that a thing gets to from its sources before it is stopped."""
    start, stop = successors(sources), successors(stops)
    return {(thing, point) for thing in start for point in reached(start[thing], edges, stop.get(thing, set()))}


def _initialisation(facts: Facts, after: Graph) -> dict[str, Set[Row]]:
    below = closure(graph((parent, child) for child, parent in facts["child_path"]))

    def with_parts(name: str) -> set[Row]:
        return {(part, other) for path, other in facts[name] for part in {path} | below.get(path, set())}

    assigned, moved = with_parts("path_assigned_at_base"), with_parts("path_moved_at_base")
    initialised, uninitialised = flow(assigned, moved, after), flow(moved, assigned, after)
    variables = successors(with_parts("path_is_var"))
    accessed = with_parts("path_accessed_at_base")
    return {
        "path_maybe_initialized_on_exit": initialised,
        "path_maybe_uninitialized_on_exit": uninitialised,
        "var_maybe_partly_initialized_on_exit": {(v, p) for path, p in initialised for v in variables.get(path, ())},
        "move_error": {(path, to) for path, p in uninitialised for to in after.get(p, ()) if (path, to) in accessed},
    }


def _liveness(facts: Facts, after: Graph, before: Graph, initialised: Set[Row]) -> dict[str, Set[Row]]:
    defined = facts["var_defined_at"]
    used = flow(facts["var_used_at"], defined, before)
    entered = {(v, to) for v, p in initialised for to in after.get(p, ())}
    points = after.keys() | before.keys()
    # A drop stays live on the way back through points where the variable is initialised: all others stop it.
    dropping = {v for v, _ in facts["var_dropped_at"]}
    stops = {(v, p) for v in dropping for p in points if (v, p) in defined or (v, p) not in initialised}
    dropped = flow(facts["var_dropped_at"] & entered, stops, before)
    origins = successors(facts["use_of_var_derefs_origin"])
    dropped_origins = successors(facts["drop_of_var_derefs_origin"])
    live = {(origin, p) for v, p in used for origin in origins.get(v, ())}
    live |= {(origin, p) for v, p in dropped for origin in dropped_origins.get(v, ())}
    live |= {(origin, p) for (origin,) in facts["universal_region"] for p in points}
    return {"var_live_on_entry": used, "var_drop_live_on_entry": dropped, "origin_live_on_entry": live}


def _subsets(facts: Facts, after: Graph, live: Graph) -> dict[int, Graph]:
    """The transitive graph of subsets at each point: computed anew whenever a predecessor hands an edge on."""
    base: dict[int, Graph] = defaultdict(lambda: defaultdict(set))
    for a, b, point in facts["subset_base"]:
        base[point][a].add(b)
    closed: dict[int, Graph] = {}
    work = list(base)
    while work:
        point = work.pop()
        if point in closed:
            continue
        closed[point] = closure(base[point])
        for to in after.get(point, ()):
            if _hand_on(closed[point], base[to], live.get(to, set())):
                closed.pop(to, None)
                work.append(to)
    return closed


def _hand_on(edges: Graph, there: Graph, live: set[int]) -> bool:
    grown = False
    for a in live & edges.keys():
        if new := (edges[a] & live) - there[a]:
            there[a] |= new
            grown = True
    return grown


def _loans_by_point(facts: Facts, after: Graph, live: Graph, subsets: dict[int, Graph]) -> dict[int, set[Pair]]:
    contains: dict[int, set[Pair]] = defaultdict(set)
    work = [(point, origin, loan) for origin, loan, point in facts["loan_issued_at"]]
    while work:
        point, origin, loan = work.pop()
        if (origin, loan) in contains[point]:
            continue
        contains[point].add((origin, loan))
        work += [(point, wider, loan) for wider in subsets.get(point, {}).get(origin, ())]
        if (loan, point) not in facts["loan_killed_at"]:
            work += [(to, origin, loan) for to in after.get(point, ()) if origin in live.get(to, ())]
    return contains


def _all_points_together(
    facts: Facts, live: Graph, placeholders: set[int], promised: set[Pair], errors: Set[Row]
) -> dict[str, Set[Row]]:
    edges = graph((a, b) for a, b, _ in facts["subset_base"])
    start = {(loan, origin) for origin, loan, _ in facts["loan_issued_at"]}
    start |= {(loan, origin) for origin, loan in facts["placeholder"]}
    holders = successors(flow(start, set(), edges))
    invalidated = facts["loan_invalidated_at"]
    potential = {(loan, p) for p, loan in invalidated if holders.get(loan, set()) & live.get(p, set())}
    reaching = {(a, b) for a, loan in facts["placeholder"] for b in holders[loan] & placeholders}
    return {
        "origin_contains_loan": {(origin, loan) for loan, origins in holders.items() for origin in origins},
        "potential_error": potential,
        "potential_subset_error": {pair for pair in reaching if _unpromised(*pair, placeholders, promised)},
        "spared": potential - errors,
    }


def _unpromised(a: int, b: int, placeholders: set[int], promised: set[Pair]) -> bool:
    return a in placeholders and b in placeholders and a != b and (a, b) not in promised
