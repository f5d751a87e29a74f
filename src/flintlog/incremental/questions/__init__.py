"""Questions to a database, computed from the relations it keeps."""
