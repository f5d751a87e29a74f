"""The machine of a task: which symbols and records words stand for, all of them or only the program's constants."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from flintlog.diagnostics import InternalError
from flintlog.engines.numbered_values import NumberedValues
from flintlog.engines.protocol import FUNCTOR_MODULES
from flintlog.engines.reference.closures import Machine
from flintlog.ir.words import Words
from flintlog.source import Span
from flintlog.types import Kind, Value


@dataclass(frozen=True)
class MachineSeed:
    """What a task needs to make its machine. `values` have the numbers 0, 1, …; unless these are `all` values of the
    run, the machine raises InternalError for another one."""

    word_size: int
    values: Sequence[Value]
    all: bool
    functions: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def machine(self, notify: Callable[[str, Span], None]) -> Machine:
        kind = Machine if self.all else _SealedMachine
        machine = kind(Words(self.word_size), self.functions, notify)
        machine.known = NumberedValues(self.values)
        return machine


def travel_by_value(functions: Mapping[str, Callable[..., Any]]) -> None:
    """Has Spark pickle the functions of users' files with their code: no task could import such a file."""
    if not functions:
        return
    from pyspark import cloudpickle

    # Modules of users' files only: the functions at hand are closures of `api.functors` around what these define.
    for name, module in list(sys.modules.items()):
        if name.startswith(FUNCTOR_MODULES):
            cloudpickle.register_pickle_by_value(module)


def values_since(machine: Machine, known: int) -> list[tuple[int, Value]]:
    """The values that a machine has numbered after the first `known`, with their numbers."""
    return list(enumerate(machine.known.values[known:], known))


class _SealedMachine(Machine):
    """Takes no new values: two tasks would give the same number to different ones."""

    def word(self, value: Any, kind: Kind) -> int:
        if not kind.is_numeric and value is not None and value not in self.known:
            raise InternalError("spark", f"a task came upon the value {value!r}, which it was not given")
        return super().word(value, kind)

    def value(self, word: int, kind: Kind) -> Any:
        if not kind.is_numeric and word - (kind is not Kind.SYMBOL) >= len(self.known):
            raise InternalError("spark", f"a task looked into the {kind.value} {word}, which it was not given")
        return super().value(word, kind)

    def intern(self, texts: Sequence[str]) -> list[int]:
        return [self.word(text, Kind.SYMBOL) for text in texts]
