"""Places in files, also after a journey to another process."""

from __future__ import annotations

import pickle

from flintlog.diagnostics import Diagnostic
from flintlog.source import NOWHERE, SourceFile, Span


def test_nowhere_stays_nowhere() -> None:
    diagnostic = pickle.loads(pickle.dumps(Diagnostic("E803", "too much", note="less")))
    assert diagnostic.span.file is NOWHERE.file
    assert diagnostic.render() == "error[E803]: too much\n  note: less"


def test_a_place_keeps_its_text() -> None:
    span = pickle.loads(pickle.dumps(Span(SourceFile("a.dl", "ab\ncd", 7), 3, 5)))
    assert (span.file.name, span.file.text, span.file.position(3)) == ("a.dl", "ab\ncd", (8, 1))
