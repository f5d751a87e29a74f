"""Directives and pragmas."""

from __future__ import annotations

import pytest
from tests.unit.check.checking import checked, diagnose, errors, warnings

R = ".decl r(x: number, y: number) r(1, 2). "

ACCEPTED = {
    "plain": R + ".output r",
    "twice written": R + '.output r .output r(filename="again.csv")',
    "twice read": '.decl r(x: number) .input r .input r(filename="more.facts") .output r',
    "standard output": R + ".output r(IO=stdout, headers=true)",
    "csv": R + '.output r(IO=file, filename="x.csv", delimiter=",", rfc4180=true, compress=true)',
    "json": R + ".output r(IO=jsonfile, format=object)",
    "sqlite": R + '.output r(IO=sqlite, dbname="x.db")',
    "parquet": '.decl r(x: number) .input r(IO=parquet, filename="x.parquet") .output r',
    "columns": '.decl r(x: number, y: number) .input r(columns="2:0") .output r',
    "size and limit": R + ".printsize r .limitsize r(n=10)",
    "printsize has one kind": R + ".printsize r(IO=whatever)",
}

REJECTED = {
    "unknown relation": (".output r", "E601"),
    "two printsize": (R + ".printsize r .printsize r", "E602"),
    "two limitsize": (R + ".limitsize r(n=1) .limitsize r(n=2)", "E602"),
    "printsize as qualifier and directive": (".decl r(x: number) printsize r(1). .printsize r", "E602"),
    "unknown kind": (R + ".output r(IO=papyrus)", "E604"),
    "reading standard output": (".decl r(x: number) .input r(IO=stdout)", "E604"),
    "writing standard input": (R + ".output r(IO=stdin)", "E604"),
    "limit missing": (R + ".limitsize r", "E605"),
    "limit no number": (R + ".limitsize r(n=many)", "E605"),
    "too few columns": ('.decl r(x: number, y: number) .input r(columns="1")', "E606"),
    "columns no numbers": ('.decl r(x: number) .input r(columns="x")', "E606"),
    "quote as delimiter": (R + '.output r(rfc4180=true, delimiter="\\"")', "E607"),
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_accepts(text: str) -> None:
    assert warnings(text) == []


@pytest.mark.parametrize(("text", "code"), REJECTED.values(), ids=REJECTED)
def test_rejects(text: str, code: str) -> None:
    assert set(errors(text)) == {code}


def test_an_unknown_parameter_is_a_warning_with_an_offer() -> None:
    [found] = diagnose(R + '.output r(delimeter=",")')
    assert (found.code, found.note) == ("W601", "did you mean `delimiter`?")


def test_a_truth_value_that_counts_as_false_is_a_warning() -> None:
    assert warnings(R + ".output r(headers=maybe)") == ["W602"]


def test_a_parameter_given_twice_is_a_warning() -> None:
    assert warnings(R + ".output r(headers=true, headers=false)") == ["W603"]


def test_an_unknown_pragma_is_a_warning_with_an_offer() -> None:
    [found] = diagnose('.pragma "legasy" "" ' + R + ".output r")
    assert (found.code, found.note) == ("W208", "did you mean `legacy`?")


def test_a_pragma_set_twice_is_a_warning() -> None:
    assert warnings('.pragma "jobs" "1" .pragma "jobs" "2" ' + R + ".output r") == ["W209"]


def test_pragmas_are_kept() -> None:
    assert [p.key for p in checked('.pragma "legacy" ' + R).pragmas] == ["legacy"]
