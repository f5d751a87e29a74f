"""Pure functions over arrays, compiled by Numba. Nothing here raises or sees an object."""
