"""Options that a program sets itself: `.pragma "key" "value"`."""

from __future__ import annotations

from collections.abc import Iterable

from flintlog.diagnostics import Label, Report, did_you_mean
from flintlog.syntax import ast

# Soufflé's options. Those that mean nothing here are accepted, so that its programs run.
_KNOWN = frozenset(
    (
        "auto-schedule",
        "compile",
        "compile-many",
        "debug-report",
        "disable-transformers",
        "dl-program",
        "emit-statistics",
        "fact-dir",
        "generate",
        "generate-many",
        "generate-namespace",
        "help",
        "include-dir",
        "inline-exclude",
        "jobs",
        "legacy",
        "libraries",
        "library-dir",
        "live-profile",
        "macro",
        "magic-transform",
        "magic-transform-exclude",
        "no-preprocessor",
        "no-warn",
        "output-dir",
        "parse-errors",
        "pragma",
        "preprocessor",
        "profile",
        "profile-frequency",
        "provenance",
        "RamSIPS",
        "show",
        "suppress-warnings",
        "swig",
        "verbose",
        "version",
        "warn",
        "wno",
    )
)
_MANY = frozenset(("include-dir", "libraries", "library-dir", "pragma", "show", "warn", "wno"))


def check_pragmas(pragmas: Iterable[ast.Pragma], report: Report) -> None:
    """Warns of unknown options and of options set twice."""
    first: dict[str, ast.Pragma] = {}
    for pragma in pragmas:
        if pragma.key not in _KNOWN:
            report.warning(
                "W208",
                f"unknown pragma `{pragma.key}` is ignored",
                pragma.span,
                note=did_you_mean(pragma.key, sorted(_KNOWN)) or "remove it",
            )
        elif pragma.key in first and pragma.key not in _MANY:
            report.warning(
                "W209",
                f"pragma `{pragma.key}` is set twice",
                pragma.span,
                labels=[Label(first[pragma.key].span, "set here before")],
                note="the last one counts; remove the other",
            )
        first.setdefault(pragma.key, pragma)


def is_legacy(pragmas: Iterable[ast.Pragma]) -> bool:
    """Whether the program asks for Soufflé's old, lenient typing of atoms."""
    return any(pragma.key == "legacy" for pragma in pragmas)


def suppressed_relations(pragmas: Iterable[ast.Pragma]) -> frozenset[str]:
    """The relations about which no warnings are wanted; `*` stands for all."""
    pragmas = list(pragmas)
    if any(pragma.key == "no-warn" for pragma in pragmas):
        return frozenset("*")
    value = next((p.value for p in reversed(pragmas) if p.key == "suppress-warnings"), "")
    return frozenset(name.strip() for name in value.split(",") if name.strip())
