"""Facts of a small Java program that nobody wrote: random classes, methods and statements, in the shape of doop-int."""

from __future__ import annotations

from itertools import count
from random import Random

from tests.unit.benchmarks import points_to_solver as names
from tests.unit.benchmarks.points_to_hierarchy import ABSTRACT, CLONEABLE, OBJECT, SERIALIZABLE, Facts
from tests.unit.benchmarks.points_to_summaries import INIT, NATIVE, THROWABLE

FILES = (
    "ActualParam ApplicationClass ArrayType AssignCast AssignHeapAllocation AssignLocal AssignReturnValue ClassType "
    "ComponentType DirectSuperclass DirectSuperinterface Field FormalParam InterfaceType LoadArrayIndex "
    "LoadInstanceField LoadStaticField MainClass Method Method-Modifier Method_Descriptor NormalHeap Return "
    "SpecialMethodInvocation StaticMethodInvocation StoreArrayIndex StoreInstanceField StoreStaticField StringConstant "
    "ThisVar Var-DeclaringMethod Var-Type VirtualMethodInvocation"
).split()
INT = 3
KEYS = [(20, names.VOID), (21, names.VOID), (22, names.OBJECT_RESULT), (names.RUN, names.VOID),
        (names.RUN, names.OBJECT_RESULT), (names.FINALIZE, names.VOID), (INIT, names.VOID)]  # fmt: skip
NATIVES = [
    (names.ARRAYCOPY, names.STRING, names.STATIC, 3), (names.CLONE, OBJECT, None, 0),
    (names.CURRENT_THREAD, names.THREAD, names.STATIC, 0), (names.START0, names.THREAD, None, 0),
    *((method, names.THREAD, names.STATIC, 1) for method in sorted(names.DO_PRIVILEGED)),
]  # fmt: skip


class RandomProgram:
    """`facts` holds the rows of every file: the same for the same seed and number of statements a method."""

    def __init__(self, seed: int, statements: int) -> None:
        self.random = Random(seed)
        self.fresh = count(1_000_000)
        self.facts: Facts = {name: [] for name in FILES}
        self.static: list[tuple[int, int]] = []
        self.instance: list[tuple[int, int]] = []
        self._make_types()
        self.fields = [next(self.fresh) for _ in range(20)]
        for field in self.fields:
            self._row("Field", field, self._pick(self.classes), 30, OBJECT)
        self._make_methods()
        natives = {row[0] for row in NATIVES}
        for method, _ in [*self.static, *self.instance]:
            if method in self.vars and method not in natives:
                for _ in range(statements):
                    self._make_statement(method)

    def _row(self, file: str, *values: int) -> None:
        self.facts[file].append(values)

    def _pick(self, choices):
        return self.random.choice(choices)

    def _make_types(self) -> None:
        self.interfaces = [CLONEABLE, SERIALIZABLE, *(next(self.fresh) for _ in range(3))]
        for i, interface in enumerate(self.interfaces):
            self._row("InterfaceType", interface)
            if i > 2:
                self._row("DirectSuperinterface", interface, self._pick(self.interfaces[:i]))
        known = [OBJECT, names.STRING, names.CLASS, THROWABLE, names.THREAD, names.THREAD_GROUP]
        self.classes = known + [next(self.fresh) for _ in range(12)]
        for i, t in enumerate(self.classes):
            self._row("ClassType", t)
            if t != OBJECT:
                self._row("DirectSuperclass", t, OBJECT if t in known else self._pick(self.classes[:i]))
            if i % 2:
                self._row("DirectSuperinterface", t, self._pick(self.interfaces))
            if i > 9:
                self._row("ApplicationClass", t)
        self._row("MainClass", self.classes[-1])
        components = [names.STRING, OBJECT, INT, *self.classes[-3:], self.interfaces[-1]]
        self.arrays = [names.STRING_ARRAY, *(next(self.fresh) for _ in components)]
        for array, component in zip(self.arrays, [*components, names.STRING_ARRAY], strict=True):
            self._row("ArrayType", array)
            self._row("ComponentType", array, component)

    def _make_methods(self) -> None:
        self.vars: dict[int, list[int]] = {}
        main = self._method(next(self.fresh), self.classes[-1], names.MAIN, names.MAIN_DESCRIPTOR, 1, names.STATIC)
        self._row("Method-Modifier", names.PUBLIC, main)
        self._method(names.OBJECT_FINALIZE, OBJECT, names.FINALIZE, names.VOID, 0, None)
        for method, t, modifier, arity in NATIVES:
            self._method(method, t, next(self.fresh), names.VOID, arity, modifier)
            self._row("Method-Modifier", NATIVE, method)
        self._method(names.THREAD_INIT, names.THREAD, INIT, next(self.fresh), 2, None)
        self._method(names.UNCAUGHT, names.THREAD_GROUP, 23, next(self.fresh), 2, None)
        for t in self.classes + self.interfaces:
            for name, descriptor in self.random.sample(KEYS, 3 if t != OBJECT else 1):
                if (t, name) != (OBJECT, names.FINALIZE):
                    abstract = t in self.interfaces or self.random.random() < 0.1
                    modifier = ABSTRACT if abstract and name != INIT else None
                    self._method(next(self.fresh), t, name, descriptor, 1, modifier)
            self._method(next(self.fresh), t, next(self.fresh), names.VOID, 1, names.STATIC)
            if self.random.random() < 0.5:
                self._method(next(self.fresh), t, names.CLINIT, names.VOID, 0, names.STATIC)

    def _method(self, method: int, t: int, name: int, descriptor: int, arity: int, modifier: int | None) -> int:
        result = OBJECT if self.random.random() < 0.5 else INT
        self._row("Method", method, name, 31, t, result, 32, arity)
        self._row("Method_Descriptor", method, descriptor)
        (self.static if modifier == names.STATIC else self.instance).append((method, arity))
        if modifier is not None:
            self._row("Method-Modifier", modifier, method)
        if modifier == ABSTRACT:
            return method
        own = self.vars[method] = [next(self.fresh) for _ in range(6)]
        for var in own:
            self._row("Var-DeclaringMethod", var, method)
            self._row("Var-Type", var, self._pick([OBJECT, INT, *self.classes, *self.arrays, *self.interfaces]))
        for index in range(arity):
            self._row("FormalParam", index, method, own[index])
        if modifier != names.STATIC:
            self._row("ThisVar", method, own[-1])
        self._row("Return", next(self.fresh), 0, own[3], method)
        return method

    def _make_statement(self, method: int) -> None:
        a, b = self._pick(self.vars[method]), self._pick(self.vars[method])
        insn, field = next(self.fresh), self._pick(self.fields)
        kind = self.random.randrange(16)
        simple = ["AssignLocal", "LoadArrayIndex", "StoreArrayIndex"]
        if kind < 3:
            self._row(simple[kind], insn, 0, a, b, method)
        elif kind < 5:
            self._row(("LoadInstanceField", "StoreInstanceField")[kind - 3], insn, 0, a, b, field, method)
        elif kind < 7:
            self._row(("LoadStaticField", "StoreStaticField")[kind - 5], insn, 0, a, field, method)
        elif kind == 7:
            self._row("AssignCast", insn, 0, a, b, self._pick([INT, *self.classes, *self.arrays]), method)
        elif kind < 12:
            self._make_object(insn, a, method)
        else:
            self._make_call(kind, a, b, method)

    def _make_object(self, insn: int, to: int, method: int) -> None:
        heap = next(self.fresh)
        kind = self.random.randrange(8)
        if kind == 0:
            self._row("StringConstant", heap)
        elif kind > 1:  # what is neither a string nor has a type is a class constant
            self._row("NormalHeap", heap, self._pick(self.arrays if kind < 4 else self.classes))
        self._row("AssignHeapAllocation", insn, 0, heap, to, method, 0)

    def _make_call(self, kind: int, base: int, to: int, method: int) -> None:
        call = next(self.fresh)
        callee, arity = self._pick(self.static if kind == 12 else self.instance)
        if kind == 12:
            self._row("StaticMethodInvocation", call, 0, callee, method)
        else:
            file = "SpecialMethodInvocation" if kind == 13 and callee in self.vars else "VirtualMethodInvocation"
            self._row(file, call, 0, callee, base, method)
        for index in range(max(arity, 1)):
            self._row("ActualParam", index, call, self._pick(self.vars[method]))
        self._row("AssignReturnValue", call, to)
