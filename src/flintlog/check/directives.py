"""Input and output directives: relations that exist, parameters that mean something."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from flintlog.check.checked import Relation
from flintlog.check.missing import Missing
from flintlog.check.names import note_on_relation
from flintlog.diagnostics import Label, Report, did_you_mean
from flintlog.io.parameters import ANY_OPTION
from flintlog.syntax import ast

_FILE_KEYS = frozenset(("filename", "delimiter", "headers", "rfc4180", "compress", "columns"))
_JSON_KEYS = frozenset(("filename", "format"))
_JDBC_KEYS = frozenset(("url", "table", "query", "user", "password", "driver", "mode"))
_DATABASE_KEYS = frozenset(("dbname", "filename"))

# The parameters that each kind of source and sink knows, beside those that all know.
_KEYS: dict[str, frozenset[str]] = {
    "file": _FILE_KEYS,
    "csv": _FILE_KEYS,
    "stdin": _FILE_KEYS,
    "stdout": _FILE_KEYS,
    "stdoutprintsize": frozenset(),
    "json": _JSON_KEYS,
    "jsonfile": _JSON_KEYS,
    "sqlite": _DATABASE_KEYS,
    "parquet": frozenset(("filename",)),
    "arrow": frozenset(("filename", "format")),
    "jdbc": _JDBC_KEYS,
    "table": frozenset(("table", "columns", "mode")),
    "orc": frozenset(("filename", "mode")),
    "jsonl": frozenset(("filename", "mode")),
    "spark": frozenset(("format", "mode")),
}
_PATH_KEYS = frozenset(("fact-dir", "output-dir"))
_INTERNAL_KEYS = frozenset(("attributeNames", "types", "auxArity", "params", "intermediate", "no-warn"))
_COMMON_KEYS = frozenset(("IO", "name", "operation")) | _PATH_KEYS | _INTERNAL_KEYS
_OUTPUT_ONLY = ("stdout", "stdoutprintsize")
_INPUT_ONLY = ("stdin",)
_TRUTH_KEYS = ("headers", "rfc4180")  # `compress` is asked for by being there, whatever its value


def check_directives(
    directives: Iterable[ast.Directive], relations: Mapping[str, Relation], missing: Missing, report: Report
) -> None:
    """Reports unknown relations, kinds and values as errors; parameters nobody reads as warnings."""
    for directive in directives:
        relation = relations.get(directive.relation)
        if relation is None and directive.relation not in missing:
            report.error(
                "E601",
                f"`.{directive.kind}` of unknown relation `{directive.relation}`",
                directive.span,
                note=note_on_relation(directive.relation, relations),
            )
        params = _parameters(directive, report)
        if directive.kind == "limitsize":
            _check_limit(directive, params, report)
        elif directive.kind != "printsize":
            _check_io(directive, params, relation, report)


def check_repeated(directives: Iterable[ast.Directive], report: Report) -> None:
    """Reports a second `.printsize` or `.limitsize` of a relation. Rows may well be read and written more than once."""
    first: dict[tuple[str, str], ast.Directive] = {}
    for directive in directives:
        known = first.setdefault((directive.kind, directive.relation), directive)
        if known is not directive and directive.kind in ("printsize", "limitsize"):
            report.error(
                "E602",
                f"two `.{directive.kind}` directives for `{directive.relation}`",
                directive.span,
                labels=[Label(known.span, "the first one")],
                note="keep one of the two",
            )


def _parameters(directive: ast.Directive, report: Report) -> dict[str, ast.Parameter]:
    params: dict[str, ast.Parameter] = {}
    for param in directive.params:
        if param.key in params:
            report.warning(
                "W603",
                f"parameter `{param.key}` is given twice",
                param.span,
                labels=[Label(params[param.key].span, "given here before")],
                note="the last one counts; remove the other",
            )
        params[param.key] = param
    return params


def _check_limit(directive: ast.Directive, params: Mapping[str, ast.Parameter], report: Report) -> None:
    limit = params.get("n")
    if limit is None:
        report.error(
            "E605",
            "`.limitsize` without a limit",
            directive.span,
            note=f"write `.limitsize {directive.relation}(n=100)`",
        )
    elif not re.fullmatch(r"[+-]?\d+", limit.value.strip()):
        report.error("E605", f"the limit `{limit.value}` is not a number", limit.span, note="write `n=100`, say")


def _check_io(
    directive: ast.Directive, params: Mapping[str, ast.Parameter], relation: Relation | None, report: Report
) -> None:
    io = params["IO"].value if "IO" in params else "file"
    wrong_way = _OUTPUT_ONLY if directive.kind == "input" else _INPUT_ONLY
    kinds = [kind for kind in _KEYS if kind not in wrong_way]
    if io not in kinds:
        report.error(
            "E604",
            f"`IO={io}` is no kind of {directive.kind}",
            params["IO"].span,
            note=did_you_mean(io, kinds) or f"the kinds of {directive.kind} are {', '.join(kinds)}",
        )
        return
    known = _KEYS[io] | _COMMON_KEYS
    for key, param in params.items():
        if key not in known and io not in ANY_OPTION:
            note = did_you_mean(key, sorted(known)) or f"`IO={io}` knows {', '.join(sorted(_KEYS[io])) or 'none'}"
            report.warning("W601", f"unknown parameter `{key}` is ignored", param.span, note=note)
        elif key in _TRUTH_KEYS and param.value not in ("true", "false"):
            report.warning(
                "W602",
                f"`{key}={param.value}` counts as false",
                param.span,
                note=f"write `{key}=true` or `{key}=false`",
            )
    _check_delimiter(params, report)
    if directive.kind == "input" and relation is not None and "columns" in params and "columns" in known:
        _check_columns(params["columns"], relation, report)


def _check_delimiter(params: Mapping[str, ast.Parameter], report: Report) -> None:
    rfc4180 = params.get("rfc4180")
    delimiter = params.get("delimiter")
    if rfc4180 is not None and rfc4180.value == "true" and delimiter is not None and '"' in delimiter.value:
        report.error(
            "E607",
            "with `rfc4180=true`, the delimiter cannot contain a double quote",
            delimiter.span,
            note="double quotes enclose values there; use another delimiter",
        )


def _check_columns(columns: ast.Parameter, relation: Relation, report: Report) -> None:
    if not columns.value:
        return
    positions = columns.value.split(":")
    if not all(re.fullmatch(r"\s*\d+", position) for position in positions):
        report.error(
            "E606",
            f"`columns={columns.value}` is no list of columns",
            columns.span,
            note='write column numbers, counted from 0, with colons between them: `columns="0:2"`',
        )
    elif len({int(position) for position in positions}) < len(relation.attributes):
        report.error(
            "E606",
            f"relation `{relation.name}` needs {len(relation.attributes)} columns, but `{columns.value}` names fewer",
            columns.span,
            note="name one column for each attribute, each only once",
        )
