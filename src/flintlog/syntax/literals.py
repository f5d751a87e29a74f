"""Literals: from the text of a token to its value, and back."""

from __future__ import annotations

import re

from flintlog.diagnostics import Report
from flintlog.source import Span
from flintlog.syntax.tokens import Token

_ESCAPES = {
    '"': '"',
    "'": "'",
    "\\": "\\",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
}
_WRITTEN = {value: "\\" + letter for letter, value in _ESCAPES.items() if letter != "'"}
_ESCAPE = re.compile(r"\\(\r?\n|.)", re.DOTALL)
_NEEDS_ESCAPE = re.compile(r'["\\\a\b\f\n\r\t\v]')


def string_value(token: Token, report: Report) -> str:
    """The value of a string token, its escapes resolved; reports those that do not exist."""
    inside = token.text[1:-1]
    if "\\" not in inside:
        return inside

    def resolve(escape: re.Match[str]) -> str:
        letter = escape.group(1)
        if letter[-1] == "\n":
            return ""  # a backslash at a line's end joins the lines
        if letter not in _ESCAPES:
            _report_escape(token, escape, report)
        return _ESCAPES.get(letter, "")

    return _ESCAPE.sub(resolve, inside)


def _report_escape(token: Token, escape: re.Match[str], report: Report) -> None:
    span = token.span
    if span.text == token.text:
        span = Span(token.file, token.start + 1 + escape.start(), token.start + 1 + escape.end())
    note = "the escapes are \\\" \\\\ \\n \\t \\r \\a \\b \\f \\v \\'; a backslash itself is written `\\\\`"
    report.error("E104", f"unknown escape `{escape.group()}` in a string", span, note=note)


def quote(value: str) -> str:
    r"""The value as a string literal.

    >>> print(quote('say "hi"\n'))
    "say \"hi\"\n"
    """
    return '"' + _NEEDS_ESCAPE.sub(lambda found: _WRITTEN[found.group()], value) + '"'


def number_value(text: str) -> int:
    """The value of an integer literal as the lexer reads it.

    >>> number_value("0x1f"), number_value("0b101u"), number_value("007")
    (31, 5, 7)
    """
    digits = text.removesuffix("u")
    base = {"0x": 16, "0b": 2}.get(digits[:2], 10)
    return int(digits, base)
