"""Part of a pipeline that runs in the kernels: from a scan or a batch to a batch or into the head's relation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from flintlog.engines.local.kernels import layout as at
from flintlog.engines.local.kernels.library import address, kernels
from flintlog.engines.local.rule_code import Level, RuleCode
from flintlog.engines.local.storage.block import Block, block_of
from flintlog.engines.local.storage.index import Filter, Index
from flintlog.engines.local.storage.packing import Array, Range
from flintlog.engines.local.storage.relation import Relation
from flintlog.engines.local.workers import BUDGET, Workers
from flintlog.ir.nodes import Node

Sources: TypeAlias = Callable[[str | Node], Relation]

# Rows of a batch that goes on to steps the kernels do not know.
BATCH = 1 << 16
FEW_ROWS = 1 << 12
# How far a column that is computed may go beyond what was seen before rows are packed anew, in bits.
COMPUTED_SPARE = 6


class KernelStage:
    """Blocks for a rule's code, and running it. `output` are the variables that come out."""

    def __init__(self, code: RuleCode, output: Sequence[str], sources: Sources) -> None:
        self.code, self.output, self.sources = code, output, sources
        self._keep: list[Block] = []  # blocks that others point to
        self._steps: list[Block] = []
        self._levels = [self._level(level) for level in code.levels]
        self._back = code.back_level(output)
        for block in self._levels:
            block[at.L_BACK] = self._back
        self.rule = Block(at.P_LEVELS + len(self._levels))
        self.rule[at.P_NLEVELS] = len(self._levels)
        for depth, block in enumerate(self._levels):
            self.rule[at.P_LEVELS + depth] = block.address
        pairs = [word for value, register in code.constants.items() for word in (register, value)]
        self.rule[at.P_NCONSTANTS], self.rule[at.P_CONSTANTS] = len(code.constants), self._list(pairs)
        self.rule[at.P_NOUT] = len(output)
        self._registers = [code.registers[name] for name in output]
        self.out = self._list(self._registers)
        self._fusable = self._is_fusable()
        self._fused_out = self._list(self._fused_names()) if self._fusable else 0
        self._checked = any(name not in code.origin for name in output)
        self.batch_columns = Block(len(code.given))  # addresses of the columns of a batch
        if self.begins_with_batch:
            self._levels[0][at.L_SOURCE] = self.batch_columns.address
        self._indexes: list[Index] | None = None
        read = [level.source for level in code.levels] + [step.source for level in code.levels for step in level.steps]
        self._is_lasting = not any(isinstance(source, Node) for source in read)
        self._origins = [source for name in output for source, _ in code.origin.get(name, ())]
        self._versions: list[tuple[Relation, int]] = []
        self._into_version = -1

    # --- Blocks -----------------------------------------------------------------------------------

    def _list(self, words: Sequence[int]) -> int:
        self._keep.append(block_of(words))
        return self._keep[-1].address

    def _level(self, level: Level) -> Block:
        steps = Block(at.STEP_WORDS * len(level.steps))
        for place, step in enumerate(level.steps):
            where = at.STEP_WORDS * place
            steps[where + at.S_OP], steps[where + at.S_TO], steps[where + at.S_A], steps[where + at.S_B] = (
                step.op,
                step.to,
                step.a,
                step.b,
            )
            if step.source is not None:
                steps[where + at.S_B], steps[where + at.S_NKEYS] = self._list(step.registers), len(step.registers)
        self._steps.append(steps)
        block = Block(at.LEVEL_WORDS)
        block[at.L_KIND] = level.kind
        block[at.L_NKEYS], block[at.L_KEYS] = len(level.registers), self._list(level.registers)
        block[at.L_NBINDS], block[at.L_BINDS] = (
            len(level.binds),
            self._list([word for pair in level.binds for word in pair]),
        )
        block[at.L_NSTEPS], block[at.L_STEPS] = len(level.steps), steps.address
        return block

    def _is_fusable(self) -> bool:
        """Whether the rows of the last level can go straight into the head's keys."""
        last = len(self.code.levels) - 1
        level = self.code.levels[last]
        plain = all(name in self.code.origin for name in self.output)
        return last > 0 and level.kind == at.LEVEL_PROBE and not level.steps and self._back == last and plain

    def _fused_names(self) -> list[int]:
        columns = dict(self.code.levels[-1].binds)
        return [-1 - columns[register] if register in columns else register for register in self._registers]

    # --- Running ----------------------------------------------------------------------------------

    def run(
        self, into: Relation, batch: dict[str, Array], size: int, workers: Workers, tick: Callable[[], None]
    ) -> None:
        """Puts the rows that come out into a relation."""
        fits = self._prepare(into)
        rule = self.rule
        columns = self._bind(batch, size)
        if rule[at.P_CURSOR] >= rule[at.P_END]:
            return
        rule[at.P_SINK], rule[at.P_HEAD], rule[at.P_CHECKED] = (
            at.SINK_RELATION,
            into.block.address,
            self._checked or not fits,
        )
        fused = self._fusable and fits and into.is_packed and self.sources(self._last_source).is_packed
        rule[at.P_FUSED], rule[at.P_OUT] = fused, self._fused_out if fused else self.out
        late: list[list[int]] = []
        workers.make_room(self.code.register_count)
        workers.run(rule, into, lambda block: self._outside(block, into, workers, late), tick)
        del columns
        if late:
            into.insert(list(np.array(late, np.int64).T), len(late))

    def batches(self, batch: dict[str, Array], size: int) -> Iterator[tuple[dict[str, Array], int]]:
        """The rows that come out, some at a time."""
        rule, thread, columns = self.rule, self.thread, self._bind(batch, size)
        # Most batches of an update are small; room for many rows would take longer to get than these to find.
        room = BATCH if not self.begins_with_batch else min(BATCH, max(FEW_ROWS, 16 * size))
        buffer = np.empty((max(1, len(self.output)), room), np.int64)
        rule[at.P_SINK], rule[at.P_HEAD], rule[at.P_CAPACITY] = at.SINK_BATCH, address(buffer), room
        rule[at.P_FUSED], rule[at.P_OUT], rule[at.P_SHARED], rule[at.P_CHUNK] = 0, self.out, 0, 1024
        kernels().begin(rule.address, thread.address)
        state = at.PAUSED
        while state != at.DONE:
            thread[at.T_ROOM], thread[at.T_BUDGET] = room, BUDGET
            state = kernels().run_rule(rule.address, thread.address)
            count = room - thread[at.T_ROOM]
            if count:
                yield {name: buffer[i, :count].copy() for i, name in enumerate(self.output)}, count
        del columns

    @cached_property
    def thread(self) -> Block:
        """What a thread keeps that runs this from a batch to a batch."""
        return Block(at.T_REGISTERS + self.code.register_count)

    @property
    def begins_with_batch(self) -> bool:
        return self.code.levels[0].kind == at.LEVEL_BATCH

    def indexes(self) -> list[Index]:
        """The indexes that it uses, as they are now."""
        self.refresh()
        assert self._indexes is not None
        return self._indexes

    def delta_size(self) -> int:
        """How many rows the first level will scan, if it scans a delta."""
        first = self.code.levels[0]
        if not first.delta or first.source is None:
            return 0
        relation = self.sources(first.source)
        return relation.visible - relation.delta

    def refresh(self) -> None:
        """Points levels and steps at their sources as these are now."""
        if self._indexes is None or not self._is_lasting:
            self._point()
        assert self._indexes is not None
        for index in self._indexes:
            index.used = True
            index.sync()

    def _bind(self, batch: dict[str, Array], size: int) -> list[Array]:
        """The same, and at the batch. Returns what must not be freed meanwhile."""
        self.refresh()
        first, rule = self.code.levels[0], self.rule
        if first.kind == at.LEVEL_BATCH:
            kept = [np.ascontiguousarray(batch[name]) for name in self.code.given]
            for place, column in enumerate(kept):
                self.batch_columns[place] = address(column)
            rule[at.P_CURSOR], rule[at.P_END] = 0, size
            return kept
        assert first.source is not None
        relation = self.sources(first.source)
        if first.kind == at.LEVEL_GROUPS:
            rule[at.P_CURSOR], rule[at.P_END] = 0, relation.delta_index(first.key).groups
        else:
            rule[at.P_CURSOR], rule[at.P_END] = relation.delta if first.delta else 0, relation.visible
        return []

    def _point(self) -> None:
        """Writes the addresses of sources into the blocks, and remembers the indexes among them."""
        self._indexes = []
        for depth, level in enumerate(self.code.levels):
            if level.source is not None:
                relation = self.sources(level.source)
                source = relation.block if level.kind == at.LEVEL_SCAN else self._index(level, relation).block
                self._levels[depth][at.L_SOURCE] = source.address
            for place, step in enumerate(level.steps):
                if step.source is not None:
                    relation = self.sources(step.source)
                    source = (relation.looked_up or relation).block
                    if step.op != at.OP_CONTAINS:
                        self._indexes.append(relation.index(step.positions))
                        source = self._indexes[-1].block
                    self._steps[depth][at.STEP_WORDS * place + at.S_A] = source.address

    def _index(self, level: Level, relation: Relation) -> Index:
        if level.delta:
            index: Index = relation.delta_index(level.key)
        else:
            filters = tuple(Filter(self.sources(source), key, columns) for source, key, columns in level.filters)
            index = relation.index(level.key, filters)
        assert self._indexes is not None
        self._indexes.append(index)
        return index

    def _prepare(self, into: Relation) -> bool:
        """Makes the head's packing fit what is known of its values beforehand: they stand in columns with ranges.
        Returns whether that could be: not while somebody is in the middle of these rows."""
        origins = [self.sources(source) for source in self._origins]
        versions = [(relation, relation.range_version) for relation in origins]
        if versions == self._versions and into.range_version == self._into_version:
            return True
        ranges: list[Range] = []
        for position, name in enumerate(self.output):
            places = self.code.origin.get(name)
            known = into.ranges[position] if into.ranges is not None else (0, 0)
            ranges.append(_narrowest(self.sources, places, known) if places else known)
        if into.is_held and not into.fits(ranges):
            return False
        into.prepare(ranges)
        self._versions, self._into_version = versions, into.range_version
        return True

    def _outside(self, thread: Block, into: Relation, workers: Workers, late: list[list[int]]) -> None:
        """A row of the head is outside what is known of its values. If it does not even fit into the packing, rows are
        packed anew, or the row is kept for later where the rule is in the middle of an index of these very rows."""
        row = [thread[at.T_REGISTERS + register] for register in self._registers]
        if not into.widen(row):
            if into.is_held or self.reads(into):
                late.append(row)
                thread[at.T_AGAIN], thread[at.T_LEVEL] = 0, self._back
            else:
                workers.flush(self.rule, into)
                into.prepare([(value, value) for value in row], COMPUTED_SPARE)

    def reads(self, relation: Relation) -> bool:
        """Whether an index of the relation is in use."""
        sources = [level.source for level in self.code.levels if level.kind != at.LEVEL_SCAN]
        sources += [step.source for level in self.code.levels for step in level.steps if step.op != at.OP_CONTAINS]
        return any(source is not None and self.sources(source) is relation for source in sources)

    @property
    def _last_source(self) -> str | Node:
        source = self.code.levels[-1].source
        assert source is not None
        return source


def _narrowest(sources: Sources, places: Sequence[tuple[str | Node, int]], known: Range) -> Range:
    low, high = -(1 << 63), (1 << 63) - 1
    for source, position in places:
        ranges = sources(source).ranges
        if ranges is None:
            return known  # of a relation without rows: nothing will come
        low, high = max(low, ranges[position][0]), min(high, ranges[position][1])
    return (low, high) if low <= high else known
