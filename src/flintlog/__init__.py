"""Flintlog: Datalog in Soufflé's dialect, from Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = ["Adt", "Database", "Diagnostic", "FlintlogError", "Program", "Result", "functor"]

if TYPE_CHECKING:
    from flintlog.api.database import Database
    from flintlog.api.functors import functor
    from flintlog.api.result import Result
    from flintlog.api.user_program import Program
    from flintlog.diagnostics import Diagnostic, FlintlogError
    from flintlog.types import Adt

_HOMES = {
    "Adt": "flintlog.types",
    "Database": "flintlog.api.database",
    "Diagnostic": "flintlog.diagnostics",
    "FlintlogError": "flintlog.diagnostics",
    "Program": "flintlog.api.user_program",
    "Result": "flintlog.api.result",
    "functor": "flintlog.api.functors",
}


if not TYPE_CHECKING:  # a type checker sees the imports above, and that there are no other names

    def __getattr__(name: str) -> Any:
        # Public names are loaded on first use, so that `flintlog --help` need not import the compiler.
        if name in _HOMES:
            from importlib import import_module

            return getattr(import_module(_HOMES[name]), name)
        raise AttributeError(f"module 'flintlog' has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted([*__all__, "__version__"])
