"""A program in Python's hands: load, check, explain, run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from flintlog.api.choose_engine import choose_engine, is_spark_frame, spark_options
from flintlog.api.facts import relation_for, rows_of, source_of, spark_frame
from flintlog.api.functors import load_functors
from flintlog.api.locations import located
from flintlog.api.result import Result
from flintlog.api.run import evaluate
from flintlog.compiler import Compilation, compile_source, optimise_compiled, read_source
from flintlog.diagnostics import Diagnostic, FlintlogError, Report
from flintlog.engines.memory import parse_size
from flintlog.engines.protocol import Engine, RunOptions, load_engine
from flintlog.io.parameters import without_scheme
from flintlog.ir import program as ir
from flintlog.ir.program import IoDirective
from flintlog.passes.context import wanted_by_directives
from flintlog.passes.remove_unneeded import needed_only
from flintlog.passes.sequence import engine_may
from flintlog.source import SourceFile


class Program:
    """A Datalog program. Its mistakes are raised, all together, as FlintlogError when it is first used.

    >>> program = Program('''
    ...     .decl edge(x: number, y: number)
    ...     .decl path(x: number, y: number)
    ...     .output path
    ...     path(x, y) :- edge(x, y).
    ...     path(x, z) :- path(x, y), edge(y, z).
    ... ''')
    >>> result = program.run(edge=[(1, 2), (2, 3)])
    >>> sorted(result["path"])
    [(1, 2), (1, 3), (2, 3)]
    """

    def __init__(
        self,
        text: str,
        *,
        name: str = "<text>",
        word_size: int = 64,
        include_dirs: Iterable[str | PathLike[str]] = (),
        defines: Mapping[str, object] | None = None,
    ) -> None:
        if word_size not in (32, 64):
            raise FlintlogError([Diagnostic("E900", f"words cannot have {word_size} bits", note="choose 32 or 64")])
        self._source = SourceFile(name, text)
        self._word_size = word_size
        self._include_dirs = tuple(map(Path, include_dirs))
        self._defines = {name: str(value) for name, value in (defines or {}).items()}
        self._directory = Path()
        self._path: Path | None = None

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        *,
        word_size: int = 64,
        include_dirs: Iterable[str | PathLike[str]] = (),
        defines: Mapping[str, object] | None = None,
    ) -> Program:
        """The program in a file. Facts files are looked for beside it, unless `run` is told otherwise."""
        file = Path(path)
        source = read_source(file)
        program = cls(source.text, name=source.name, word_size=word_size, include_dirs=include_dirs, defines=defines)
        program._source = source
        program._path, program._directory = file, file.parent
        return program

    def __repr__(self) -> str:
        return f"<Program {self._source.name}>"

    @property
    def word_size(self) -> int:
        return self._word_size

    @property
    def directory(self) -> Path:
        """Where facts files are looked for, unless somebody says otherwise."""
        return self._directory

    @cached_property
    def compilation(self) -> Compilation:
        return compile_source(
            self._source, word_size=self._word_size, include_dirs=self._include_dirs, defines=self._defines
        )

    def check(self) -> list[Diagnostic]:
        """Every problem of the program, warnings too, in the order of the text."""
        return self.compilation.report.sorted()

    def explain(self, stage: str = "ir", *, format: str = "text", without: Iterable[str] = ()) -> str:
        """The program after a stage of the compiler: ast, checked, ir or optimised. The last two have the formats dot
        and html too; the last leaves out the passes named in `without`."""
        from flintlog.api.stages.explain import explain

        return explain(self.compilation, stage, format, tuple(without))

    def results_only(self) -> ir.Program:
        """The compiled program without what no `.output` or `.printsize` needs."""
        program = self.compilation.program
        return needed_only(program, wanted_by_directives(program))

    def optimised(self, without: Iterable[str] = (), *, verified: bool = False) -> ir.Program:
        """What computes the relations of `.output` and `.printsize`, after all passes but those in `without`."""
        return optimise_compiled(self.compilation, without=tuple(without), verified=verified).program

    def functors(self) -> dict[str, Callable[..., Any]]:
        """The functions in `functors.py` beside the program, if the program declares functors."""
        file = self._directory / "functors.py"
        if self._path is None or not self.compilation.program.functions or not file.is_file():
            return {}
        return load_functors(file)

    def run(
        self,
        more_facts: Mapping[str, Any] | None = None,
        /,
        *,
        engine: str = "auto",
        threads: int = 1,
        memory_limit: int | str | None = None,
        facts_dir: str | PathLike[str] | None = None,
        functors: Mapping[str, Callable[..., Any]] | None = None,
        without: str | Iterable[str] = (),
        spark: Any = None,
        master: str | None = None,
        strategy: str | None = None,
        partitions: int | None = None,
        checkpoint_dir: str | PathLike[str] | None = None,
        checkpoint_every: int | None = None,
        bad_records: str | PathLike[str] | None = None,
        **facts: Any,
    ) -> Result:
        """Runs the program. Relations given by name take rows, pandas or polars frames, Arrow tables, a path, or frames
        of Spark's; other inputs are read as their `.input` says. Nothing is written: the result has every relation.
        `more_facts` is for names that Python does not take as arguments: `run({"net.link": rows})`. `without` names
        passes of the optimizer to leave out; `memory_limit` is in bytes, or written as 500M or 2G.

        `spark` is a session for the engine `spark`, which runs where there is one, or a frame of Spark's; `master`,
        `strategy` and what follows are said to that engine alone."""
        data = {**(more_facts or {}), **facts}
        left_out = (without,) if isinstance(without, str) else tuple(without)
        warnings: list[Diagnostic] = []
        options = RunOptions(
            facts_dir=Path(without_scheme(str(facts_dir))) if facts_dir is not None else self._directory,
            memory_limit=None if memory_limit is None else parse_size(str(memory_limit)),
            word_size=self._word_size,
            reorder=engine_may("samples", left_out),
            warn=warnings.append,
            spark=spark_options(
                session=spark,
                master=master,
                strategy=strategy,
                partitions=partitions,
                checkpoint_dir=None if checkpoint_dir is None else str(checkpoint_dir),
                checkpoint_every=checkpoint_every,
                bad_records=None if bad_records is None else str(bad_records),
            ),
        )
        functions = {**self.functors(), **(functors or {})}
        declared = self.compilation.program
        known = [name for name in data if name in declared.relations]
        optimised = optimise_compiled(self.compilation, wanted=declared.relations, given=known, without=left_out)
        program = located(optimised.program, str(facts_dir or ""), "")
        inputs = [directive for directive in program.io if directive.kind == "input"]
        chosen = load_engine(choose_engine(engine, options, inputs, data).engine, threads)
        given, sources, options = self._handed_over(data, chosen, options)
        rows = evaluate(program, chosen, options, functors=functions, given=given, sources=sources)
        return Result(declared, rows, warnings)

    def _handed_over(
        self, data: Mapping[str, Any], engine: Engine, options: RunOptions
    ) -> tuple[dict[str, Any], list[IoDirective], RunOptions]:
        """The caller's facts in the form that the engine takes: rows or frames, and sources. The options have the
        session of these frames, unless the caller named one."""
        declared = self.compilation.program
        report = Report()
        given: dict[str, Any] = {}
        sources: list[IoDirective] = []
        spark = options.spark
        for name, facts in data.items():
            relation = relation_for(name, declared.relations, report)
            if relation is None:
                continue
            if engine.reads_sources and is_spark_frame(facts):
                given[name] = spark_frame(facts)
                if spark.session is None:
                    spark = replace(spark, session=given[name].sparkSession)
            elif engine.reads_sources and isinstance(facts, str | PathLike):
                sources.append(source_of(relation, facts))
            else:
                given[name] = rows_of(relation, facts, declared.types, self._word_size, report)
        for warning in report.warnings:
            options.warn(warning)
        report.raise_if_errors()
        return given, sources, replace(options, spark=spark)
