"""The kernels that update the strata of a database."""
