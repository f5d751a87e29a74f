"""Which variables get a value, and from where."""
