"""A segment as a Spark job: rows go to tasks, the embedded engine evaluates them there, rows and messages come back."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.protocol import Evaluation, Progress
from flintlog.engines.spark.data.dictionaries.dictionary import Dictionary
from flintlog.engines.spark.data.frames import made, promised_frame_of, table_behind
from flintlog.engines.spark.embedded.machines import MachineSeed
from flintlog.engines.spark.embedded.parcels import Parcel, Parcels
from flintlog.engines.spark.embedded.placement import EVERYWHERE, FOLDED
from flintlog.engines.spark.embedded.tagged import messages_of, output_schema, table_of, tagged, untagged, width_of
from flintlog.engines.spark.embedded.tasks import DecomposedTask, ResidentTask, SingleTask, Work
from flintlog.engines.spark.exchange.rendezvous import Rendezvous, Report
from flintlog.engines.spark.exchange.snapshots import Snapshots
from flintlog.engines.spark.exchange.ticket import Ticket
from flintlog.engines.spark.failures import wants_slots
from flintlog.engines.spark.sessions.masters import is_connect, is_local
from flintlog.engines.spark.sessions.session import await_slots
from flintlog.engines.spark.strata.choose import Segment
from flintlog.engines.spark.strata.pivot import decompose, find_pivots
from flintlog.engines.spark.strata.spread import spread
from flintlog.engines.spark.strata.traits import looks_into_values, read_by
from flintlog.ir.program import Program, Stratum
from flintlog.types import Value

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from flintlog.engines.spark.embedded.tagged import Columns

# With more tasks than this, to cut a rule in two costs less than to keep a relation in every task.
MOST_WHOLE = 8
# Rows in the driver's memory travel inside the pickled task up to this many bytes.
MOST_CARRIED = 64 << 20
# Results of all tasks go to the driver as messages up to this many bytes; larger ones stay in Spark.
MOST_TOLD = 4 << 20
# How often resident tasks may find too few slots when they begin before the run fails.
BEGUN_AGAIN = 3
# Snapshots are not taken more often than this, in seconds.
SNAPSHOT_SECONDS = 2.0


@dataclass
class Jobs:
    """Runs the jobs of one run. `frames` has the word frame of every relation that is given or computed so far, `sizes`
    the number of its rows where a job has counted them."""

    spark: SparkSession
    program: Program
    evaluation: Evaluation
    dictionary: Dictionary
    constants: Sequence[Value]
    tasks: int
    slots: int
    frames: dict[str, DataFrame] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    small: frozenset[str] = frozenset()
    _relation_of: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._parcels = Parcels(is_local=self._is_local())

    def run_single(self, segment: Segment, outputs: Sequence[str], sized: Sequence[str]) -> None:
        program = replace(self.program, strata=segment.strata)
        work = replace(self._work(program, self._inputs(segment.strata), outputs, sized), threads=self._threads())
        frame = self._sent(work, lambda name: self.frames[name], 1)
        self._finish(frame if self._is_carried(work) else frame.coalesce(1), SingleTask(work), work)

    def run_decomposed(self, segment: Segment, outputs: Sequence[str], sized: Sequence[str]) -> None:
        stratum = segment.strata[0]
        pivots = find_pivots(self.program, stratum)
        assert pivots is not None
        parts = decompose(self.program, stratum, pivots)
        inputs = [name for name, (relation, _) in parts.reads.items() if relation in self.frames]
        unread = [name for name in stratum.relations if name not in inputs]
        work = self._work(
            parts.program, [*inputs, *unread], outputs, sized, {n: r for n, (r, _) in parts.reads.items()}
        )

        def task_of(name: str) -> Column:
            return self._task_of(parts.reads[name][1], self.tasks)

        frame = self._sent(work, lambda name: self.frames[parts.reads[name][0]], self.tasks, task_of)
        if self._is_carried(work):
            placed = frame  # every task has a partition
        elif hasattr(frame, "repartitionById"):
            placed = frame.repartitionById(self.tasks, f.col("k"))
        else:
            placed = frame.repartition(self.tasks, "k")
        self._finish(placed, DecomposedTask(work, parts, self.tasks), work)

    def run_resident(self, segment: Segment, outputs: Sequence[str], sized: Sequence[str], place: int) -> None:
        """There were enough slots when the run began. Spark does not replace an executor that is lost before the tasks
        begin, so the job waits for another one and begins again."""
        ranks = max(1, min(self.tasks, self.slots))
        for last in (*[False] * BEGUN_AGAIN, True):
            try:
                self._run_resident(segment, outputs, sized, place, ranks)
            except Exception as error:
                if last or not wants_slots(error):
                    raise
                note = "an executor was lost before the tasks began; they begin when there is another"
                self.evaluation.options.progress(Progress(note=note))
                await_slots(self.spark, ranks)
            else:
                return

    def _run_resident(
        self, segment: Segment, outputs: Sequence[str], sized: Sequence[str], place: int, ranks: int
    ) -> None:
        placement = spread(self.program, segment.strata, self.small, cut=ranks > MOST_WHOLE)
        work = self._work(placement.program, self._inputs(segment.strata), outputs, sized)
        frame = self._sent(work, lambda name: self.frames[name], ranks)
        placed = frame if self._is_carried(work) else frame.repartition(ranks, *frame.columns)
        options = self.evaluation.options.spark
        host, advertised = self._driver()
        progress = _ResidentProgress(self.evaluation.options.progress, segment.strata, place, len(self.program.strata))
        with Rendezvous(ranks, host, progress, advertised=advertised) as rendezvous:
            progress.rendezvous = rendezvous
            ticket, directory = rendezvous.ticket, options.checkpoint_dir
            snapshots = Snapshots(directory, ranks, ticket.run) if directory else None
            task = ResidentTask(work, placement, ticket, snapshots, options.checkpoint_every, SNAPSHOT_SECONDS)
            try:
                self._finish(placed, task, work, barrier=True)
            except Exception:
                if rendezvous.failure is not None:
                    raise FlintlogError(pickle.loads(rendezvous.failure)) from None
                if rendezvous.absent:
                    raise FlintlogError([_too_few_slots(segment, ticket, rendezvous.absent)]) from None
                raise
            finally:
                if snapshots is not None:
                    snapshots.clear()

    # --- Parts of a job ---------------------------------------------------------------------------

    def _inputs(self, strata: Sequence[Stratum]) -> list[str]:
        """The relations whose rows strata need: those that their rules read, and their own where these have facts."""
        names: dict[str, None] = {}
        for stratum in strata:
            names |= dict.fromkeys(sorted(read_by(self.program, stratum)))
            names |= dict.fromkeys(stratum.relations)
        return [name for name in names if name in self.frames]

    def _is_carried(self, work: Work) -> bool:
        """Whether all rows travel inside the tasks, so that no frame is needed."""
        return not any(self._frame_of(name) is not None for i, name in enumerate(work.inputs) if i not in work.carried)

    def _sent(
        self,
        work: Work,
        frame_of: Callable[[str], DataFrame],
        tasks: int,
        task_of: Callable[[str], Column] | None = None,
    ) -> DataFrame:
        """The rows that do not travel inside the tasks, and one more for each task, so that every task runs."""
        frames = [
            (i, frame_of(name), task_of(name) if task_of is not None else None)
            for i, name in enumerate(work.inputs)
            if i not in work.carried and self._frame_of(name) is not None
        ]
        everyone = self.spark.range(0, tasks, 1, tasks)
        if not frames:
            task = ["int(id) AS k"] if task_of is not None else []
            return everyone.selectExpr(f"{len(work.inputs)} AS r", *task, "id AS c0")
        marker = f.col("id").cast("int") if task_of is not None else None
        frames.append((len(work.inputs), everyone, marker))
        return tagged(frames, max(len(frame.columns) for _, frame, _ in frames))

    def empty(self, arity: int) -> DataFrame:
        columns = [f.col("id").alias(f"c{i}") for i in range(width_of(arity))]
        return self.spark.range(0, 0, numPartitions=1).select(*columns)

    def _width(self, names: Sequence[str]) -> int:
        return max(width_of(len(self.program.relations[name].columns)) for name in names) if names else 1

    def _work(
        self,
        program: Program,
        inputs: Sequence[str],
        outputs: Sequence[str],
        sized: Sequence[str],
        relation_of: Mapping[str, str] | None = None,
    ) -> Work:
        """`relation_of` has the relation for each name that only tasks use."""
        self._relation_of = relation_of or {}
        needs_all = any(looks_into_values(program, stratum) for stratum in program.strata)
        values = self.dictionary.machine().known.values if needs_all else self.constants
        return Work(
            program=replace(program, io=()),
            inputs=tuple(inputs),
            carried=self._carried(inputs),
            outputs=tuple(outputs),
            sized=tuple(sized),
            seed=MachineSeed(
                self.evaluation.options.word_size, tuple(values), needs_all, dict(self.evaluation.functions)
            ),
            memory_limit=self.evaluation.options.memory_limit,
            neighbours=self._neighbours(),
            reorder=self.evaluation.options.reorder,
            width=self._width(outputs),
            told=MOST_TOLD // (self.tasks * max(1, len(outputs))),
        )

    def _carried(self, inputs: Sequence[str]) -> dict[int, Parcel]:
        """The inputs whose rows are in the driver's memory, by number, as far as there is room for them in the task."""
        carried: dict[int, Parcel] = {}
        room = MOST_CARRIED
        for number, name in enumerate(inputs):
            frame = self._frame_of(name)
            table = table_behind(frame) if frame is not None else None
            if table is not None and table.nbytes <= room:
                carried[number] = self._parcels.pack(table)
                room -= table.nbytes
        return carried

    def _frame_of(self, name: str) -> DataFrame | None:
        return self.frames.get(self._relation_of.get(name, name))

    def _task_of(self, column: int, tasks: int) -> Column:
        """The tasks to which a row goes: `placement.owner` as an expression of Spark's, or all of them."""
        if column == EVERYWHERE:
            return f.explode(f.array(*(f.lit(task).cast("int") for task in range(tasks))))
        return owner_column(f.col(f"c{column}"), tasks)

    def _finish(self, frame: DataFrame, task: Callable[..., Any], work: Work, *, barrier: bool = False) -> None:
        """Runs a job, deals with the messages of its tasks, and keeps the frames of its outputs."""
        try:
            self._run(frame, task, work, barrier=barrier)
        finally:
            self._parcels.clear()

    def _run(self, frame: DataFrame, task: Callable[..., Any], work: Work, *, barrier: bool) -> None:
        result = frame.mapInArrow(task, output_schema(work.width), barrier=barrier)
        if barrier:
            # A barrier stage that is lost can be run again only if a shuffle comes after it.
            result = result.repartition(max(1, self.slots), "r", *(f"c{i}" for i in range(work.width)))
        if work.outputs:
            # Without its lineage, because the rendezvous ends with this job and tasks could not run again. Spark frees
            # the rows with the last reference to the frame.
            result = result.localCheckpoint(eager=False)
        sizes: dict[str, int] = {}
        told: dict[int, list[Columns]] = {}
        handed: set[int] = set()
        for kind, content in messages_of(result, alone=not work.outputs):
            if kind == "failed":
                raise FlintlogError(content)
            if kind == "values":
                self.dictionary.add(content)
            elif kind == "warnings":
                for message, span in content:
                    self.evaluation.notify(message, span)
            elif kind == "rows":
                number, columns = content
                told.setdefault(number, []).append(columns)
            elif kind == "handed":
                handed.add(content)
            elif kind == "sizes":
                for name, size in content.items():
                    sizes[name] = sizes.get(name, 0) + size
        self.sizes |= sizes
        for number, name in enumerate(work.outputs):
            arity = len(self.program.relations[name].columns)
            here = promised_frame_of(self.spark, table_of(told.get(number, []), arity))
            if number not in handed:
                self.frames[name] = here
            else:
                there = untagged(result, number, arity)
                self.frames[name] = there.union(made(here)) if number in told else there

    def _neighbours(self) -> int:
        """How many tasks share a machine's memory, as far as the session tells it."""
        if is_connect(self.spark):
            return 1
        context = self.spark.sparkContext
        if str(context.master).startswith("local"):
            return self.slots
        return int(context.getConf().get("spark.executor.cores") or 1)

    def _is_local(self) -> bool:
        """Whether tasks run in the driver's own Java, and so on its machine."""
        return not is_connect(self.spark) and is_local(str(self.spark.sparkContext.master))

    def _threads(self) -> int:
        """Threads of a job's only task: all slots of a local session, else as many as Spark gives to a task."""
        if self._is_local():
            return self.slots
        return 1 if is_connect(self.spark) else int(self.spark.sparkContext.getConf().get("spark.task.cpus") or 1)

    def _driver(self) -> tuple[str, str | None]:
        """The host name that the driver binds, and the one that tasks connect to where that is another."""
        context = self.spark.sparkContext
        host = context.getConf().get("spark.driver.host") or "127.0.0.1"
        bind = context.getConf().get("spark.driver.bindAddress")
        return (bind or host), (host if bind and bind != host else None)


@dataclass
class _ResidentProgress:
    """Turns reports of the first rank into progress of the run."""

    say: Callable[[Progress], None]
    strata: Sequence[Stratum]
    place: int
    of: int
    rendezvous: Rendezvous | None = None
    attempts: int = 1

    def __call__(self, now: Report) -> None:
        if self.rendezvous is not None and self.rendezvous.generation > self.attempts:
            self.attempts = self.rendezvous.generation
            self.say(Progress(note=f"tasks were lost; attempt {self.attempts} goes on with round {now.round}"))
        name = self.strata[min(now.stratum, len(self.strata)) - 1].relations[0]
        self.say(Progress(self.place + now.stratum, self.of, now.round, name, now.total_rows, delta=now.delta_rows))


def _too_few_slots(segment: Segment, ticket: Ticket, absent: Sequence[int]) -> Diagnostic:
    names = ", ".join(name for stratum in segment.strata for name in stratum.relations)
    where = f"the driver at {ticket.host}:{ticket.port} within {ticket.join_seconds:g} s"
    message = f"{names} (resident): {len(absent)} of {ticket.ranks} tasks did not reach {where}"
    note = "all tasks have to run at once: free as many slots, or use fewer --partitions or another --strategy"
    return Diagnostic("E932", message, note=note)


def owner_column(words: Column, tasks: int) -> Column:
    mixed = words
    for shift in FOLDED:
        mixed = mixed.bitwiseXOR(f.shiftrightunsigned(words, shift))
    return f.pmod(mixed, f.lit(tasks).cast("bigint")).cast("int")
