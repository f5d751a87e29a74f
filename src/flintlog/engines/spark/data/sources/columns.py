"""Matches the columns of a DataFrame with those of a relation, checks their types, and makes plain columns of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.spark.data.plain import decimal, spark_type
from flintlog.engines.spark.data.sources.notes import NOTE
from flintlog.io.numerals import integer_bounds, is_single
from flintlog.io.schema import Schema
from flintlog.source import Span
from flintlog.types import Field, Kind, ScalarType

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_INTEGERS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}
_FLOATS = ("float", "double")


def chosen_columns(found: StructType, schema: Schema, name: str, code: str, span: Span) -> list[int]:
    """The index of the DataFrame's column for each column of the relation: by name or, if no name fits, by position.
    FlintlogError if columns cannot be matched, or types do not fit."""
    chosen = schema.places_in(found.names)
    if chosen is None:
        wanted = [column.name for column in schema.columns]
        there = {field.name: field.dataType.simpleString() for field in found.fields}
        more = [name for name in found.names if name not in wanted]
        rows = [(c.name, c.type, there.get(c.name, "-"), "" if c.name in there else "missing") for c in schema.columns]
        rows += [(name, "-", there[name], "not declared") for name in more]
        message = f"the columns of {name} are not those of `{schema.name}`"
        note = _table(rows, "rename columns, or give as many as declared")
        raise FlintlogError([Diagnostic(code, message, span, note)])
    types = [found.fields[index].dataType.simpleString() for index in chosen]
    both = list(zip(types, schema.columns, strict=True))
    rows = [(column.name, column.type, type_, _remedy(type_, schema, column)) for type_, column in both]
    if any(remedy for *_, remedy in rows):
        message = f"the columns of {name} have other types than those of `{schema.name}`"
        raise FlintlogError([Diagnostic(code, message, span, _table(rows, "cast columns, or declare others"))])
    return chosen


def _table(rows: Sequence[tuple[str, str, str, str]], note: str) -> str:
    """A note, and under it a table of the declared columns beside the found ones."""
    lines = [("column", "declared", "found", ""), *rows]
    widths = [max(len(line[position]) for line in lines) for position in range(3)]
    padded = [[*map(str.ljust, line, widths), line[3]] for line in lines]
    return "\n".join([note, *("    " + "  ".join(line).rstrip() for line in padded)])


def _fits(found: str, kind: Kind) -> bool:
    is_integer = found in _INTEGERS or (found.startswith("decimal") and found.endswith(",0)"))
    if kind is Kind.FLOAT:
        return is_integer or found in _FLOATS or found.startswith("decimal")
    return is_integer if kind.is_numeric else found.startswith(("string", "char", "varchar"))


def _remedy(found: str, schema: Schema, column: Field) -> str:
    """The remedy for a type (in Spark's spelling) that does not fit; "" for one that does."""
    kind = schema.type_of(column).kind
    if _fits(found, kind):
        return ""
    if kind in (Kind.RECORD, Kind.ADT):
        return "give its text, such as `[1, nil]` or `$Branch(1)`"
    others = {"string": "symbol", **dict.fromkeys(_FLOATS, "float"), **dict.fromkeys(_INTEGERS, "number")}
    cast = f"cast it to {spark_type(kind)}"
    return f"{cast}, or declare `{column.name}: {others[found]}`" if found in others else cast


def plain_columns(frame: DataFrame, chosen: Sequence[int], schema: Schema) -> tuple[DataFrame, bool]:
    """The plain columns c0, c1, … with a column of notes on rows that do not fit, and whether there can be notes. Texts
    of records and branches are not checked yet."""
    from pyspark.sql import functions as fn

    given = frame.toDF(*(f"g{position}" for position in range(len(frame.columns))))
    reasons: list[Column] = []
    columns: list[Column] = []
    for position, (index, column) in enumerate(zip(chosen, schema.columns, strict=True)):
        field = frame.schema.fields[index]
        value, scalar = fn.col(f"g{index}"), schema.scalar_of(column)
        kind = schema.type_of(column).kind
        if field.nullable and kind is Kind.RECORD:
            value = fn.coalesce(value, fn.lit("nil"))
        elif field.nullable:
            reasons.append(_reason(value.isNull(), "E703", column, f"a value of type `{column.type}` is missing"))
        if scalar is not None and kind.is_numeric:
            wrong, value = _numeric(value, field.dataType.simpleString(), scalar, schema.word_size)
            if wrong is not None:
                reasons.append(_reason(wrong, "E704", column, _out_of_range(scalar, schema.word_size)))
        columns.append(value.cast(spark_type(kind)).alias(f"c{position}"))
    row = fn.concat_ws("\t", *(fn.coalesce(fn.col(f"g{index}").cast("string"), fn.lit("null")) for index in chosen))
    reason = fn.coalesce(*reasons) if reasons else fn.lit(None).cast("string")
    note = fn.concat(fn.lit("E"), reason, fn.lit("\n"), row).alias(NOTE)
    return given.select(*columns, note), bool(reasons)


def _reason(wrong: Column, code: str, column: Field, message: str) -> Column:
    from pyspark.sql import functions as fn

    return fn.when(wrong, fn.lit(f"{code}\ncolumn `{column.name}`: {message}"))


def _out_of_range(scalar: ScalarType, word_size: int) -> str:
    if scalar.kind is Kind.FLOAT:
        return f"the value is out of range for `{scalar.name}`"
    low, high = integer_bounds(scalar, word_size)
    return f"the value is out of range for `{scalar.name}`: it must lie between {low} and {high}"


def _numeric(value: Column, found: str, scalar: ScalarType, word_size: int) -> tuple[Column | None, Column]:
    """The condition that a number does not fit its type (None if it always does), and the number if it fits."""
    from pyspark.sql import functions as fn

    if scalar.kind is Kind.FLOAT:
        double = value.cast("double")
        if not is_single(scalar, word_size) or found == "float":
            return None, double
        single = double.cast("float").cast("double")
        infinite = [fn.lit(float("inf")), fn.lit(float("-inf"))]
        return single.isin(*infinite) & ~double.isin(*infinite), single
    low, high = integer_bounds(scalar, word_size)
    bits = _INTEGERS.get(found)
    if bits is not None and low <= -(1 << (bits - 1)) and (1 << (bits - 1)) - 1 <= high:
        return None, value
    fits = value.between(decimal(low), decimal(high))
    return ~fits, fn.when(fits, value)
