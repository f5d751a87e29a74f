"""Sources that have columns: DataFrames, Parquet, ORC, databases, catalog tables, and any other format of Spark."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from flintlog.engines.spark.data.locations import Location
from flintlog.engines.spark.data.retained import read_anew
from flintlog.engines.spark.data.sources.bad_records import LocatedNotes, settled
from flintlog.engines.spark.data.sources.columns import chosen_columns, plain_columns
from flintlog.engines.spark.data.sources.notes import NOTE
from flintlog.engines.spark.data.sources.plain_source import Source, spark_errors
from flintlog.engines.spark.data.sources.record_tasks import settle_records
from flintlog.io.parameters import BadParameter, dialect, relation_name, require_columns
from flintlog.source import Span
from flintlog.types import Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Parameters of Flintlog's own, which are not passed on as options of a reader or writer.
_OWN = (
    "IO name operation filename format mode table columns fact-dir output-dir "
    "attributeNames types auxArity params intermediate no-warn"
).split()


def fitted(source: Source, frame: DataFrame, name: str, code: str = "E710", *, keeps: bool = True) -> DataFrame:
    """The plain frame of a DataFrame with the columns of a relation. One job looks for rows that do not fit, unless all
    must fit; with `keeps`, the rows that it has read are persisted."""
    from pyspark.sql import functions as fn

    require_columns(source.schema.columns, source.relation.name, name, source.span)
    try:
        chosen = chosen_columns(frame.schema, source.schema, name, code, source.span)
    except spark_errors() as error:
        raise source.unreadable(error) from error
    parsed, may_be_bad = plain_columns(read_anew(frame), chosen, source.schema)
    if {Kind.RECORD, Kind.ADT} & set(source.schema.kinds()):
        parsed = parsed.mapInArrow(partial(settle_records, source.schema), source.noted_ddl)
        may_be_bad = keeps = True
    if not may_be_bad:
        return parsed.drop(NOTE).toDF(*source.names)

    def located() -> LocatedNotes:
        bad = parsed.where(fn.col(NOTE).isNotNull())
        nowhere = [fn.lit(name).alias("file"), *(fn.lit(0).cast("bigint").alias(key) for key in ("start", "index"))]
        return LocatedNotes(bad.select(*nowhere, NOTE), None, {name: name})

    return settled(source, name, parsed, located, keeps=keeps)


def read_files_of(source: Source, location: Location, kind: str) -> DataFrame:
    """Parquet and ORC files."""
    reader = source.spark.read.format(kind)
    frame = source.opened(lambda: reader.load(location.roots), location.name)
    return fitted(source, frame, f"`{location.name}`", keeps=False)


def read_catalog_table(source: Source) -> DataFrame:
    name = table_name(source.params, source.relation.name)
    frame = source.opened(lambda: source.spark.table(name))
    layout = dialect(source.params, len(source.schema.columns), source.span)
    if layout.chosen:
        if max(layout.picks, default=0) >= len(frame.columns):
            note = f"`{name}` has {len(frame.columns)} columns, counted from 0"
            raise BadParameter(
                "E652", f'columns="{source.params["columns"]}" names one that is not there', source.span, note
            )
        whole = frame.toDF(*(f"g{position}" for position in range(len(frame.columns))))
        frame = whole.select(*(whole[f"g{pick}"] for pick in layout.picks)).toDF(*source.names)
    return fitted(source, frame, f"table `{name}`")


def read_database(source: Source) -> DataFrame:
    """Reads a table or a query through JDBC."""
    options = jdbc_options(source.params, source.relation.name, source.span)
    reader = source.spark.read.format("jdbc").options(**options)
    return fitted(source, source.opened(reader.load), f"table `{options.get('dbtable', 'the query')}`")


def read_format(source: Source, location: Location | None) -> DataFrame:
    """Any format that Spark knows: `format` names it, `filename` is its path, other parameters are its options."""
    kind = required(source.params, "format", "spark", source.span)
    reader = source.spark.read.format(kind).options(**options_of(source.params))
    if location is None:
        return fitted(source, source.opened(reader.load), f"the source of format `{kind}`")
    frame = source.opened(lambda: reader.load(location.roots), location.name)
    return fitted(source, frame, f"`{location.name}`")


def table_name(params: Mapping[str, str], relation: str) -> str:
    return params.get("table", relation_name(relation, params))


def jdbc_options(params: Mapping[str, str], relation: str, span: Span) -> dict[str, str]:
    """The options for JDBC: the address, the table unless there is a query, and all other parameters."""
    required(params, "url", "jdbc", span)
    options = options_of(params)
    if "query" not in options:
        options.setdefault("dbtable", table_name(params, relation))
    return options


def options_of(params: Mapping[str, str]) -> dict[str, str]:
    """The parameters that are options of a reader or writer of Spark."""
    return {key: value for key, value in params.items() if key not in _OWN}


def required(params: Mapping[str, str], key: str, kind: str, span: Span) -> str:
    if not params.get(key):
        raise BadParameter("E654", f"IO={kind} needs the parameter `{key}`", span, f'give {key}="…"')
    return params[key]
