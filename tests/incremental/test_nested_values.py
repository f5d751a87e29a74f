"""Records and branches in a directory: what they have in common is written once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

import flintlog as fl
from flintlog.depth import deep_recursion
from flintlog.engines.numbered_values import NumberedValues, key_of
from flintlog.incremental.durable.journal import from_json, in_json
from flintlog.incremental.durable.nested_values import PartsWriter, known_parts, value_of_word
from flintlog.types import Adt, Value

LISTS = """
    .type List = [head: number, tail: List]
    .decl upto(n: number)
    .decl list(n: number, list: List)
    list(0, nil).
    list(n + 1, [n, t]) :- list(n, t), upto(m), n < m.
"""
# Also halves of characters, which Python lets stand alone, or one behind the other.
texts = st.text(st.one_of(st.characters(exclude_categories=()), st.sampled_from("\ud83d\ude00")), max_size=3)
leaves = st.one_of(st.none(), st.integers(-9, 9), texts, st.floats(allow_nan=False))
nested = st.recursive(
    leaves,
    lambda parts: st.one_of(
        st.lists(parts, max_size=3).map(tuple),
        st.builds(Adt, st.sampled_from("AB"), st.lists(parts, max_size=2).map(tuple)),
    ),
    max_leaves=12,
)


def whole(value: Value) -> Any:
    """A value in words of JSON with all of its parts in it, as snapshots of format 1, and journals, had them."""
    if isinstance(value, Adt):
        return {"branch": value.branch, "of": list(map(whole, value.args))}
    return list(map(whole, value)) if isinstance(value, tuple) else value


@given(st.lists(nested, max_size=6))
def test_what_was_written_is_read(values: list[Value]) -> None:
    writer = PartsWriter()
    words = [from_json(in_json(writer.word(value))) for value in values]
    known = known_parts([from_json(in_json(part)) for part in writer.parts])
    assert [key_of(value_of_word(word, known)) for word in words] == [key_of(value) for value in values]
    assert [key_of(value_of_word(whole(value), ())) for value in values] == list(map(key_of, values))


@given(st.lists(nested, max_size=6))
def test_numbers_do_not_depend_on_what_is_known_of_parts(values: list[Value]) -> None:
    known = NumberedValues()
    numbers = [known.number(value) for value in values]
    for one, value in zip(numbers, values, strict=True):
        assert [one == other for other in numbers] == [key_of(value) == key_of(other) for other in values]
    known.forget(len(known) // 2)
    assert all((value in known) == (number < len(known)) for number, value in zip(numbers, values, strict=True))


def lists_of(database: fl.Database) -> dict[Value, Value]:
    return dict(cast("Iterable[tuple[Value, Value]]", database["list"]))


def test_a_snapshot_of_lists_grows_with_their_number_and_not_their_length(tmp_path: Path) -> None:
    with fl.Database.create(tmp_path / "d", fl.Program(LISTS), {"upto": [(2000,)]}) as database:
        before = lists_of(database)
    size = sum(path.stat().st_size for path in tmp_path.rglob("*.arrow"))
    assert size < 400_000  # 2,000 lists of 1,000 elements in the mean would be 4 MB and more
    with fl.Database.open(tmp_path / "d") as database:
        after = lists_of(database)
        with deep_recursion():  # Python compares values by recursion
            assert before == after
        with database.transaction() as change:
            change.insert("upto", [(2001,)])
        [(_, deepest)] = change.result["list"].inserted
        with deep_recursion():
            assert deepest == (2000, before[2000])
        assert database.check() == []


def test_lists_that_come_in_a_transaction_are_as_long_as_those_of_a_snapshot(tmp_path: Path) -> None:
    """Whoever opens the database stands elsewhere, and has less room for recursion."""
    program = fl.Program(".type L = [h: number, t: L] .decl l(x: L) .decl m(x: L) m(x) :- l([_, x]).")
    long: Value = None
    for number in range(15_000):
        long = (number % 3, long)
    with fl.Database.create(tmp_path / "d", program, l=[]) as database:
        with database.transaction() as change:
            change.insert("l", [(long,)])
        assert database.check() == []
    with fl.Database.open(tmp_path / "d") as database:
        [(tail,)] = database["m"]
        with deep_recursion():
            assert (2, tail) == long
