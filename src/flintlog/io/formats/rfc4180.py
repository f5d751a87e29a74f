"""Comma-separated values with quoted fields, as Soufflé's rfc4180=true reads and writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from flintlog.io.formats.cells import Cell, Cells
from flintlog.io.parameters import Dialect

# What Soufflé writes for a quotation mark inside a symbol: a backslash before the doubled mark.
QUOTATION_MARK = '\\""'

_QUOTED = re.compile(r'"([^"]*(?:""[^"]*)*)"')


def records(text: str, dialect: Dialect) -> Iterator[Cells]:
    """The fields of each row, as far as they are needed. Quoted fields may contain line breaks."""
    needed = max(dialect.picks, default=-1) + 1
    position, line = 0, 1
    if dialect.headers:
        position, line = _line_end(text, 0) + 1, 2
    while position < len(text):
        record = Cells("", line)
        end = _read_record(text, position, needed, dialect.delimiter, record)
        record.excerpt = text[position:end]
        yield record
        line += text.count("\n", position, end) + 1
        position = end + 1


def _read_record(text: str, start: int, needed: int, delimiter: str, record: Cells) -> int:
    """Reads fields into `record`, their places counted from `start`, and returns the end of the record's last line."""
    position, line_end = start, _line_end(text, start)
    for _ in range(needed):
        stop = _without_return(text, position, line_end)
        if position > stop:
            break
        if text.startswith('"', position):
            match = _QUOTED.match(text, position)
            if match is None:
                record.problem = ("E705", "the quotation mark is never closed", position - start, position - start + 1)
                return len(text)
            end = match.end()
            line_end = _line_end(text, end)
            stop = _without_return(text, end, line_end)
            if end != stop and not text.startswith(delimiter, end):
                message = "a delimiter or the end of the line must follow a quoted field"
                record.problem = ("E705", message, end - start, end - start + 1)
                return line_end
            field = match[1].replace('""', '"')
        else:
            found = text.find(delimiter, position, stop)
            end = found if found >= 0 else stop
            field = text[position:end]
        record.cells.append(Cell(field, position - start, end - start))
        position = end + len(delimiter)
    return line_end


def _line_end(text: str, position: int) -> int:
    end = text.find("\n", position)
    return end if end >= 0 else len(text)


def _without_return(text: str, start: int, line_end: int) -> int:
    return line_end - 1 if line_end > start and text[line_end - 1] == "\r" else line_end


def print_symbol(symbol: str) -> str:
    r"""A column's symbol. Soufflé reads the backslash before a quotation mark back as part of a column's symbol; files
    must agree with its own, so Flintlog does the same.

    >>> print(print_symbol('5" tube'))
    "5\"" tube"
    """
    return '"' + symbol.replace('"', QUOTATION_MARK) + '"'


def print_nested_symbol(symbol: str) -> str:
    """A symbol inside a record: quoted for the record, and its quotation marks doubled for the field around it.

    >>> print_nested_symbol("a, b")
    '""a, b""'
    """
    return '""' + symbol.replace('"', QUOTATION_MARK) + '""'
