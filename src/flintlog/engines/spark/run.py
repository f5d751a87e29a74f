"""One run on Spark: inputs encoded, strata one segment after the other, results as frames."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flintlog.diagnostics import FlintlogError
from flintlog.engines.memory import total_memory
from flintlog.engines.protocol import Evaluation, Progress
from flintlog.engines.spark import dataframe
from flintlog.engines.spark.data.dictionaries.dictionary import Dictionary
from flintlog.engines.spark.data.ingest import estimated_bytes
from flintlog.engines.spark.embedded.jobs import Jobs
from flintlog.engines.spark.failures import explained
from flintlog.engines.spark.results import SparkRows
from flintlog.engines.spark.sessions.masters import is_connect
from flintlog.engines.spark.sessions.session import slots_now
from flintlog.engines.spark.strata.choose import Segment, Situation, alternatives, has_work, plan_segments
from flintlog.engines.spark.strata.traits import read_by
from flintlog.ir.program import Program, Stratum
from flintlog.ir.shared import without_shared
from flintlog.types import Row, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OUT_OF_MEMORY = "E803"


@dataclass
class SparkRun:
    spark: SparkSession
    program: Program
    evaluation: Evaluation
    dictionary: Dictionary
    constants: Sequence[Value]
    plain: Mapping[str, DataFrame]

    def run(self) -> Mapping[str, Collection[Row]]:
        self.whole, self.options = without_shared(self.program), self.evaluation.options
        relations = self.program.relations
        slots = slots_now(self.spark)
        tasks = self.options.spark.partitions or slots
        sizes = {name: estimated_bytes(frame) for name, frame in self.plain.items()}
        words = self.dictionary.encode({name: (relations[name], frame) for name, frame in self.plain.items()})
        computed = set(self._computed([s for s in self.whole.strata if has_work(self.whole, s)]))
        self._sets = frozenset(computed)
        limit = self.options.spark.broadcast_limit
        known = {name: sizes.get(name, 0) for name in relations if name not in computed}
        small = frozenset(name for name, size in known.items() if size is not None and size <= limit)
        self.jobs = Jobs(
            self.spark,
            self.whole,
            self.evaluation,
            self.dictionary,
            self.constants,
            tasks,
            slots,
            dict(words),
            small=small,
        )
        situation = Situation(self.options.spark.strategy, tasks, sizes, limit, self._memory(), is_connect(self.spark))
        self.situation = situation
        segments = plan_segments(self.whole, situation)
        for place, segment in enumerate(segments):
            self._segment(segment, segments[place + 1 :])
        return {name: self._rows(name, computed) for name in self._looked_at()}

    # --- Segments ---------------------------------------------------------------------------------

    def _segment(self, segment: Segment, later: Sequence[Segment]) -> None:
        """Evaluates a segment; where the user leaves it open and a task has not enough memory, in another way."""
        needed = self._needed(later)
        try:
            self._evaluate(segment, needed)
        except FlintlogError as error:
            if self.options.spark.strategy != "auto" or not _is_memory(error):
                raise
            for others in alternatives(self.whole, segment, self.situation):
                try:
                    for i, other in enumerate(others):
                        self._evaluate(other, needed | self._reads([s for o in others[i + 1 :] for s in o.strata]))
                except FlintlogError as again:
                    if not _is_memory(again):
                        raise
                else:
                    return
            raise

    def _evaluate(self, segment: Segment, needed: frozenset[str]) -> None:
        names = ", ".join(name for stratum in segment.strata for name in stratum.relations)
        label = _shortened(names)
        self.options.progress(Progress(note=f"{label}: {segment.strategy}, {segment.reason}"))
        self._describe(f"{label}: {segment.strategy}")
        own = self._computed(segment.strata)
        outputs = [name for name in own if name in needed]
        sized = [name for name in own if name in self.options.sized and name not in outputs]
        with explained(label, segment.strategy):
            match segment.strategy:
                case "single":
                    self.jobs.run_single(segment, outputs, sized)
                case "decomposed":
                    self.jobs.run_decomposed(segment, outputs, sized)
                case "resident":
                    place = next(i for i, s in enumerate(self.whole.strata) if s is segment.strata[0])
                    self.jobs.run_resident(segment, outputs, sized, place)
                case "dataframe":
                    for stratum in segment.strata:
                        self._dataframe(stratum, label)

    def _dataframe(self, stratum: Stratum, label: str) -> None:
        place = next(i for i, s in enumerate(self.whole.strata, 1) if s.relations == stratum.relations)
        original = self.program.strata[place - 1]

        def progress(round: int, delta: int, rows: int) -> None:
            now = Progress(place, len(self.program.strata), round, original.relations[0], rows, delta=delta)
            self.options.progress(now)

        context = dataframe.Context(
            machine=self.dictionary.machine,
            add_values=self._add_values,
            word_size=self.options.word_size,
            functions=self.evaluation.functions,
            notify=self.evaluation.notify,
            sets=self._sets,
            partitions=self.jobs.tasks,
            checkpoint_dir=self.options.spark.checkpoint_dir,
            checkpoint_every=self.options.spark.checkpoint_every,
            describe=lambda text: self._describe(f"{label}: {text}"),
            progress=progress,
            spark_connect=is_connect(self.spark),
        )
        frames = {
            name: self.jobs.frames.get(name, self.jobs.empty(len(self.program.relations[name].columns)))
            for name in self._reads([stratum]) | frozenset(stratum.relations)
        }
        self.jobs.frames |= dataframe.run_stratum(self.spark, self.program, original, frames, context)

    def _add_values(self, values: Sequence[Value]) -> list[int]:
        """Numbers for values that rules have made."""
        known = self.dictionary.machine().known
        return [known.number(value) for value in values]

    def _computed(self, strata: Sequence[Stratum]) -> list[str]:
        """The relations that strata compute: their own, and those that record the rounds of these."""
        own = [name for stratum in strata for name in stratum.relations]
        return own + [r.name for r in self.program.relations.values() if r.delta_of in own]

    # --- What is needed ---------------------------------------------------------------------------

    def _looked_at(self) -> list[str]:
        wanted = self.options.wanted
        if wanted is None:
            return list(self.program.relations)
        return [name for name in self.program.relations if name in wanted or name in self.options.sized]

    def _needed(self, later: Sequence[Segment]) -> frozenset[str]:
        """The relations whose rows later strata or the caller will read."""
        wanted = self.options.wanted
        results = frozenset(self.program.relations) if wanted is None else wanted
        return results | self._reads([stratum for segment in later for stratum in segment.strata])

    def _reads(self, strata: Sequence[Stratum]) -> frozenset[str]:
        return frozenset(name for stratum in strata for name in read_by(self.program, stratum))

    def _rows(self, name: str, computed: set[str]) -> SparkRows:
        relation = self.program.relations[name]
        frame = self.jobs.frames.get(name)
        if frame is not None and name not in computed:
            frame = frame.distinct()
        elif frame is None and name not in self.jobs.sizes:
            frame = self.jobs.empty(len(relation.columns))
        size = self.jobs.sizes.get(name)
        types, word_size = self.program.types, self.options.word_size
        return SparkRows(self.spark, relation, frame, size, self.dictionary, types, word_size)

    # --- The cluster ------------------------------------------------------------------------------

    def _memory(self) -> int:
        """What tasks may take together, roughly: on one machine what it has; elsewhere what executors were given."""
        if is_connect(self.spark) or str(self.spark.sparkContext.master).startswith("local"):
            return self.options.memory_limit or total_memory() * 4 // 5
        return self.options.memory_limit or (slots_now(self.spark) << 30)

    def _describe(self, text: str) -> None:
        if not is_connect(self.spark):
            self.spark.sparkContext.setJobDescription(f"flintlog: {text}")


def _is_memory(error: FlintlogError) -> bool:
    return any(diagnostic.code == OUT_OF_MEMORY for diagnostic in error.diagnostics)


def _shortened(names: str) -> str:
    return names if len(names) <= 60 else names[:57] + "…"
