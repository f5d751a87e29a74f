"""Annotations, `@[key = value]` and `@![key]`: read and left out, as nothing here depends on them."""

from __future__ import annotations

from flintlog.syntax.parser.cursor import Cursor
from flintlog.syntax.tokens import END

_CLOSING = {"(": ")", "[": "]", "{": "}"}


def skip_annotations(cursor: Cursor) -> None:
    """Moves past all annotations that stand here."""
    while cursor.kind == "@":
        distance = 2 if cursor.peek().kind == "!" else 1
        if cursor.peek(distance).kind != "[":
            return
        for _ in range(distance):
            cursor.advance()
        _skip_brackets(cursor)


def _skip_brackets(cursor: Cursor) -> None:
    closing = [_CLOSING[cursor.advance().kind]]
    while closing:
        if cursor.kind == END:
            cursor.unexpected(f"`{closing[-1]}` after an annotation")
        kind = cursor.advance().kind
        if kind in _CLOSING:
            closing.append(_CLOSING[kind])
        elif kind == closing[-1]:
            closing.pop()
