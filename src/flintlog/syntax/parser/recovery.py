"""Where to read on after a mistake, so that one mistake gives one message."""

from __future__ import annotations

from flintlog.syntax.parser.cursor import Cursor, Mistake
from flintlog.syntax.parser.rules import at_plan, parse_plan
from flintlog.syntax.tokens import DIRECTIVE, END, ERROR, IDENT, Token


def recover(cursor: Cursor, start: Token) -> None:
    """Moves to where the next item most likely begins: past the dot that ends a clause, to a directive (or a
    misspelt one) at the beginning of a line or, out of a directive, to a line that is indented no deeper than it."""
    is_clause = start.kind != DIRECTIVE and start.kind != "."
    column = start.column
    moved = cursor.token is not start
    while cursor.kind != END:
        token = cursor.token
        if moved and token.is_first_on_line and not at_plan(cursor):
            outdented = token.kind == IDENT and not is_clause and token.column <= column
            if (
                token.kind in (DIRECTIVE, "}")
                or outdented
                or (token.kind == "." and _joins_names(token, cursor.peek()))
            ):
                return
        cursor.advance()
        moved = True
        if token.kind == "." and not _joins_names(token, cursor.token):
            _skip_plan(cursor)
            return
        if token.kind == ERROR and token.text.startswith('"'):
            _skip_line(cursor)
            return


def _joins_names(dot: Token, following: Token) -> bool:
    return following.kind == IDENT and not following.has_gap_after(dot)


def _skip_plan(cursor: Cursor) -> None:
    try:
        parse_plan(cursor)
    except Mistake:
        recover(cursor, cursor.token)


def _skip_line(cursor: Cursor) -> None:
    """An unterminated string has swallowed the end of its line, and with it most likely the end of its clause."""
    while cursor.kind != END and not cursor.token.is_first_on_line:
        cursor.advance()
