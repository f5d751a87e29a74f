"""A program after each stage of the compiler, as text, as a graph or as a page."""
