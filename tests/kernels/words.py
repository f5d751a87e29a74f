"""The names of `kernels/source/words.py` in plain Python: words are integers in the range of 64 signed bits."""

from __future__ import annotations

from collections.abc import Callable
from ctypes import c_int64, c_uint32
from threading import Lock
from types import SimpleNamespace
from typing import Any

from tests.kernels.memory import BadAccess, Memory

_BITS = (1 << 64) - 1
_SIGN = 1 << 63


def wrapped(value: int) -> int:
    """What 64 signed bits keep of a number."""
    return value if -_SIGN <= value < _SIGN else ((value + _SIGN) & _BITS) - _SIGN


def shifted_left(value: int, places: int) -> int:
    return wrapped(value << _places(places))


def shifted_right(value: int, places: int) -> int:
    return value >> _places(places)


def divided(value: int, by: int) -> int:
    if by in (0, -1):
        raise BadAccess(f"division by {by}")
    return value // by


def _places(places: int) -> int:
    """A shift by more is undefined: processors take the number modulo 64, compilers take it for granted."""
    if not 0 <= places < 64:
        raise BadAccess(f"shift by {places} bits")
    return places


def words_over(memory: Memory) -> SimpleNamespace:
    """The loads and stores that kernels import, each of them checked."""
    lock = Lock()  # threads run between any two operations of Python

    check = memory.check

    def load(base: int, index: int) -> int:
        address = base + 8 * index
        check(address, 8, False)
        return c_int64.from_address(address).value

    def store(base: int, index: int, value: int) -> None:
        address = base + 8 * index
        check(address, 8, True)
        c_int64.from_address(address).value = value

    def load_half(base: int, index: int) -> int:
        address = base + 4 * index
        check(address, 4, False)
        return c_uint32.from_address(address).value

    def store_half(base: int, index: int, value: int) -> None:
        address = base + 4 * index
        check(address, 4, True)
        if not 0 <= value < 1 << 32:
            raise BadAccess(f"{value} does not fit into 32 bits")
        c_uint32.from_address(address).value = value

    def changing(
        load: Callable[[int, int], int], store: Callable[[int, int, int], None], change: Callable[..., int]
    ) -> Callable[..., int]:
        """An exchange: writes what `change` makes of the value at an index, and returns the value."""

        def exchange(base: int, index: int, *arguments: int) -> int:
            with lock:
                known = load(base, index)
                store(base, index, change(known, *arguments))
            return known

        return exchange

    def swapped(known: int, expected: int, value: int) -> int:
        return value if known == expected else known

    def plain(kernel: Any) -> Any:
        return kernel

    return SimpleNamespace(
        load=load,
        load_shared=load,
        store=store,
        load_half=load_half,
        load_half_shared=load_half,
        store_half=store_half,
        swap_if=changing(load, store, swapped),
        swap_half_if=changing(load_half, store_half, swapped),
        fetch_add=changing(load, store, lambda known, value: wrapped(known + value)),
        fetch_or=changing(load, store, lambda known, value: known | value),
        prefetch=lambda address: None,
        shift_right=lambda value, places: wrapped((value & _BITS) >> _places(places)),
        below=lambda a, b: (a & _BITS) < (b & _BITS),
        inlined=plain,
        function=plain,
    )
