"""The strategy `dataframe`: Spark SQL evaluates a stratum, with one plan for each round."""

from flintlog.engines.spark.dataframe.applies import applies
from flintlog.engines.spark.dataframe.context import Context
from flintlog.engines.spark.dataframe.run_stratum import run_stratum
from flintlog.engines.spark.dataframe.workspace import release

__all__ = ["Context", "applies", "release", "run_stratum"]
