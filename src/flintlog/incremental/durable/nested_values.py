"""Values as JSON, in which a record or branch that is part of several values is written once, at any depth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import copysign
from typing import Any

from flintlog.types import NAN, NEGATIVE_NAN, Adt, Value


class PartsWriter:
    """Turns values into JSON words. A record or branch becomes `{"part": n}`, a reference to element n of `parts`.

    >>> tail = (2, None)
    >>> writer = PartsWriter()
    >>> [writer.word(value) for value in (7, tail, (1, tail))]
    [7, {'part': 0}, {'part': 1}]
    >>> writer.parts
    [[2, None], [1, {'part': 0}]]
    >>> value_of_word({"part": 1}, known_parts(writer.parts))
    (1, (2, None))
    """

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self._numbers: dict[int, int] = {}  # by `id`: the caller keeps the values alive

    def word(self, value: Value) -> Any:
        waiting = [value]
        while waiting:
            some = waiting[-1]
            if not isinstance(some, tuple) or id(some) in self._numbers:
                waiting.pop()
                continue
            within = _parts(some)
            unknown = [part for part in within if isinstance(part, tuple) and id(part) not in self._numbers]
            if unknown:
                waiting += unknown
                continue
            words = [self._known(part) for part in within]
            self._numbers[id(some)] = len(self.parts)
            self.parts.append({"branch": some.branch, "of": words} if isinstance(some, Adt) else words)
            waiting.pop()
        return self._known(value)

    def _known(self, value: Value) -> Any:
        return {"part": self._numbers[id(value)]} if isinstance(value, tuple) else _plain(value)


def known_parts(parts: Iterable[Any]) -> list[Value]:
    """The values of a writer's `parts`, in their order."""
    known: list[Value] = []
    for part in parts:
        known.append(value_of_word(part, known))
    return known


def value_of_word(word: Any, known: Sequence[Value]) -> Value:
    """The value of a word that a writer made, or of an older word, which contains its parts."""
    if isinstance(word, list):
        return tuple([value_of_word(inner, known) for inner in word])
    if isinstance(word, dict):
        if "part" in word:
            return known[word["part"]]
        if "nan" in word:
            return NAN if word["nan"] > 0 else NEGATIVE_NAN
        return Adt(word["branch"], tuple([value_of_word(inner, known) for inner in word["of"]]))
    value: Value = word
    return value


def _plain(value: Value) -> Any:
    """The word of a value without parts."""
    if isinstance(value, float) and value != value:
        return {"nan": copysign(1, value)}
    return value


def _parts(value: Any) -> Sequence[Value]:
    return value.args if isinstance(value, Adt) else value
