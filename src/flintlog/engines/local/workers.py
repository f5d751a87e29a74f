"""The threads that run rules, and what each keeps while it does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.library import kernels
from flintlog.engines.local.storage.block import Block
from flintlog.engines.local.storage.relation import Relation

# Candidates after which a single thread is joined by the others: less is over before they have begun.
ALONE = 1 << 14
# Candidates after which a thread comes back: an interrupt, or the progress line, waits for no more than this.
BUDGET = 1 << 23
# Slots of a table that several threads share out.
PARTS_WORTH = 1 << 18
# Room for new rows that a thread asks for at least.
ROOM = 1 << 12


class Workers:
    """Runs one rule at a time, on one thread or several."""

    def __init__(self, threads: int = 1) -> None:
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._threads = threads
        self._blocks: list[Block] = []
        self._registers = 0
        self.make_room(256)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def make_room(self, registers: int) -> None:
        """Gives threads so many registers at least."""
        if registers > self._registers:
            self._registers = registers
            self._blocks = [Block(at.T_REGISTERS + registers) for _ in range(self._threads)]

    def run(self, rule: Block, into: Relation, outside: Callable[[Block], None], tick: Callable[[], None]) -> None:
        """Runs a rule to its end. `outside` takes over a row of a thread's registers that the packing does not fit."""
        rows = rule[at.P_END] - rule[at.P_CURSOR]
        rule[at.P_SHARED], rule[at.P_CHUNK] = 0, max(1, min(1024, rows // (8 * len(self._blocks))))
        run_rule, first = kernels().run_rule, self._blocks[0]
        for block in self._blocks:
            kernels().begin(rule.address, block.address)
        running = [first]
        budget = ALONE if self._pool is not None else BUDGET
        while True:
            room = into.reserve(ROOM * len(running)) // len(running)
            for block in running:
                block[at.T_ROOM], block[at.T_BUDGET] = room, budget
            if len(running) == 1:
                states = [run_rule(rule.address, running[0].address)]
            else:
                assert self._pool is not None
                others = [self._pool.submit(run_rule, rule.address, block.address) for block in running[1:]]
                states = [run_rule(rule.address, running[0].address), *(other.result() for other in others)]
            for state, block in zip(states, running, strict=True):
                if state == at.OUTSIDE:
                    outside(block)
            running = [block for state, block in zip(states, running, strict=True) if state != at.DONE]
            if not running:
                return
            if budget == ALONE and at.FULL not in states:
                budget = BUDGET
                running += self._join(rule)
            tick()

    def flush(self, rule: Block, into: Relation) -> None:
        """Puts what threads have buffered into the relation, before its rows are packed anew."""
        for block in self._blocks:
            while block[at.T_COUNT]:
                block[at.T_ROOM] = into.reserve(at.BUFFER_WORDS)
                kernels().flush_rule(rule.address, block.address)

    def in_parts(self, work: Callable[[int, int], None], size: int) -> None:
        """Does work on the numbers below `size`, on all threads where it is worth while."""
        if self._pool is None or size < PARTS_WORTH:
            work(0, size)
            return
        count = len(self._blocks)
        ends = [size * i // count for i in range(count + 1)]
        others = [self._pool.submit(work, ends[i], ends[i + 1]) for i in range(1, count)]
        work(ends[0], ends[1])
        for other in others:
            other.result()

    def each(self, work: Iterable[Callable[[], None]]) -> None:
        """Does several things side by side."""
        queue = deque(work)

        def drain() -> None:
            while queue:
                try:
                    piece = queue.popleft()
                except IndexError:
                    return
                piece()

        others = [self._pool.submit(drain) for _ in self._blocks[1:]] if self._pool is not None else []
        drain()
        for other in others:
            other.result()

    def _join(self, rule: Block) -> list[Block]:
        """Further threads for a rule that turns out to be long."""
        rule[at.P_SHARED] = 1
        return self._blocks[1:]
