"""The embedded engine: columnar, compiled by Numba, in one process."""
