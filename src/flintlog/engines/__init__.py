"""IR -> rows: the ways to run a program. Engines are loaded by name, so that only the one in use is imported."""
