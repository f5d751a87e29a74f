"""Facts in and out without Spark: delimited text, JSON, SQLite, Parquet, Arrow."""

from flintlog.io.numerals import ValueTextError
from flintlog.io.read import read_facts
from flintlog.io.text_values import format_value, parse_value
from flintlog.io.write import check_output, write_facts

__all__ = ["ValueTextError", "check_output", "format_value", "parse_value", "read_facts", "write_facts"]
