"""From text to optimised IR: the data flow of the compiler in one screen."""

from __future__ import annotations

import gc
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from flintlog.check.check import check
from flintlog.check.checked import CheckedProgram
from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError, Report
from flintlog.ir.program import IoDirective, Program
from flintlog.lower.lower import lower
from flintlog.passes.context import PassContext, wanted_by_directives
from flintlog.passes.remove_unneeded import needed_only
from flintlog.passes.sequence import Applied, applied_passes, check_names
from flintlog.source import SourceFile
from flintlog.syntax import ast
from flintlog.syntax.parser import parse

STAGES = ("ast", "checked", "ir", "optimised")


@dataclass(frozen=True, eq=False)
class Compilation:
    """A program after every stage. `report` holds what there is to say about it; with errors in it, the stages after
    the one that found them are None."""

    ast: ast.Program
    checked: CheckedProgram | None
    ir: Program | None
    report: Report
    word_size: int = 64

    @property
    def program(self) -> Program:
        """The IR; raises all errors if there are any."""
        self.report.raise_if_errors()
        assert self.ir is not None
        return self.ir


@contextmanager
def collection_paused() -> Iterator[None]:
    """Without garbage collection: trees stay alive anyway, and looking for garbage takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@deep_recursion()
@collection_paused()
def compile_source(
    source: SourceFile,
    *,
    word_size: int = 64,
    include_dirs: Sequence[Path] = (),
    defines: Mapping[str, str] | None = None,
) -> Compilation:
    """Takes a text through all stages that its mistakes allow. As in Soufflé, the preprocessor knows the word size."""
    report = Report()
    macros = {"RAM_DOMAIN_SIZE": str(word_size), **(defines or {})}
    tree = parse(source, report, include_dirs=include_dirs, defines=macros)
    checked = check(tree, report, word_size=word_size)
    lowered = None
    if checked is not None and not report.has_errors:
        try:
            lowered = lower(checked, word_size=word_size)
        except FlintlogError as error:
            for diagnostic in error.diagnostics:
                report.add(diagnostic)
    return Compilation(tree, checked, lowered, report, word_size)


@dataclass(frozen=True, eq=False)
class Optimisation:
    """What the passes made of a program, one after the other. `start` is what they began with: the part of the program
    that its results need."""

    start: Program
    passes: Sequence[Applied]

    @property
    def program(self) -> Program:
        return self.passes[-1].after if self.passes else self.start


@collection_paused()
def optimise_compiled(
    compilation: Compilation,
    *,
    wanted: Collection[str] | None = None,
    given: Collection[str] = (),
    without: Collection[str] = (),
    verified: bool = False,
) -> Optimisation:
    """Takes a compiled program through the passes. `wanted` are the relations that will be looked at, unless told those
    of `.output` and `.printsize`; `given` are relations that get rows from outside, as if they had an `.input`."""
    check_names(without)
    program = compilation.program
    inputs = tuple(IoDirective("input", name) for name in given)
    program = replace(program, io=(*program.io, *inputs)) if inputs else program
    names = wanted_by_directives(program) if wanted is None else frozenset(wanted)
    assert compilation.checked is not None
    pragmas = {pragma.key: pragma.value for pragma in compilation.checked.pragmas}
    context = PassContext(names, compilation.word_size, pragmas=pragmas)
    start = needed_only(program, names)
    return Optimisation(start, applied_passes(start, context, without, verified=verified))


def read_source(path: Path) -> SourceFile:
    """The text of a program file; a file that cannot be read is the user's mistake."""
    try:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        reason = error.strerror or str(error)
        note = "a program is read from a file; `-` does not stand for standard input" if str(path) == "-" else None
        message = f"cannot read the program `{path}`: {reason.lower()}"
        raise FlintlogError([Diagnostic("E110", message, note=note)]) from None
    return SourceFile(str(path), text)
