"""Small files are read and written without what is slow to load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_RUN = """
import io, sys
from pathlib import Path
from flintlog.diagnostics import Report
from flintlog.io import read_facts, write_facts
from flintlog.io.column_facts import read_columns
from flintlog.io.schema import Schema
from flintlog.types import PRIMITIVES, Field

here, columns = Path(sys.argv[1]), [Field("x", "number"), Field("s", "symbol"), Field("f", "float")]
for params in ({}, {"compress": "true"}, {"IO": "jsonfile"}, {"IO": "sqlite"}):
    params["filename"] = params.get("IO", "file") + str(len(params))
    schema = Schema("r", columns, PRIMITIVES, 64)
    write_facts(schema, params, [(1, "a", 0.5)], output_dir=here, stdout=io.StringIO())
    assert read_columns("r", columns, params, PRIMITIVES, here) is None
    assert read_facts("r", columns, params, PRIMITIVES, facts_dir=here, report=Report()) == [(1, "a", 0.5)]
print([name for name in ("numpy", "pyarrow") if name in sys.modules])
"""


def test_neither_numpy_nor_arrow_is_loaded_for_small_files(tmp_path: Path):
    command = [sys.executable, "-c", _RUN, str(tmp_path)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (finished.stdout, finished.stderr) == ("[]\n", "")
