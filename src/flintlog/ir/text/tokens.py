"""Splits a line of IR text into tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.ir.text.spelling import PLAIN_NAME, read_enclosed
from flintlog.source import SourceFile, Span
from flintlog.types import Kind, Value


@dataclass(frozen=True, slots=True)
class Token:
    """`form` is name, quoted (a name in backticks), constant, symbol or end. `text` is a name without its backticks.
    A constant has its value and kind."""

    form: str
    text: str
    span: Span
    value: Value = None
    kind: Kind = Kind.NUMBER


_TOKEN = re.compile(
    rf"""(?P<blank>[ ]+|\#.*)
    | (?P<text>"(?:[^"\\]|\\.)*")
    | (?P<quoted>`(?:[^`\\]|\\.)*`)
    | (?P<float>-?(?:[0-9]+\.[0-9]+(?:e[+-]?[0-9]+)?|[0-9]+e[+-]?[0-9]+)|(?:-?inf|nan)(?![A-Za-z0-9_?$.]))
    | (?P<unsigned>[0-9]+u(?![A-Za-z0-9_?$.]))
    | (?P<number>-?[0-9]+(?![A-Za-z0-9_?$.]))
    | (?P<name>{PLAIN_NAME})
    | (?P<symbol>!=|<=|>=|[-+*/%^<>=(){{}}\[\],:|@$])
    """,
    re.VERBOSE,
)


def tokenize(file: SourceFile, start: int, end: int) -> Iterator[Token]:
    """The tokens of one line, [start, end) of the file's text, with a token `end` after the last."""
    position = start
    while position < end:
        found = _TOKEN.match(file.text, position, end)
        if found is None:
            raise FlintlogError([_unreadable(Span(file, position, end))])
        if found.lastgroup != "blank":
            yield _token(str(found.lastgroup), found[0], Span(file, position, found.end()))
        position = found.end()
    yield Token("end", "end of line", Span(file, end, end))


def _token(group: str, text: str, span: Span) -> Token:
    match group:
        case "text":
            return Token("constant", text, span, read_enclosed(text), Kind.SYMBOL)
        case "float":
            # One object for every nan, so that trees which hold it can be equal.
            return Token("constant", text, span, math.nan if text == "nan" else float(text), Kind.FLOAT)
        case "unsigned":
            return Token("constant", text, span, int(text[:-1]), Kind.UNSIGNED)
        case "number":
            return Token("constant", text, span, int(text), Kind.NUMBER)
        case "quoted":
            return Token("quoted", read_enclosed(text), span)
        case "name" if text == "nil":
            return Token("constant", text, span, None, Kind.RECORD)
        case _:
            return Token(group, text, span)


def _unreadable(rest: Span) -> Diagnostic:
    first = rest.text[0]
    if first in '"`':
        return Diagnostic("E950", f"the closing {first} is missing", rest, "a text or name ends on its own line")
    here = Span(rest.file, rest.start, rest.start + 1)
    return Diagnostic("E951", f"unexpected character {first!r} in IR text", here, "odd names stand in `backticks`")
