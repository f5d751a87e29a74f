"""The one decorator of all kernels: it owns the compiler's flags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compiles without the GIL, so that threads run side by side, and keeps the machine code on disk."""
    return cast("Kernel", numba.njit(nogil=True, cache=True, boundscheck=False)(function))


def inlined(function: Kernel) -> Kernel:
    """For what kernels call in their inner loop."""
    return cast("Kernel", numba.njit(nogil=True, cache=True, boundscheck=False, inline="always")(function))
