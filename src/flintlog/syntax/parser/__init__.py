"""Text to syntax tree. Each module reads one region of the grammar from a shared cursor."""

from flintlog.syntax.parser.program import parse

__all__ = ["parse"]
