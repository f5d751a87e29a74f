"""Questions to a database, computed from its relations."""
