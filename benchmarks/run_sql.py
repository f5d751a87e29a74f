"""The process measured for DuckDB: runs a SQL script in the current directory, prints result rows tab-separated."""

import argparse
import tempfile
from pathlib import Path

import duckdb


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("script", type=Path)
    arguments.add_argument("--threads", type=int, default=1)
    given = arguments.parse_args()

    # The default place for spilled data is the current directory, and that holds the facts.
    with tempfile.TemporaryDirectory() as spill, duckdb.connect() as connection:
        connection.execute(f"SET threads = {given.threads}")
        connection.execute(f"SET temp_directory = '{spill}'")
        for statement in connection.extract_statements(given.script.read_text(encoding="utf-8")):
            connection.execute(statement)
            if statement.type == duckdb.StatementType.SELECT:
                for row in connection.fetchall():
                    print(*row, sep="\t", flush=True)


if __name__ == "__main__":
    main()
