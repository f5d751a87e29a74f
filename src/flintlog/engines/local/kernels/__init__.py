"""Pure functions over arrays, compiled by Numba. Nothing here allocates more than it returns, raises or sees an object."""
