"""What benchmarks/programs/points_to/program.dl prints the sizes of: the rows, from the solver's results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Set

from tests.unit.benchmarks.points_to_hierarchy import Hierarchy
from tests.unit.benchmarks.points_to_solver import STATIC, VOID, Solver

Rows = Set[tuple[int, ...]]
INIT, NATIVE, THROWABLE = 170651, 709345, 142306


def relations(solver: Solver) -> dict[str, Rows]:
    """By name; the rows of the points-to relations are spelt out, so a large result takes room."""
    found = hierarchy_relations(solver.types) | points_to_relations(solver)
    found["HeapAllocationType"] = set(solver.heap_type.items())
    found["Allocation"] = set(solver.allocations)
    found["Reach"] = {(m,) for m in solver.reached}
    found["InitializedClass"] = {(t,) for t in solver.initialized}
    found["CallGraphEdge"] = set(solver.edges)
    found["Callback"] = set(solver.callbacks)
    found["Finalized"] = set(solver.finalized)
    found["InterProcAssign"] = set(solver.passes)
    found |= call_relations(solver, found["Overrides"])
    found |= application_relations(solver, found["Calls"])
    found |= cast_relations(solver)
    found |= data_relations(solver, found)
    found |= effect_relations(solver, found["Calls"])
    found |= count_relations(solver)
    return found


def hierarchy_relations(types: Hierarchy) -> dict[str, Rows]:
    declared: dict[int, dict[tuple[int, int], int]] = defaultdict(dict)
    for method, key in types.key.items():
        declared[types.declarer[method]][key] = method
    overrides = set()
    for t, methods in types.own.items():
        for key, method in methods.items():
            if STATIC not in types.modifiers[method] and key[0] != INIT:
                above = types.supertypes(t) - {t}
                overrides |= {(method, declared[s][key]) for s in above if key in declared[s]}
    every = types.classes | types.interfaces
    return {
        "Subclass": {(t, s) for t in types.superclass for s in types.superclasses(t)},
        "Superinterface": {(i, t) for t in every for i in types.supertypes(t) - {t} if i in types.interfaces},
        "SupertypeOf": {(s, t) for t in types.references for s in types.supertypes(t)},
        "MethodLookup": {(*key, t, m) for t in every | types.arrays for key, m in types.lookup(t).items()},
        "Overrides": overrides,
    }


def points_to_relations(solver: Solver) -> dict[str, Rows]:
    found: dict[str, set[tuple[int, ...]]] = {
        name: set() for name in
        ("VarPointsTo", "InstanceFieldPointsTo", "StaticFieldPointsTo", "ArrayIdxPointsTo", "CopiedElement")
    }  # fmt: skip
    for node, mask in solver.points_to.items():
        for heap in solver.bits(mask):
            match node:
                case ("var", var):
                    found["VarPointsTo"].add((heap, var))
                case ("field", base, field):
                    found["InstanceFieldPointsTo"].add((heap, field, base))
                case ("static", field):
                    found["StaticFieldPointsTo"].add((heap, field))
                case ("element", base):
                    found["ArrayIdxPointsTo"].add((base, heap))
                case ("copy", call):
                    found["CopiedElement"].add((call, heap))
    return {**found}


def statements(solver: Solver, name: str) -> Iterable[tuple[int, ...]]:
    """The rows of a kind of statement that stand in reachable methods."""
    for method, rows in solver.statements[name].items():
        if method in solver.reached:
            yield from rows


def call_relations(solver: Solver, overrides: Rows) -> dict[str, Rows]:
    caller = {
        row[0]: row[-1] for kind in ("Virtual", "Special", "Static") for row in solver.facts[f"{kind}MethodInvocation"]
    }
    targets: dict[int, set[int]] = defaultdict(set)
    for call, callee in solver.edges:
        targets[call].add(callee)
    sites = {row[0] for row in statements(solver, "VirtualMethodInvocation")}
    overridden = {row[1] for row in overrides}
    implemented = {m for methods in solver.types.own.values() for m in methods.values()}
    results = {row[0]: row[4] for row in solver.facts["Method"]}
    native = {m for m in solver.reached if NATIVE in solver.types.modifiers[m]}
    single = {call for call in sites if len(targets[call]) == 1}
    return {
        "Calls": {(caller[call], callee) for call, callee in solver.edges},
        "VirtualSite": {(call,) for call in sites},
        "PolymorphicSite": {(call,) for call in sites if len(targets[call]) > 1},
        "UnresolvedSite": {(call,) for call in sites if not targets[call]},
        "MonomorphicSite": {(call,) for call in single},
        "Devirtualized": {(call, m) for call in single for m in targets[call] if m in overridden},
        "UnreachableMethod": {(m,) for m in implemented - solver.reached},
        "NativeResult": {(m,) for m in native if results[m] in solver.types.references},
    }


def application_methods(solver: Solver) -> set[int]:
    application = {t for (t,) in solver.facts["ApplicationClass"]}
    return {m for m, t in solver.types.declarer.items() if t in application}


def application_relations(solver: Solver, calls: Rows) -> dict[str, Rows]:
    inside = application_methods(solver)
    callees: dict[int, set[int]] = defaultdict(set)
    for caller, callee in calls:
        if caller in inside and callee in inside:
            callees[caller].add(callee)
    pairs = set()
    for caller in list(callees):
        seen: set[int] = set()
        stack = list(callees[caller])
        while stack:
            method = stack.pop()
            if method not in seen:
                seen.add(method)
                stack += callees.get(method, ())
        pairs |= {(caller, callee) for callee in seen}
    return {"ApplicationCalls": pairs, "RecursiveMethod": {(a,) for a, b in pairs if a == b}}


def cast_relations(solver: Solver) -> dict[str, Rows]:
    failing, safe = set(), set()
    for insn, _, source, _, t, _ in statements(solver, "AssignCast"):
        if t in solver.types.references:
            wrong = solver.points_to["var", source] & ~solver.objects_below.get(t, 0)
            failing |= {(insn, solver.heap_type[heap]) for heap in solver.bits(wrong)}
            if not wrong:
                safe.add((insn,))
    return {"MayFailCast": failing, "SafeCast": safe}


def data_relations(solver: Solver, found: dict[str, Rows]) -> dict[str, Rows]:
    empty = {
        (var,)
        for var, method in solver.facts["Var-DeclaringMethod"]
        if method in solver.reached
        and solver.var_type[var] in solver.types.references
        and not solver.points_to.get(("var", var))
    }
    read = {row[4] for row in statements(solver, "LoadInstanceField")}
    read |= {row[3] for row in statements(solver, "LoadStaticField")}
    dead = {(row[0], row[4]) for row in statements(solver, "StoreInstanceField") if row[4] not in read}
    dead |= {(row[0], row[3]) for row in statements(solver, "StoreStaticField") if row[3] not in read}
    inside: dict[int, set[int]] = defaultdict(set)
    for heap, _, base in found["InstanceFieldPointsTo"]:
        inside[base].add(heap)
    for base, heap in found["ArrayIdxPointsTo"]:
        inside[base].add(heap)
    stack = [heap for heap, _ in found["StaticFieldPointsTo"]]
    for _, base, _, descriptor in solver.callbacks:
        if descriptor == VOID:
            stack += solver.bits(solver.points_to["var", base])
    shared: set[int] = set()
    while stack:
        heap = stack.pop()
        if heap not in shared:
            shared.add(heap)
            stack += inside[heap]
    return {
        "PointsToNothing": empty,
        "DeadStore": dead,
        "Shared": {(h,) for h in shared},
        "ThreadLocal": {(h,) for h in {heap for heap, _ in found["VarPointsTo"]} - shared},
    }


def effect_relations(solver: Solver, calls: Rows) -> dict[str, Rows]:
    callers: dict[int, set[int]] = defaultdict(set)
    for caller, callee in calls:
        callers[callee].add(caller)
    stack = [m for m in solver.reached if NATIVE in solver.types.modifiers[m]]
    for name in ("StoreInstanceField", "StoreStaticField", "StoreArrayIndex"):
        stack += [row[-1] for row in statements(solver, name)]
    stores: set[int] = set()
    while stack:
        method = stack.pop()
        if method not in stores:
            stores.add(method)
            stack += callers[method]
    makes = {
        (method, solver.heap_type[heap])
        for heap, _, method in solver.allocations
        if method in solver.reached and THROWABLE in solver.types.supertypes(solver.heap_type[heap])
    }
    return {"PureMethod": {(m,) for m in solver.reached - stores}, "MakesException": makes}


def count_relations(solver: Solver) -> dict[str, Rows]:
    methods = Counter(solver.types.declarer[m] for m in solver.reached)
    objects = Counter(solver.heap_type[h] for h in {h for h, _, m in solver.allocations if m in solver.reached})
    inside = application_methods(solver) & solver.reached
    sizes = {
        var: solver.points_to["var", var].bit_count()
        for var, method in solver.facts["Var-DeclaringMethod"]
        if method in inside
    }
    largest = max(sizes.values(), default=None)
    return {
        "ReachableClass": {(t,) for t in methods},
        "DeadClass": {(t,) for t in solver.types.classes - set(methods) - solver.initialized},
        "ReachableMethods": set(methods.items()),
        "Objects": {(t, objects[t]) for t in solver.initialized},
        "PointsToSetSize": set(sizes.items()),
        "VaguestVar": {(var,) for var, size in sizes.items() if size == largest},
    }
