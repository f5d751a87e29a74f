"""A database on disk: the journal, the snapshots, and the directory that holds both."""
