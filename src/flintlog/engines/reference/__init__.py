"""The parts of the reference engine, on which other engines stand, too: tables of Python rows, and closures that fill
them."""
