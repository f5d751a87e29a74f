"""Functions of the user's that programs call as `@name`: their registration, loading and calling."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from flintlog.api.values import NotAValue, converter, plain
from flintlog.diagnostics import Diagnostic, FlintlogError, did_you_mean
from flintlog.engines.protocol import FUNCTOR_MODULES
from flintlog.ir.nodes import Aggregate
from flintlog.ir.operations import EvaluationError
from flintlog.ir.program import Program, UserFunction
from flintlog.ir.scalar import UserCall
from flintlog.ir.visit import node_terms, walk, walk_scalar
from flintlog.ir.words import Words
from flintlog.types import Adt, Kind, TypeTable

Function = TypeVar("Function", bound=Callable[..., Any])

_registered: dict[str, Callable[..., Any]] = {}

_PYTHON_TYPES: dict[Kind, type | tuple[type, ...]] = {
    Kind.NUMBER: int,
    Kind.UNSIGNED: int,
    Kind.FLOAT: (float, int),
    Kind.SYMBOL: str,
    Kind.RECORD: (tuple, type(None)),
    Kind.ADT: Adt,
}


def functor(function: Function) -> Function:
    """Makes a function available to programs as `@name`. Numbers come and go as int, floats as float, symbols as str,
    records as tuples (nil as None), branches of algebraic data types as flintlog.Adt.

    >>> @functor
    ... def half(x: int) -> int:
    ...     return x // 2
    """
    _registered[function.__name__] = function
    return function


def load_functors(path: Path) -> dict[str, Callable[..., Any]]:
    """The functions that a Python file defines, registered or not."""
    spec = importlib.util.spec_from_file_location(FUNCTOR_MODULES + path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FlintlogError([Diagnostic("E902", f"cannot read the functors `{path}`")])
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        message = f"`{path}` fails when it is imported: {type(error).__name__}: {error}"
        raise FlintlogError([Diagnostic("E902", message)]) from error
    return {name: value for name, value in vars(module).items() if callable(value) and not name.startswith("_")}


BESIDE_THE_PROGRAM = "in `functors.py` beside the program"


def bind_functors(
    program: Program, given: Mapping[str, Callable[..., Any]], words: Words, where: str = BESIDE_THE_PROGRAM
) -> dict[str, Callable[..., Any]]:
    """The function for each `.functor` of the program, its results checked against the declaration. `where` is where a
    user may write one, beside the places that all have."""
    known = {**_registered, **given}
    called = _called(program)
    missing = [
        Diagnostic(
            "E903",
            f"there is no function for the functor `@{name}`",
            signature.span,
            did_you_mean(name, known)
            or f"write it in Python: {where}, in a file named with --functors, or registered with @flintlog.functor",
        )
        for name, signature in program.functions.items()
        if name in called and name not in known
    ]
    missing += [
        Diagnostic("E903", f"the functor `@{name}` is no function but {known[name]!r}", program.functions[name].span)
        for name in sorted(called)
        if name in known and not callable(known[name])
    ]
    if missing:
        raise FlintlogError(missing)
    return {name: _checked(known[name], program.functions[name], program.types, words) for name in called}


def _called(program: Program) -> set[str]:
    """The functors that some rule or lattice calls; a declaration alone needs no function."""
    bodies = [rule.body for stratum in program.strata for rule in stratum.rules]
    bodies += [subsumption.body for stratum in program.strata for subsumption in stratum.subsumptions]
    nodes = [node for body in bodies for node in walk(body)]
    merges = [merge for relation in program.relations.values() for merge in relation.merge if merge is not None]
    terms = [*merges, *(term for node in nodes for term in node_terms(node))]
    calls = {scalar.name for term in terms for scalar in walk_scalar(term) if isinstance(scalar, UserCall)}
    return calls | {node.fold.op[1:] for node in nodes if isinstance(node, Aggregate) and node.fold.op.startswith("@")}


def _checked(
    function: Callable[..., Any], signature: UserFunction, types: TypeTable, words: Words
) -> Callable[..., Any]:
    name, kind = signature.name, signature.result
    expected = _PYTHON_TYPES[kind]
    conversions: dict[Kind, Callable[[Any], Any]] = {
        Kind.NUMBER: words.signed,
        Kind.UNSIGNED: words.unsigned,
        Kind.FLOAT: lambda result: words.real(float(result)),
    }
    convert = conversions.get(kind, lambda result: result)
    if kind in (Kind.RECORD, Kind.ADT) and signature.result_type in types:
        convert = converter(signature.result_type, types, words.size)

    def call(*args: Any) -> Any:
        try:
            result: Any = plain(function(*args))
        except Exception as error:
            raise EvaluationError(f"the functor `@{name}` failed: {type(error).__name__}: {error}") from error
        if not isinstance(result, expected) or isinstance(result, bool):
            raise EvaluationError(f"the functor `@{name}` returned {result!r}, which is not a {kind.value}")
        try:
            return convert(result)
        except NotAValue as error:
            raise EvaluationError(f"the functor `@{name}` returned a value that {error}") from None

    return call
