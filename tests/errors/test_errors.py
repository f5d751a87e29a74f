"""Every wrong program of tests/errors with its golden message; `pytest tests/errors --update` writes them anew.

`<code>_<name>.dl` is refused, or warned about, as `<code>_<name>.err` says; a folder `<code>_<name>.facts` beside it
holds facts files, for mistakes in data.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flintlog.api.run import evaluate
from flintlog.api.user_program import Program
from flintlog.diagnostics import FlintlogError
from flintlog.engines.local.engine import LocalEngine
from flintlog.engines.protocol import RunOptions

HERE = Path(__file__).parent
CASES = sorted(HERE.glob("*.dl"))


def messages(path: Path) -> str:
    """All that `flintlog run` would say of a program, without the directory it lies in."""
    program = Program.load(path)
    said = [d.render() for d in program.check()]
    facts = path.with_suffix(".facts")
    if not program.compilation.report.has_errors:
        try:
            options = RunOptions(facts_dir=facts if facts.is_dir() else HERE, warn=lambda d: said.append(d.render()))
            evaluate(program.compilation.program, LocalEngine(), options, functors=program.functors())
        except FlintlogError as error:
            said += [d.render() for d in error.diagnostics]
    return "\n".join(said).replace(f"{HERE}/", "").replace(str(HERE), ".") + "\n"


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_message(path: Path, request: pytest.FixtureRequest) -> None:
    got = messages(path)
    golden = path.with_suffix(".err")
    if request.config.getoption("--update"):
        golden.write_text(got)
    assert got == golden.read_text()
    code = path.stem.split("_")[0].upper()
    assert f"[{code}]" in got, f"{path.name} does not show {code}"
