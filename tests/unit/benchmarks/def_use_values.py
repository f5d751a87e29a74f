"""Where values go and which are known: the second half of the independent twin of benchmarks/programs/def_use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from tests.unit.benchmarks.graph_search import Facts, Row, graph, reached

LOAD, STORE, NO_REGISTER, ADDRESS = 332573, 333071, 332575, 371930

Access = tuple[int, int, int]  # register, base, offset


def value_steps(facts: Facts, found: Mapping[str, Set[Row]]) -> set[Row]:
    """ValueStep: (def, reg, ea, dst), the value of `def` takes part in what `ea` defines."""
    sources = graph(((use, reg), def_) for def_, reg, use, _ in found["DefUsed"])
    steps: set[Row] = set()
    for ea, dst, src1, src2, _, _ in facts["Arch_reg_reg_arithmetic_operation"]:
        steps |= {(def_, src, ea, dst) for src in (src1, src2) for def_ in sources.get((ea, src), ())}
    returns = graph((callee, (def_, reg)) for callee, reg, def_ in found["Returns"])
    for call, callee in facts["Direct_call"]:
        steps |= {(d, reg, call, reg) for d, reg in returns.get(callee, ()) if (call, reg) in found["RegDef"]}
    for store, reg, load, dst in _through_memory(facts, found, sources):
        if (load, dst) in found["RegDef"]:
            steps |= {(def_, reg, load, dst) for def_ in sources.get((store, reg), ())}
    return steps


def _through_memory(
    facts: Facts, found: Mapping[str, Set[Row]], sources: Mapping[tuple[int, int], Set[int]]
) -> Iterator[tuple[int, int, int, int]]:
    """(store, reg, load, dst) for every load that may fetch what a store left."""
    stores, loads = _accesses(facts, STORE), _accesses(facts, LOAD)
    stack = facts["Stack_def_use_def"]
    for store, base, offset, load, _ in found["StackDefUsed"]:
        for reg, *slot in stores.get(store, ()):
            if slot == [base, offset] and (store, base, offset) in stack:
                yield from ((store, reg, load, dst) for dst, *other in loads.get(load, ()) if slot == other)
    blocks: dict[int, list[int]] = {}
    for ea, block in facts["Code_in_block"]:
        blocks.setdefault(block, []).append(ea)
    for code in blocks.values():
        for store in stores.keys() & code:
            for load in (ea for ea in loads.keys() & code if ea > store):
                yield from (
                    (store, reg, load, dst)
                    for reg, base, offset in stores[store]
                    for dst, *other in loads[load]
                    if other == [base, offset] and (store, base, offset) not in stack
                    if sources.get((store, base), set()) & sources.get((load, base), set())
                )


def _accesses(facts: Facts, kind: int) -> dict[int, set[Access]]:
    return graph(
        (ea, (reg, base, offset))
        for found, ea, reg, base, indexed, offset in facts["Arch_memory_access_truncate"]
        if found == kind and indexed == NO_REGISTER and NO_REGISTER not in (reg, base)
    )


def known_values(facts: Facts, found: Mapping[str, Set[Row]]) -> dict[str, Set[Row]]:
    """UsedFor and the relations of known values."""
    purposes = graph(((ea, reg), purpose) for ea, reg, purpose in facts["Reg_used_for"])
    back = graph(((ea, dst), (def_, reg)) for def_, reg, ea, dst in found["ValueStep"])
    direct = graph((purpose, (def_, reg)) for def_, reg, purpose in facts["Def_used_for_address"])
    for def_, reg, use, _ in found["DefUsed"]:
        for purpose in purposes.get((use, reg), ()):
            direct[purpose].add((def_, reg))
    known: set[Row] = {(def_, reg, value) for def_, reg, _, value in facts["Reg_def_use_flow_def"]}
    for ea, dst, src1, src2, mult, offset in facts["Arch_reg_reg_arithmetic_operation"]:
        if src1 == src2 and mult == -1:
            known.add((ea, dst, offset))
    values = graph(((def_, reg), value) for def_, reg, value in known)
    seen_by = graph(((use, reg), (def_, reg)) for def_, reg, use, _ in found["DefUsed"])
    known_use = {
        (*use, value) for use, defs in seen_by.items() if defs <= values.keys() for d in defs for value in values[d]
    }
    return {
        "UsedFor": {(*def_, purpose) for purpose, defs in direct.items() for def_ in reached(defs, back)},
        "KnownDef": known,
        "KnownUse": known_use,
        "NullAddress": {row[:2] for row in known_use if row[2] == 0 and ADDRESS in purposes.get(row[:2], ())},
    }
