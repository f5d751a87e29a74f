"""Checks a program given as text, for the tests of this room."""

from __future__ import annotations

from flintlog.check.check import check
from flintlog.check.checked import CheckedProgram
from flintlog.diagnostics import Diagnostic, Report
from flintlog.source import SourceFile
from flintlog.syntax.parser import parse


def diagnose(text: str) -> list[Diagnostic]:
    """Everything the parser and the checks say, in the order of the text."""
    report = Report()
    check(parse(SourceFile("test.dl", text), report), report)
    return report.sorted()


def errors(text: str) -> list[str]:
    """The codes of the errors."""
    return [d.code for d in diagnose(text) if d.is_error]


def warnings(text: str) -> list[str]:
    """The codes of the warnings of a program without errors."""
    found = diagnose(text)
    assert [d.render() for d in found if d.is_error] == []
    return [d.code for d in found]


def checked(text: str) -> CheckedProgram:
    """The checked program; fails the test if there are errors."""
    report = Report()
    result = check(parse(SourceFile("test.dl", text), report), report)
    assert result is not None, "\n".join(d.render() for d in report.errors)
    return result


def relation_names(program: CheckedProgram) -> list[str]:
    return list(program.relations)
