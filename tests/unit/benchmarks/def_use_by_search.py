"""Def-use propagation by a search for each definition and each use: what benchmarks/programs/def_use must derive.

Shares nothing with Flintlog. Where the rules propagate all definitions at once, this follows every single one through
the blocks; a variable is a register `(reg,)` or a stack variable `(base, offset)`, and both take the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set

from tests.unit.benchmarks.def_use_values import known_values, value_steps
from tests.unit.benchmarks.graph_search import Facts, Row, closure, graph, successors

Result = dict[str, Set[Row]]
Variable = tuple[int, ...]


def def_use(facts: Facts) -> Result:
    """Every relation that the program prints the size of."""
    flow = Flow(facts)
    found = _registers(facts, flow)
    found |= _instructions(facts, found)
    found |= _stack(facts, flow)
    found |= _returns(facts, found)
    steps = value_steps(facts, found)
    ways = closure(graph(((def_, reg), (ea, dst)) for def_, reg, ea, dst in steps))
    found |= {"ValueStep": steps, "ValueFlow": {(*a, *b) for a, bs in ways.items() for b in bs}}
    return found | known_values(facts, found)


class Flow:
    """The ways that a variable's value takes between blocks."""

    def __init__(self, facts: Facts) -> None:
        self.registers = graph((reg, block) for block, reg in facts["Reg_def_use_defined_in_block"])
        self.stack = graph((row[1:], row[0]) for row in facts["Stack_def_use_defined_in_block"])
        self.after = graph((block, (end, next_)) for block, end, next_ in facts["Block_next"])
        self.before = graph((next_, (end, block)) for block, end, next_ in facts["Block_next"])
        self.on_edge = {(end, next_, reg) for end, reg, next_, _ in facts["Reg_def_use_flow_def"]}

    def stops(self, var: Variable, block: int) -> bool:
        """Whether a value does not pass through the block."""
        return block in self.registers.get(var[0], ()) or block in self.stack.get(var, ())

    def onward(self, var: Variable, block: int, *, back: bool) -> set[int]:
        """The blocks to which a value gets that leaves a block, on edges that do not define its register."""
        edges = (self.before if back else self.after).get(block, ())
        return {to for end, to in edges if (end, block if back else to, var[0]) not in self.on_edge}

    def spread(
        self, var: Variable, near: Iterable[int], far: Iterable[int], *, back: bool
    ) -> tuple[set[int], set[int]]:
        """The blocks on whose near and far side a value stands that starts at these: near is the entry and far the
        exit, or the other way round when the search goes back."""
        at_near, at_far = set(near), set(far)
        work = [*at_far, *(block for block in at_near if not self.stops(var, block))]
        while work:
            block = work.pop()
            at_far.add(block)
            new = self.onward(var, block, back=back) - at_near
            at_near |= new
            work += [to for to in new if not self.stops(var, to)]
        return at_near, at_far


def _reaching(flow: Flow, exits: Iterable[Row], entries: Iterable[Row] = ()) -> tuple[set[Row], set[Row]]:
    """(block, *variable, def) at entries and exits, from (block, *variable, def) rows to start with."""
    at_exit = graph((row[1:], row[0]) for row in exits)
    at_entry = graph((row[1:], row[0]) for row in entries)
    reach_entry: set[Row] = set()
    reach_exit: set[Row] = set()
    for item in at_exit.keys() | at_entry.keys():
        near, far = flow.spread(item[:-1], at_entry.get(item, ()), at_exit.get(item, ()), back=False)
        reach_entry |= {(block, *item) for block in near}
        reach_exit |= {(block, *item) for block in far}
    return reach_entry, reach_exit


def _living(flow: Flow, entries: Iterable[Row], exits: Iterable[Row] = ()) -> tuple[set[Row], set[Row]]:
    """(block, *variable) where a variable is live at entries and exits, from rows to start with."""
    at_entry, at_exit = graph((row[1:], row[0]) for row in entries), graph((row[1:], row[0]) for row in exits)
    live_entry: set[Row] = set()
    live_exit: set[Row] = set()
    for var in at_entry.keys() | at_exit.keys():
        near, far = flow.spread(var, at_exit.get(var, ()), at_entry.get(var, ()), back=True)
        live_exit |= {(block, *var) for block in near}
        live_entry |= {(block, *var) for block in far}
    return live_entry, live_exit


def _registers(facts: Facts, flow: Flow) -> Result:
    last = {(ea, reg): def_ for ea, def_, reg in facts["Reg_def_use_block_last_def"]}
    exposed = {row for row in facts["Reg_def_use_used_in_block"] if (row[1], row[2]) not in last}
    ends = {(end, next_) for _, end, next_ in facts["Block_next"]}
    on_edges = {(n, reg, end) for end, reg, n, _ in facts["Reg_def_use_flow_def"] if (end, n) in ends}
    entry, exit_ = _reaching(flow, ((b, reg, d) for b, _, reg, d in facts["Reg_def_use_live_var_def"]), on_edges)
    arriving = graph(((block, reg), def_) for block, reg, def_ in entry)
    used = {(last[ea, reg], reg, ea, i) for ea, reg, i in facts["Reg_def_use_used"] if (ea, reg) in last}
    used |= {(def_, reg, ea, i) for block, ea, reg, i in exposed for def_ in arriving.get((block, reg), ())}
    defs: set[Row] = {(def_, reg) for (_, reg), def_ in last.items()}
    defs |= {(def_, reg) for _, _, reg, def_ in facts["Reg_def_use_live_var_def"]}
    results = {(block, reg) for _, _, block, _ in facts["Reg_def_use_return_block_end"]
               for (reg,) in facts["Arch_return_reg"]}  # fmt: skip
    live_entry, live_exit = _living(flow, {(block, reg) for block, _, reg, _ in exposed}, results)
    return {
        "RegDef": defs,
        "ExposedUse": {(block, reg, ea, i) for block, ea, reg, i in exposed},
        "ReachesEntry": entry,
        "ReachesExit": exit_,
        "DefUsed": used,
        "IncomingUse": {(ea, reg) for block, ea, reg, _ in exposed if (block, reg) not in arriving},
        "UnusedDef": defs - {(def_, reg) for def_, reg, _, _ in used},
        "LiveAtEntry": live_entry,
        "LiveAtExit": live_exit,
    }


def _instructions(facts: Facts, found: Result) -> Result:
    """Live registers at each instruction: up through every block once."""
    block_of: dict[int, int] = {row[0]: row[1] for row in facts["Code_in_block"]}
    following = graph((a, b) for a, b in facts["May_fallthrough"] if a in block_of and block_of[a] == block_of.get(b))
    at_exit, used = successors(found["LiveAtExit"]), graph((ea, reg) for ea, reg, _ in facts["Reg_def_use_used"])
    defined = successors(found["RegDef"])
    ends = {ea: block for block, ea in facts["Block_last_instruction"]}
    before: dict[int, set[int]] = {}
    after: dict[int, set[int]] = {}
    for ea in sorted(block_of.keys() | used.keys() | ends.keys(), reverse=True):
        after[ea] = set(at_exit.get(ends[ea], ())) if ea in ends else set()
        after[ea] |= {reg for n in following.get(ea, ()) for reg in before[n]}
        before[ea] = used.get(ea, set()) | (after[ea] - defined.get(ea, set()))
    pressure = {ea: len(before[ea]) for ea in block_of}
    return {
        "LiveBefore": {(ea, reg) for ea, regs in before.items() for reg in regs},
        "LiveAfter": {(ea, reg) for ea, regs in after.items() for reg in regs},
        "DeadDef": {(def_, reg) for def_, reg in found["RegDef"] if reg not in after.get(def_, ())},
        "Pressure": set(pressure.items()),
        "PressureLevel": set(Counter(pressure.values()).items()),
    }


def _stack(facts: Facts, flow: Flow) -> Result:
    starts = ((block, *var, def_) for block, _, _, *var, def_ in facts["Stack_def_use_live_var_def"])
    entry, exit_ = _reaching(flow, starts)
    arriving = graph((row[:-1], row[-1]) for row in entry)
    last = graph(((ea, *var), def_) for ea, def_, *var in facts["Stack_def_use_block_last_def"])
    used: set[Row] = {
        (def_, *var, ea, i) for ea, *var, i in facts["Stack_def_use_used"] for def_ in last.get((ea, *var), ())
    }
    exposed = {(row[:3], row[5], row[6]) for row in facts["Stack_def_use_live_var_used"]}
    used |= {(def_, *at[1:], ea, i) for at, ea, i in exposed for def_ in arriving.get(at, ())}
    live_entry, live_exit = _living(flow, {at for at, _, _ in exposed})
    return {
        "StackReachesEntry": entry,
        "StackReachesExit": exit_,
        "StackDefUsed": used,
        "StackLiveAtEntry": live_entry,
        "StackLiveAtExit": live_exit,
        "DeadStore": facts["Stack_def_use_def"] - {row[:3] for row in used},
    }


def _returns(facts: Facts, found: Result) -> Result:
    at_exit = graph(((block, reg), def_) for block, reg, def_ in found["ReachesExit"])
    registers = {reg for (reg,) in facts["Arch_return_reg"]}
    own = graph(
        ((callee, reg), def_)
        for callee, _, block, _ in facts["Reg_def_use_return_block_end"]
        for reg in registers
        for def_ in at_exit.get((block, reg), ())
    )
    callees = successors(facts["Direct_call"])

    def returned(callee: int, reg: int) -> set[int]:
        seen: set[int] = set()
        work = list(own.get((callee, reg), ()))
        while work:
            if (def_ := work.pop()) not in seen:
                seen.add(def_)
                work += [through for other in callees.get(def_, ()) for through in own.get((other, reg), ())]
        return seen

    returns = {key: returned(*key) for key in list(own)}
    used = graph(((def_, reg), (use, i)) for def_, reg, use, i in found["DefUsed"])
    return {
        "Returns": {(*key, def_) for key, defs in returns.items() for def_ in defs},
        "ReturnUsed": {
            (def_, reg, *use)
            for call, callee in facts["Direct_call"]
            for reg in registers
            for use in used.get((call, reg), ())
            for def_ in returns.get((callee, reg), ())
        },
    }
