"""Subset-constraint solver for the analysis of benchmarks/programs/points_to: what its recursive rules have to derive.

It shares nothing with Flintlog: points-to sets are bit sets over the objects, flows are edges of a graph that grows
while sets travel along it, and methods add their statements when they are first reached. Nodes of the graph are
("var", v), ("field", h, f), ("static", f), ("element", h) for what an array holds, ("copy", c) for what a call copies.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from tests.unit.benchmarks.points_to_hierarchy import Facts, Hierarchy, grouped, mapping

Node = tuple[str, int] | tuple[str, int, int]

STRING, MAIN, MAIN_DESCRIPTOR, PUBLIC, STATIC, CLINIT, VOID = 0, 5, 6, 7, 8, 12, 13
STRING_ARRAY, CLASS, THREAD, THREAD_GROUP = 140887, 141162, 147459, 147596
RUN, FINALIZE, OBJECT_RESULT = 711364, 711989, 711209
MAIN_ARRAY, MAIN_ARGUMENT, MAIN_THREAD, MAIN_GROUP, ANY_STRING = -1, -2, -3, -4, -5
ARRAYCOPY, CLONE, CURRENT_THREAD, START0, OBJECT_FINALIZE = 618775, 709877, 710373, 710375, 390682
DO_PRIVILEGED = {620267, 620269, 620272, 620288}
THREAD_INIT, THREAD_EXIT, GROUP_INIT, UNCAUGHT = 246345, 500894, 245939, 246094
VIRTUAL_MACHINE_CALLS = {213921, THREAD_INIT, THREAD_EXIT, GROUP_INIT, UNCAUGHT, 463434, 168202}
ALL = -1  # the bit set that holds every object


class Solver:
    """Runs the analysis on construction; every attribute then holds what the analysis derives."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.types = Hierarchy(facts)
        self._number_objects()
        self._index_statements()
        self.points_to: dict[Node, int] = defaultdict(int)
        self.pending: dict[Node, int] = {}
        self.flows: dict[Node, dict[Node, int]] = defaultdict(dict)
        self.watchers: dict[Node, list[tuple[str, tuple[int, ...]]]] = defaultdict(list)
        self.reached: set[int] = set()
        self.unvisited: list[int] = []
        self.initialized: set[int] = set()
        self.edges: set[tuple[int, int]] = set()
        self.callbacks: set[tuple[int, int, int, int]] = set()
        self.passes: set[tuple[int, int]] = set()
        self.finalized: set[tuple[int, int]] = set()
        self._start()
        self._run()

    # -- preparation

    def _number_objects(self) -> None:
        strings = {h for (h,) in self.facts["StringConstant"]}
        self.heap_type = mapping(self.facts["NormalHeap"])
        self.heap_type |= {
            MAIN_ARRAY: STRING_ARRAY, MAIN_ARGUMENT: STRING, MAIN_THREAD: THREAD, MAIN_GROUP: THREAD_GROUP,
            ANY_STRING: STRING,
        }  # fmt: skip
        allocations = set()
        for _, _, heap, to, method, _ in self.facts["AssignHeapAllocation"]:
            if heap in strings:
                heap = ANY_STRING
            elif heap not in self.heap_type:
                self.heap_type[heap] = CLASS
            allocations.add((heap, to, method))
        self.allocations = sorted(allocations)
        self.heaps = list(self.heap_type)
        self.number = {heap: i for i, heap in enumerate(self.heaps)}
        self.objects_below: dict[int, int] = defaultdict(int)
        for heap, t in self.heap_type.items():
            for above in self.types.supertypes(t):
                self.objects_below[above] |= 1 << self.number[heap]

    def _index_statements(self) -> None:
        last = {
            "AssignLocal": 4, "AssignCast": 5, "LoadInstanceField": 5, "StoreInstanceField": 5, "LoadStaticField": 4,
            "StoreStaticField": 4, "LoadArrayIndex": 4, "StoreArrayIndex": 4, "VirtualMethodInvocation": 4,
            "SpecialMethodInvocation": 4, "StaticMethodInvocation": 3, "Return": 3,
        }  # fmt: skip
        self.statements = {name: grouped(self.facts[name], column) for name, column in last.items()}
        self.allocations_in = grouped(self.allocations, 2)
        self.field_declarer = {row[0]: row[1] for row in self.facts["Field"]}
        self.var_type = mapping(self.facts["Var-Type"])
        self.this_var = mapping(self.facts["ThisVar"])
        self.formals = {(row[0], row[1]): row[2] for row in self.facts["FormalParam"]}
        self.actuals = {(row[0], row[1]): row[2] for row in self.facts["ActualParam"]}
        self.arguments = grouped(self.facts["ActualParam"], 1)
        self.result_var = mapping(self.facts["AssignReturnValue"])
        self.receiver = {
            row[0]: row[3]
            for name in ("VirtualMethodInvocation", "SpecialMethodInvocation")
            for row in self.facts[name]
        }

    def bits(self, mask: int) -> list[int]:
        """The objects of a bit set."""
        found = []
        while mask:
            lowest = mask & -mask
            found.append(self.heaps[lowest.bit_length() - 1])
            mask ^= lowest
        return found

    # -- the graph

    def add(self, node: Node, mask: int) -> None:
        new = mask & ~self.points_to[node]
        if new:
            self.points_to[node] |= new
            self.pending[node] = self.pending.get(node, 0) | new

    def add_object(self, node: Node, heap: int) -> None:
        self.add(node, 1 << self.number[heap])

    def flow(self, source: Node, target: Node, allowed: int = ALL) -> None:
        old = self.flows[source].get(target, 0)
        if old | allowed != old:
            self.flows[source][target] = old | allowed
            self.add(target, self.points_to[source] & allowed)

    def watch(self, var: int, action: str, *row: int) -> None:
        """Take the action for each object that the variable points to, now and later."""
        self.watchers["var", var].append((action, row))
        for heap in self.bits(self.points_to["var", var]):
            getattr(self, action)(heap, *row)

    def _run(self) -> None:
        while self.unvisited or self.pending:
            while self.unvisited:
                self._visit(self.unvisited.pop())
            if self.pending:
                node, new = self.pending.popitem()
                for target, allowed in list(self.flows[node].items()):
                    self.add(target, new & allowed)
                watchers = list(self.watchers[node])
                if watchers:
                    for heap in self.bits(new):
                        for action, row in watchers:
                            getattr(self, action)(heap, *row)

    # -- methods

    def _start(self) -> None:
        for (t,) in self.facts["MainClass"]:
            self.initialize(t)
            main = self.types.own.get(t, {}).get((MAIN, MAIN_DESCRIPTOR))
            if main is not None and {PUBLIC, STATIC} <= self.types.modifiers[main]:
                self.reach(main)
                self._bind(self.formals.get((0, main)), MAIN_ARRAY)
        self.add_object(("element", MAIN_ARRAY), MAIN_ARGUMENT)
        for method in VIRTUAL_MACHINE_CALLS & set(self.types.key):
            self.initialize(self.types.declarer[method])
            self.reach(method)

    def _bind(self, var: int | None, heap: int) -> None:
        if var is not None:
            self.add_object(("var", var), heap)

    def reach(self, method: int) -> None:
        if method not in self.reached:
            self.reached.add(method)
            self.unvisited.append(method)

    def initialize(self, t: int) -> None:
        if t not in self.initialized:
            self.initialized.add(t)
            clinit = self.types.own.get(t, {}).get((CLINIT, VOID))
            if clinit is not None:
                self.reach(clinit)
            for above in self.types.above(t):
                self.initialize(above)

    def _visit(self, method: int) -> None:
        rows = {name: groups.get(method, ()) for name, groups in self.statements.items()}
        self._visit_allocations(method)
        if method in (THREAD_INIT, THREAD_EXIT):
            self._bind(self.this_var.get(method), MAIN_THREAD)
        if method in (GROUP_INIT, UNCAUGHT):
            self._bind(self.this_var.get(method), MAIN_GROUP)
        if method in (THREAD_INIT, UNCAUGHT):
            self._bind(self.formals.get((0, method)), MAIN_GROUP if method == THREAD_INIT else MAIN_THREAD)
        for _, _, source, to, _ in rows["AssignLocal"]:
            self.flow(("var", source), ("var", to))
        for _, _, source, to, t, _ in rows["AssignCast"]:
            self.flow(("var", source), ("var", to), self.objects_below.get(t, 0))
        for _, _, to, field, _ in rows["LoadStaticField"]:
            self.initialize(self.field_declarer[field])
            self.flow(("static", field), ("var", to))
        for _, _, source, field, _ in rows["StoreStaticField"]:
            self.initialize(self.field_declarer[field])
            self.flow(("var", source), ("static", field))
        for _, _, to, base, field, _ in rows["LoadInstanceField"]:
            self.watch(base, "load_field", field, to)
        for _, _, source, base, field, _ in rows["StoreInstanceField"]:
            self.watch(base, "store_field", field, source)
        for _, _, to, base, _ in rows["LoadArrayIndex"]:
            self.watch(base, "load_element", to)
        for _, _, source, base, _ in rows["StoreArrayIndex"]:
            self.watch(base, "store_element", source)
        self._visit_calls(rows)

    def _visit_allocations(self, method: int) -> None:
        for heap, to, _ in self.allocations_in.get(method, ()):
            self.add_object(("var", to), heap)
            t = self.heap_type[heap]
            if t in self.types.classes:
                self.initialize(t)
            finalizer = self.types.lookup(t).get((FINALIZE, VOID))
            if finalizer not in (None, OBJECT_FINALIZE):
                self.finalized.add((heap, finalizer))
                self.reach(finalizer)
                self._bind(self.this_var.get(finalizer), heap)

    def _resolve(self, callee: int) -> int | None:
        return self.types.lookup(self.types.declarer[callee]).get(self.types.key[callee])

    def _visit_calls(self, rows: Mapping[str, Iterable[tuple[int, ...]]]) -> None:
        for call, _, callee, _ in rows["StaticMethodInvocation"]:
            target = self._resolve(callee)
            if target is not None:
                self.initialize(self.types.declarer[target])
                self.call(call, target)
        for call, _, callee, base, _ in rows["SpecialMethodInvocation"]:
            target = self._resolve(callee)
            if target is not None:
                if target in self.this_var:
                    self.flow(("var", base), ("var", self.this_var[target]))
                self.watch(base, "special_call", call, target)
        for call, _, callee, base, _ in rows["VirtualMethodInvocation"]:
            self.watch(base, "virtual_call", call, *self.types.key[callee])

    # -- calls

    def call(self, call: int, callee: int) -> None:
        if (call, callee) in self.edges:
            return
        self.edges.add((call, callee))
        self.reach(callee)
        for index, _, actual in self.arguments.get(call, ()):
            if (index, callee) in self.formals:
                self.assign(actual, self.formals[index, callee])
        to = self.result_var.get(call)
        if to is not None:
            for _, _, result, _ in self.statements["Return"].get(callee, ()):
                self.assign(result, to)
        self._call_native(call, callee, to)

    def assign(self, source: int, to: int) -> None:
        self.passes.add((source, to))
        self.flow(("var", source), ("var", to))

    def _call_native(self, call: int, callee: int, to: int | None) -> None:
        if callee == ARRAYCOPY:
            self.watch(self.actuals[0, call], "copy_from", call)
            self.watch(self.actuals[2, call], "copy_to", call)
        elif callee == CLONE and to is not None and call in self.receiver:
            self.flow(("var", self.receiver[call]), ("var", to))
        elif callee == CURRENT_THREAD and to is not None:
            self.add_object(("var", to), MAIN_THREAD)
        elif callee == START0 and call in self.receiver:
            self.call_back(call, self.receiver[call], RUN, VOID)
        elif callee in DO_PRIVILEGED:
            self.call_back(call, self.actuals[0, call], RUN, OBJECT_RESULT)

    def call_back(self, call: int, base: int, name: int, descriptor: int) -> None:
        if (call, base, name, descriptor) not in self.callbacks:
            self.callbacks.add((call, base, name, descriptor))
            self.watch(base, "virtual_call", call, name, descriptor)

    # -- what an object at the base of a statement does

    def special_call(self, _heap: int, call: int, target: int) -> None:
        self.call(call, target)

    def virtual_call(self, heap: int, call: int, name: int, descriptor: int) -> None:
        target = self.types.lookup(self.heap_type[heap]).get((name, descriptor))
        if target is not None:
            self._bind(self.this_var.get(target), heap)
            self.call(call, target)

    def load_field(self, heap: int, field: int, to: int) -> None:
        self.flow(("field", heap, field), ("var", to))

    def store_field(self, heap: int, field: int, source: int) -> None:
        self.flow(("var", source), ("field", heap, field))

    def load_element(self, heap: int, to: int) -> None:
        component = self.types.component.get(self.heap_type[heap])
        if component is not None and self.var_type[to] in self.types.supertypes(component):
            self.flow(("element", heap), ("var", to))

    def store_element(self, heap: int, source: int) -> None:
        component = self.types.component.get(self.heap_type[heap])
        if component is not None:
            self.flow(("var", source), ("element", heap), self.objects_below.get(component, 0))

    def copy_from(self, heap: int, call: int) -> None:
        self.flow(("element", heap), ("copy", call))

    def copy_to(self, heap: int, call: int) -> None:
        component = self.types.component.get(self.heap_type[heap])
        if component is not None:
            self.flow(("copy", call), ("element", heap), self.objects_below.get(component, 0))
