"""What the parameters of an .input or .output directive ask for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from flintlog.diagnostics import Diagnostic, FlintlogError, did_you_mean
from flintlog.source import NOWHERE, Span
from flintlog.types import Field

# Kinds of sources and sinks that only Spark knows. The last two take any option of Spark's.
SPARK_ONLY = ("table", "orc", "jsonl", "jdbc", "spark")
ANY_OPTION = ("jdbc", "spark")


class BadParameter(FlintlogError):
    """A directive's parameter that means nothing."""

    def __init__(self, code: str, message: str, span: Span, note: str) -> None:
        super().__init__([Diagnostic(code, message, span, note)])


@dataclass(frozen=True)
class Dialect:
    """How rows are laid out in delimited text. `picks` has, for each column of the relation, its place in the file."""

    delimiter: str
    rfc4180: bool
    headers: bool
    picks: tuple[int, ...]
    chosen: bool
    """Were the columns chosen by the user? If not, a file with more columns than the relation is odd."""


def relation_name(relation: str, params: Mapping[str, str]) -> str:
    """What a relation is called in file names, in databases and on the screen."""
    return params.get("name", relation)


def is_true(params: Mapping[str, str], name: str) -> bool:
    return params.get(name, "false") == "true"


def without_scheme(text: str) -> str:
    """A file of this machine as a path, also where it is spelled as an address.

    >>> without_scheme("file:///data/edges"), without_scheme("file:/data"), without_scheme("s3a://bucket/edges")
    ('/data/edges', '/data', 's3a://bucket/edges')
    """
    return re.sub(r"^file:(//localhost)?/+", "/", text)


def data_path(relation: str, params: Mapping[str, str], directory: Path, suffix: str) -> Path:
    """The file of a relation: `filename`, or its name with the usual suffix; relative to the directory."""
    return directory / params.get("filename", relation_name(relation, params) + suffix)


def dialect(params: Mapping[str, str], arity: int, span: Span = NOWHERE) -> Dialect:
    rfc4180 = is_true(params, "rfc4180")
    delimiter = params.get("delimiter", "," if rfc4180 else "\t")
    if rfc4180 and '"' in delimiter:
        note = "quotation marks enclose fields under rfc4180=true: choose another delimiter"
        raise BadParameter("E653", "the delimiter cannot contain a quotation mark", span, note)
    chosen = params.get("columns", "")
    picks = _picks(chosen, arity, span) if chosen else tuple(range(arity))
    return Dialect(delimiter, rfc4180, is_true(params, "headers"), picks, bool(chosen))


def _picks(chosen: str, arity: int, span: Span) -> tuple[int, ...]:
    """`2:0`: the first column of the relation is the third of the file, the second is the first.

    Soufflé reads a line from the left until every column of the relation has a value; of a list that names more columns
    than there are, those that stand first in the file count, if they are the ones the relation needs.
    """
    places = chosen.split(":")
    note = f'give {arity} different columns counted from 0, such as columns="{":".join(map(str, range(arity)))}"'
    if not all(place.strip().isdecimal() for place in places):
        raise BadParameter("E652", f'columns="{chosen}" is not a list of column numbers', span, note)
    attributes = {int(place): attribute for attribute, place in enumerate(places)}
    picks = {attributes[place]: place for place in sorted(attributes)[:arity]}
    if sorted(picks) != list(range(arity)):
        message = f'columns="{chosen}" does not name one column of the file for each of the {arity} columns'
        raise BadParameter("E652", message, span, note)
    return tuple(picks[attribute] for attribute in range(arity))


def header(params: Mapping[str, str], names: Sequence[str]) -> str:
    """The line of column names. As in Soufflé a tab joins them unless a delimiter is given, under rfc4180 too."""
    return params.get("attributeNames", params.get("delimiter", "\t").join(names))


def unknown_format(kind: str, direction: str, known: Sequence[str], span: Span) -> BadParameter:
    note = did_you_mean(kind, known) or f"known are {', '.join(known)}"
    return BadParameter("E651", f"IO={kind} is not a form of {direction}", span, note)


def require_columns(columns: Sequence[Field], relation: str, place: str, span: Span) -> None:
    if not columns:
        message = f"`{relation}` has no columns, and {place} cannot hold such a relation"
        raise BadParameter("E655", message, span, "use IO=file or IO=jsonfile")
