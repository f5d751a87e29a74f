"""Text <-> syntax tree: tokens, preprocessor, parser, printer."""
