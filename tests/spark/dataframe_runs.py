"""Runs whole programs stratum by stratum on the strategy `dataframe`, and on the naive engine beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from flintlog.api.user_program import Program
from flintlog.engines.naive import NaiveEngine
from flintlog.engines.protocol import Evaluation, RunOptions
from flintlog.engines.reference.closures import Machine
from flintlog.engines.spark.dataframe import Context, applies, release, run_stratum
from flintlog.ir.words import Words
from flintlog.source import Span
from flintlog.types import Kind, Row, Value

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Facts = Mapping[str, Iterable[tuple[Any, ...]]]


@dataclass
class Seen:
    """What a run has said."""

    rounds: list[tuple[int, int, int]] = field(default_factory=list)
    jobs: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def run_dataframe(
    spark: SparkSession,
    text: str,
    facts: Facts | None = None,
    *,
    partitions: int = 1,
    word_size: int = 64,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    seen: Seen | None = None,
    **settings: Any,
) -> dict[str, set[Row]]:
    """The rows of every relation of the optimised program."""
    program = Program(text, word_size=word_size).optimised()
    seen = seen or Seen()
    machine = Machine(Words(word_size), functions or {}, lambda message, span: None)

    def add_values(values: Iterable[Value]) -> list[int]:
        return [machine.word(value, Kind.SYMBOL) for value in values]

    def notify(message: str, span: Span) -> None:
        seen.warnings.append(message)

    context = Context(
        machine=lambda: machine,
        add_values=add_values,
        word_size=word_size,
        functions=functions or {},
        notify=notify,
        partitions=partitions,
        describe=seen.jobs.append,
        progress=lambda *numbers: seen.rounds.append(numbers),
        **{"small_rows": 0, **settings},
    )
    frames: dict[str, DataFrame] = {}
    for name, relation in program.relations.items():
        rows = [
            [machine.word(value, kind) for value, kind in zip(row, relation.kinds, strict=True)] or [0]
            for row in (facts or {}).get(name, ())
        ]
        columns = ", ".join(f"c{i} bigint" for i in range(max(1, len(relation.kinds))))
        frames[name] = spark.createDataFrame(rows, columns)
    made: list[DataFrame] = []
    for stratum in program.strata:
        assert applies(program, stratum) is None
        found = run_stratum(spark, program, stratum, frames, context)
        frames |= found
        made += found.values()
    result = {}
    for name, relation in program.relations.items():
        found_rows = [tuple(row) for row in frames[name].collect()]
        assert len(set(found_rows)) == len(found_rows), f"{name} has a row twice"
        result[name] = {_values(row, relation.kinds, machine) for row in found_rows}
    for frame in made:
        release(frame)
    return result


def _values(words: tuple[int, ...], kinds: tuple[Kind, ...], machine: Machine) -> Row:
    if not kinds:
        return ()
    return tuple(machine.value(word, kind) for word, kind in zip(words, kinds, strict=True))


def run_naive(
    text: str,
    facts: Facts | None = None,
    *,
    word_size: int = 64,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    **_: Any,
) -> dict[str, set[Row]]:
    program = Program(text, word_size=word_size).optimised()
    known = {name: rows for name, rows in (facts or {}).items() if name in program.relations}
    evaluation = Evaluation(known, functions or {}, options=RunOptions(word_size=word_size))
    return {name: set(rows) for name, rows in NaiveEngine().run(program, evaluation).items()}


def agree(spark: SparkSession, text: str, facts: Facts | None = None, **settings: Any) -> dict[str, set[Row]]:
    """Runs both ways; the answer, which must be one."""
    expected = run_naive(text, facts, **settings)
    assert run_dataframe(spark, text, facts, **settings) == expected
    return expected
