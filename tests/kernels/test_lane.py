"""What checked kernels refuse, and that they compute as the compiled ones do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.kernels.checked import CheckedKernels, Edit, checked_kernels
from tests.kernels.memory import BadAccess
from tests.unit.engines.local.arrays import MAX, MIN, slot, words

from flintlog.engines.local.kernels.library import Kernels, address, kernels
from flintlog.engines.local.storage.block import Log, block_of

compiled: Callable[[], Kernels] = kernels


def planted(module: str, before: str, after: str) -> Edit:
    """Puts a mistake into a module."""

    def edit(name: str, text: str) -> str:
        assert name != module or before in text
        return text.replace(before, after) if name == module else text

    return edit


def added(text: str) -> Edit:
    """Adds a kernel of two words."""
    imports = f"from {kernels.__module__.removesuffix('.library')}.source.words import below, fetch_add, shift_right"
    kernel = f"{imports}\n\n\ndef added(a, b):\n    return {text}\n\n\nKERNELS['added'] = added\n"
    return lambda name, source: f"{source}\n\n{kernel}" if name == "pairs" else source


def numbered(run: CheckedKernels | Kernels, values: np.ndarray) -> tuple[int, list[int], list[int]]:
    table, found = np.zeros(128, np.int64), np.empty(values.size, np.int64)
    count = run.number_words(address(values), values.size, address(table), 6, address(found), 0)
    return count, found.tolist(), table.tolist()


VALUES = [0, 1, -1, MIN, MAX, 7, MIN, 1 << 62, 0x12345678]


def test_words_are_hashed_as_machine_code_does_it() -> None:
    """Products and sums of 64 bits wrap around; shifts fill up with zeros."""
    expected = numbered(compiled(), words(VALUES))
    with checked_kernels() as run:
        assert numbered(run, words(VALUES)) == expected
    assert expected[2][2 * slot(MAX, 6)] == MAX


@pytest.mark.parametrize(
    ("text", "a", "b", "expected"),
    [
        ("a + b", MAX, 1, MIN),
        ("a - b", MIN, 1, MAX),
        ("a * b", 1 << 62, 6, MIN),
        ("-a + b", MIN, 0, MIN),
        ("a << b", 3, 63, MIN),
        ("a >> b", MIN, 63, -1),
        ("shift_right(a, b)", MIN, 63, 1),
        ("shift_right(a, b)", -1, 0, -1),
        ("a // b", -7, 2, -4),
        ("below(a, b)", 1, -1, 1),
        ("fetch_add(a, 0, b)", None, 1, MAX),
    ],
)
def test_arithmetic_wraps(text: str, a: int | None, b: int, expected: int) -> None:
    memory = words([MAX])
    with checked_kernels(added(text)) as run:
        assert run.added(address(memory) if a is None else a, b) == expected
    assert memory.tolist() == [MAX if a is not None else MIN]


@pytest.mark.parametrize("text", ["a << 64", "a << b", "a >> 64", "shift_right(a, 64)", "a // 0", "a // b"])
def test_what_no_processor_defines_is_refused(text: str) -> None:
    with checked_kernels(added(text)) as run, pytest.raises(BadAccess, match=r"added\(1, -1\): (shift|division) by"):
        run.added(1, -1)


@pytest.mark.parametrize(
    ("module", "before", "after", "message"),
    [
        (
            "numbers",
            "load(words, i)",
            "load(words, i + 1)",
            r"load of 8 bytes .* 0 bytes behind .* ndarray of 72 bytes",
        ),
        (
            "pairs",
            "store(table, 2 * slot, word)",
            "store(table, -1, word)",
            r"store of 8 bytes .* bytes (before|behind)",
        ),
        ("numbers", "load(words, i)", "load(words + 4, i)", "load of 8 bytes .* not aligned"),
    ],
)
def test_memory_of_nobody_is_refused(module: str, before: str, after: str, message: str) -> None:
    """The kernel and its arguments are named, the access, and the nearest block."""
    with (
        checked_kernels(planted(module, before, after)) as run,
        pytest.raises(BadAccess, match=rf"number_words\(.*{message}"),
    ):
        numbered(run, words(VALUES))


def test_an_array_that_nobody_may_write_is_refused() -> None:
    values, table = words(VALUES), np.zeros(128, np.int64)
    table.setflags(write=False)
    with checked_kernels() as run, pytest.raises(BadAccess, match="read-only"):
        run.number_words(address(values), 1, address(table), 6, address(values), 0)


def test_a_block_that_was_freed_is_refused() -> None:
    table, found = np.zeros(128, np.int64), np.empty(1, np.int64)
    with checked_kernels() as run, pytest.raises(BadAccess, match="freed or moved ndarray"):
        run.number_words(address(words(VALUES)), 1, address(table), 6, address(found), 0)


def test_a_log_that_has_moved_is_refused() -> None:
    with checked_kernels() as run:
        log, found = Log(lambda size: None), words([0])
        table = block_of([0] * 128)
        before = log.address
        assert run.number_words(before, 1, table.address, 6, address(found), 0) == 1
        log.reserve(1 << 16)
        assert log.address != before
        with pytest.raises(BadAccess, match="freed or moved ndarray"):
            run.number_words(before, 1, table.address, 6, address(found), 0)
