"""Which engine `auto` stands for, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any

from flintlog.api.locations import data_file, is_uri, named
from flintlog.diagnostics import Diagnostic, FlintlogError, did_you_mean
from flintlog.engines.memory import MemoryGuard, in_words
from flintlog.engines.protocol import RunOptions
from flintlog.engines.spark_options import STRATEGIES, SparkOptions
from flintlog.io.parameters import SPARK_ONLY
from flintlog.ir.program import IoDirective

# Names for several files at once.
_PATTERN = re.compile(r"[*?{\[]")
# How much longer facts are when they are unpacked.
_PACKED = {".gz": 5, ".parquet": 3, ".orc": 3}


@dataclass(frozen=True)
class Choice:
    """`reason` is said to the user; empty where the user chose."""

    engine: str
    reason: str = ""


def choose_engine(asked: str, options: RunOptions, io: Iterable[IoDirective], given: Mapping[str, Any]) -> Choice:
    """The engine for a run with these directives, where `given` has data for some relations. FlintlogError if what is
    asked for contradicts itself."""
    wish = _spark_option(options.spark)
    if asked != "auto":
        if asked != "spark" and wish:
            note = f"leave it out, or do not ask for the engine `{asked}`"
            raise FlintlogError([Diagnostic("E925", f"{wish} is for the engine `spark`", note=note)])
        return Choice(asked)
    if wish:
        return Choice("spark", f"{wish} is given")
    need = next(_needs(io, given, options.facts_dir), None)
    if need is not None:
        return Choice("spark", need)
    size = sum(_sizes(io, given, options.facts_dir))
    budget = MemoryGuard(options.memory_limit).limit
    if size <= budget:
        return Choice("local", "embedded in this process: nothing here needs Spark")
    too_large = f"inputs of {in_words(size)} exceed the memory budget of {in_words(budget)}"
    if find_spec("pyspark") is None:
        return Choice("local", f"{too_large}, and Spark is not installed: pip install 'flintlog[spark]'")
    return Choice("spark", too_large)


def spark_options(**said: Any) -> SparkOptions:
    """What the user says about Spark; FlintlogError for what means nothing. An argument that is None was not given."""
    options = SparkOptions(**{name: value for name, value in said.items() if value is not None})
    if options.session is not None and not hasattr(options.session, "createDataFrame"):
        raise _bad("spark", options.session, "give a SparkSession")
    if options.strategy not in STRATEGIES:
        note = did_you_mean(str(options.strategy), STRATEGIES) or f"strategies are {', '.join(STRATEGIES)}"
        raise _bad("strategy", options.strategy, note)
    for name, number in (("partitions", options.partitions), ("checkpoint_every", options.checkpoint_every)):
        if number is not None and not (type(number) is int and number >= 1):
            raise _bad(name, number, "give a number from 1 on")
    return options


def is_spark_frame(data: Any) -> bool:
    """Whether these are rows that Spark has. Asks nobody who would import pyspark."""
    return any(
        kind.__name__ == "DataFrame" and kind.__module__.startswith(("pyspark.sql.", "pyspark.pandas."))
        for kind in type(data).__mro__
    )


def _bad(option: str, value: object, note: str) -> FlintlogError:
    return FlintlogError([Diagnostic("E925", f"`{value}` is no value for {option}", note=note)])


_NAMES = {
    "session": "a session",
    "master": "a master",
    "strategy": "a strategy",
    "partitions": "a number of partitions",
}
_NAMES |= {"checkpoint_dir": "a checkpoint directory", "checkpoint_every": "a number of rounds between checkpoints"}
_NAMES |= {"bad_records": "a place for bad records"}


def _spark_option(options: SparkOptions) -> str | None:
    """Something that is said to Spark alone."""
    usual = SparkOptions()
    return next((words for name, words in _NAMES.items() if getattr(options, name) != getattr(usual, name)), None)


def _needs(io: Iterable[IoDirective], given: Mapping[str, Any], facts_dir: Path) -> Iterator[str]:
    """Reasons for which the embedded engine will not do."""
    for name, data in given.items():
        if is_spark_frame(data):
            yield f"`{name}` is a DataFrame of Spark's"
        elif isinstance(data, str | PathLike) and (is_uri(str(data)) or _is_written_by_spark(Path(data))):
            yield f"`{name}` is read from {data}"
    for directive in io:
        params = dict(directive.params)
        if directive.kind == "printsize" or (directive.kind == "input" and directive.relation in given):
            continue
        verb = "read" if directive.kind == "input" else "written"
        file = data_file(directive, facts_dir)
        if params.get("IO") in SPARK_ONLY:
            yield f"`{directive.relation}` is {verb} with IO={params['IO']}"
        elif is_uri(named(directive)):
            yield f"`{directive.relation}` is {verb} at {named(directive)}"
        elif directive.kind == "input" and file is not None and _is_written_by_spark(file):
            yield f"`{directive.relation}` is read from the directory {file}"
        elif directive.kind == "input" and file is not None and _PATTERN.search(file.name) and not file.exists():
            yield f"`{directive.relation}` is read from files like {file}"


def _is_written_by_spark(path: Path) -> bool:
    """A directory with the name of a file, such as `edge.parquet`. Another one was probably given by mistake."""
    return path.suffix != "" and path.is_dir()


def _sizes(io: Iterable[IoDirective], given: Mapping[str, Any], facts_dir: Path) -> Iterator[int]:
    """Roughly what inputs are as text, in bytes."""
    files = [Path(data) for data in given.values() if isinstance(data, str | PathLike)]
    files += [
        file
        for directive in io
        if directive.kind == "input" and directive.relation not in given
        if (file := data_file(directive, facts_dir)) is not None
    ]
    for file in files:
        try:
            yield file.stat().st_size * _PACKED.get(file.suffix, 1)
        except OSError:
            continue  # whoever reads it says so
