"""The data pipeline on Spark: facts from any source, strata as Spark jobs, results to any sink."""
