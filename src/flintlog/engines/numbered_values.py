"""Which number stands for which symbol, record or branch."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from itertools import count
from struct import pack
from typing import Any, cast

from flintlog.types import Adt, Value

# Stands before the bits of a float: nothing that a program makes equals it.
_FLOAT = object()


class NumberedValues:
    """Values have the numbers 0, 1, … in the order in which they come.

    >>> known = NumberedValues(["a"])
    >>> known.number("b"), known.number("a"), known.number((1,)), known.number((1.0,)), known.values
    (1, 0, 2, 3, ['a', 'b', (1,), (1.0,)])
    """

    def __init__(self, values: Iterable[Value] = ()) -> None:
        self.values: list[Value] = []
        self._numbers: dict[Any, int] = {}
        self._plain: set[int] = set()  # records and branches without floats, by identity, as long as they are here
        for value in values:
            self.learn(len(self.values), value)

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, value: Value) -> bool:
        return self._key(value) in self._numbers

    def number(self, value: Value) -> int:
        """The number of a value; the next one if it has none yet."""
        key = value if isinstance(value, str) else self._key(value)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.values)
            self.values.append(value)
            if key is value and isinstance(value, tuple):
                self._plain.add(id(value))
        return number

    def numbers(self, texts: Sequence[str]) -> list[int]:
        """The numbers of symbols; in order of appearance for those that have none yet.

        >>> NumberedValues(["a", "b"]).numbers(["c", "b", "d", "c"])
        [2, 1, 3, 2]
        """
        numbers = self._numbers
        found = list(map(numbers.get, texts))
        if None not in found:
            return cast("list[int]", found)
        missing = [text for text, number in dict(zip(texts, found, strict=True)).items() if number is None]
        numbers.update(zip(missing, count(len(self.values))))
        self.values += missing
        return [numbers[text] for text in texts]

    def learn(self, number: int, value: Value) -> None:
        """Takes in a value that has its number already. Numbers between that are left out have no value yet."""
        self.values.extend([None] * (number + 1 - len(self.values)))
        self._plain.discard(id(self.values[number]))
        self.values[number] = value
        key = self._key(value)
        self._numbers.setdefault(key, number)
        if key is value and isinstance(value, tuple):
            self._plain.add(id(value))

    def forget(self, since: int) -> None:
        """Takes the values from some number on back."""
        for value in self.values[since:]:
            self._numbers.pop(self._key(value), None)
        for value in self.values[since:]:
            self._plain.discard(id(value))
        del self.values[since:]

    def _key(self, value: Value) -> Any:
        return key_of(value, self._plain)


def key_of(value: Any, plain: Container[int] = ()) -> Any:
    """What tells values, or rows, apart: to Python, 1 and 1.0 are equal, and so are records of them. Floats are their
    bits. Those at `plain` addresses are known to have none."""
    return _with_bits(value) if _has_float(value, plain) else value


def _has_float(value: Any, plain: Container[int]) -> bool:
    if not isinstance(value, tuple):
        return isinstance(value, float)
    waiting = [value]
    while waiting:  # lists may be as deep as they are long
        for part in waiting.pop():
            if isinstance(part, tuple):
                if id(part) not in plain:
                    waiting.append(part)
            elif isinstance(part, float):
                return True
    return False


def _with_bits(value: Any) -> Any:
    if isinstance(value, Adt):
        return Adt, value.branch, _with_bits(value.args)
    if isinstance(value, tuple):
        return tuple([_with_bits(part) for part in value])
    return (_FLOAT, pack("<d", value)) if isinstance(value, float) else value
