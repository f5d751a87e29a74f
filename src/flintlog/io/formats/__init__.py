"""One module a file format and direction: delimited text, JSON, SQLite, Parquet and Arrow, by rows and by columns."""
