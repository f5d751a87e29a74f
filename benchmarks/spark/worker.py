"""The process of one contestant: `python -m benchmarks.spark.worker`.

Makes its session, says that it is ready, and answers a line of JSON for every line of JSON that it reads.
"""

import argparse
import dataclasses
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any, TextIO

from benchmarks.spark.contestants import Job, answer
from benchmarks.spark.session import forget, make_session

_LONGEST = 400  # characters of an error message


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark.worker")
    parser.add_argument("contestant")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--memory", default="3g")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    replies = _own_stdout()
    spark = make_session(given.master, given.memory, dict(setting.split("=", 1) for setting in given.set))
    _say(replies, {"ready": True})
    for line in sys.stdin:
        _say(replies, _reply(given.contestant, spark, json.loads(line)))
        gc.collect()
        forget(spark)
    spark.stop()
    return 0


def _reply(contestant: str, spark: Any, table: dict[str, Any]) -> dict[str, Any]:
    job = Job(Path(table.pop("program")), Path(table.pop("facts")), **table)
    try:
        return dataclasses.asdict(answer(contestant, spark, job))
    except Exception as error:  # noqa: BLE001 - what a rival raises is its result
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return {"failed": " ".join([type(error).__name__ + ":", *lines])[:_LONGEST]}


def _own_stdout() -> TextIO:
    """The stream that the other side reads. Java inherits the usual one, and may print there what it likes."""
    kept = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return os.fdopen(kept, "w", encoding="utf-8")


def _say(replies: TextIO, table: dict[str, Any]) -> None:
    replies.write(json.dumps(table) + "\n")
    replies.flush()


if __name__ == "__main__":
    sys.exit(main())
