"""The parts of the reference engine, which others use, too: tables of Python rows, and closures that fill them."""
