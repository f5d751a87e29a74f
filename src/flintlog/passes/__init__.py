"""IR -> IR: one file per pass."""
