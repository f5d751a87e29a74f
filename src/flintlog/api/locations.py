"""Where data is: files of this machine, and addresses that only Spark knows how to follow."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from flintlog.io.parameters import data_path, without_scheme
from flintlog.ir.program import IoDirective, Program

_READ = {"file": ".facts", "csv": ".facts", "json": ".json", "jsonfile": ".json"}
_READ |= {"parquet": ".parquet", "arrow": ".arrow", "orc": ".orc", "jsonl": ".jsonl"}
_WRITTEN = _READ | {"file": ".csv", "csv": ".csv"}


def is_uri(text: str) -> bool:
    """
    >>> is_uri("s3a://bucket/edges"), is_uri("facts/edge.csv"), is_uri("C:/edge.csv")
    (True, False, False)
    """
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text) is not None


def named(directive: IoDirective) -> str:
    """The file or address that a directive names itself, if it does."""
    params = dict(directive.params)
    return params.get("filename", params.get("path", ""))


def data_file(directive: IoDirective, directory: Path) -> Path | None:
    """The file of this machine that a directive reads or writes; None if it is none."""
    params = dict(directive.params)
    suffixes = _READ if directive.kind == "input" else _WRITTEN
    kind = params.get("IO", "file")
    is_printed = kind == "json" and directive.kind == "output" and not named(directive)
    if kind not in suffixes or is_uri(named(directive)) or is_printed:
        return None
    params = {"filename": name, **params} if (name := named(directive)) else params
    suffix = suffixes[kind]
    packed = directive.kind == "output" and suffix == ".csv" and params.get("compress", "false") != "false"
    return data_path(directive.relation, params, directory, f"{suffix}.gz" if packed else suffix)


def located(program: Program, facts_dir: str, output_dir: str) -> Program:
    """The program with whole addresses in its directives where a directory is one, as paths do not know about hosts;
    and with paths where an address names a file of this machine."""
    directories = {"input": without_scheme(facts_dir), "output": without_scheme(output_dir)}
    io = tuple(_located(directive, directories.get(directive.kind, "")) for directive in program.io)
    return program if io == program.io else replace(program, io=io)


def _located(directive: IoDirective, directory: str) -> IoDirective:
    params = dict(directive.params)
    for key in ("filename", "path"):
        if key in params:
            params[key] = without_scheme(params[key])
    directive = replace(directive, params=tuple(params.items()))
    file = data_file(directive, Path()) if is_uri(directory) else None
    if file is None or file.is_absolute():
        return directive
    params["filename"] = f"{directory.rstrip('/')}/{file.as_posix()}"
    return replace(directive, params=tuple(params.items()))
