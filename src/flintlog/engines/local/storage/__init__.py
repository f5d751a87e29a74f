"""Relations as arrays: logs of rows, sets of keys, arrangements by key."""
