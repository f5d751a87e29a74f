"""Facts of a small machine program that nobody wrote: random instructions in blocks, in the shape of Ddisasm's."""

from __future__ import annotations

from collections.abc import Sequence, Set
from random import Random

from tests.unit.benchmarks.def_use_values import ADDRESS, LOAD, NO_REGISTER, STORE
from tests.unit.benchmarks.graph_search import Row

FUNCTIONS, BLOCKS, STACK = 4, 6, 15
REGISTERS = [1, 2, 3, STACK]
RESULT = 1
OFFSETS = [0, 8]
FILES = (
    "Code_in_block Block_next Block_last_instruction May_fallthrough Direct_call Arch_memory_access_truncate "
    "Arch_reg_reg_arithmetic_operation Arch_return_reg Reg_def_use_used Reg_def_use_used_in_block "
    "Reg_def_use_defined_in_block Reg_def_use_block_last_def Reg_def_use_live_var_def Reg_def_use_flow_def "
    "Reg_def_use_return_block_end Reg_used_for Def_used_for_address Stack_def_use_def Stack_def_use_used "
    "Stack_def_use_defined_in_block Stack_def_use_block_last_def Stack_def_use_live_var_def Stack_def_use_live_var_used"
).split()


class RandomCode:
    """`facts` holds the rows of every file: the same for the same seed. Blocks stand at multiples of 100."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self._rows: dict[str, set[Row]] = {name: set() for name in FILES}
        self._row("Arch_return_reg", RESULT)
        for function in range(FUNCTIONS):
            blocks = [(1 + function * BLOCKS + i) * 100 for i in range(BLOCKS)]
            ends = [self._make_block(block) for block in blocks]
            for i, (block, end) in enumerate(zip(blocks, ends, strict=True)):
                self._leave_block(block, end, blocks[i + 1 : i + 2], blocks)
            self._row("Reg_def_use_return_block_end", blocks[0], ends[-1], blocks[-1], ends[-1])

    @property
    def facts(self) -> dict[str, Set[Row]]:
        return dict(self._rows)

    def _row(self, file: str, *values: int) -> None:
        self._rows[file].add(values)

    def _leave_block(self, block: int, end: int, following: Sequence[int], blocks: Sequence[int]) -> None:
        for next_ in following:
            self._row("May_fallthrough", end, next_)
        targets = [*following, self.random.choice(blocks)] if following else []
        for next_ in set(targets):
            self._row("Block_next", block, end, next_)
            if self.random.random() < 0.5:
                value = self.random.choice([0, 0, 5])
                self._row("Reg_def_use_flow_def", end, self.random.choice(REGISTERS), next_, value)

    def _make_block(self, block: int) -> int:
        """Writes the instructions of a block and what is known inside it; returns its last address."""
        size = self.random.randint(1, 5)
        last: dict[tuple[int, ...], int] = {}
        for ea in range(block, block + size):
            self._row("Code_in_block", ea, block)
            if ea > block:
                self._row("May_fallthrough", ea - 1, ea)
            for var, def_ in last.items():
                file = "Reg_def_use_block_last_def" if len(var) == 1 else "Stack_def_use_block_last_def"
                self._row(file, ea, def_, *var)
            uses, defs = self._make_instruction(ea, call=ea == block + size - 1 and self.random.random() < 0.5)
            for var in uses:
                self._use(block, ea, var, exposed=var not in last)
            for var in defs:
                # A moved stack pointer gives every stack variable another name.
                last = {known: at for known, at in last.items() if var != (STACK,) or len(known) == 1} | {var: ea}
                file = "Reg_def_use_defined_in_block" if len(var) == 1 else "Stack_def_use_defined_in_block"
                self._row(file, block, *var)
        for var, def_ in last.items():
            file = "Reg_def_use_live_var_def" if len(var) == 1 else "Stack_def_use_live_var_def"
            self._row(file, block, *var, *var, def_)
        self._row("Block_last_instruction", block, block + size - 1)
        return block + size - 1

    def _use(self, block: int, ea: int, var: tuple[int, ...], *, exposed: bool) -> None:
        if len(var) == 1:
            self._row("Reg_def_use_used", ea, *var, 1)
            self._row("Reg_def_use_used_in_block", block, ea, *var, 1)
        else:
            self._row("Stack_def_use_used", ea, *var, 1)
            if exposed and (block, STACK) not in self._rows["Reg_def_use_defined_in_block"]:
                self._row("Stack_def_use_live_var_used", block, *var, *var, ea, 1, 0)

    def _make_instruction(self, ea: int, *, call: bool) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
        """Writes an instruction; returns the variables that it uses and those that it defines."""
        pick = self.random.choice
        reg, base, offset = pick(REGISTERS[:3]), pick([1, 2, STACK, STACK]), pick(OFFSETS)
        slot: list[tuple[int, ...]] = [(base, offset)] if base == STACK else []
        if call:
            self._row("Direct_call", ea, (1 + self.random.randrange(FUNCTIONS) * BLOCKS) * 100)
            return [], [(RESULT,)]
        match pick(["load", "load", "store", "store", "arithmetic", "push"]):
            case "load":
                self._row("Arch_memory_access_truncate", LOAD, ea, reg, base, NO_REGISTER, offset)
                self._row("Reg_used_for", ea, base, ADDRESS)
                return [(base,), *slot], [(reg,)]
            case "store":
                self._row("Arch_memory_access_truncate", STORE, ea, reg, base, NO_REGISTER, offset)
                for var in slot:
                    self._row("Stack_def_use_def", ea, *var)
                return [(reg,), (base,)], slot
            case "arithmetic":
                other = pick([reg, pick(REGISTERS[:3])])
                self._row("Arch_reg_reg_arithmetic_operation", ea, reg, reg, other, pick([1, -1]), 0)
                self._row("Def_used_for_address", ea, reg, ADDRESS + 1)
                return [(reg,), (other,)], [(reg,)]
            case _:
                return [(STACK,)], [(STACK,)]
