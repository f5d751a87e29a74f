"""The numbers of symbols."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from flintlog.engines.reference.closures import Machine
from flintlog.ir.words import Words
from flintlog.types import Kind

_few_texts = st.lists(st.text("ab", max_size=2))


def machine() -> Machine:
    return Machine(Words(64), {}, lambda message, span: None)


@given(_few_texts, _few_texts, _few_texts)
def test_many_symbols_at_once_have_the_words_of_each(first: list[str], many: list[str], last: list[str]):
    at_once, each = machine(), machine()
    for text in first:
        assert at_once.word((text,), Kind.RECORD) == each.word((text,), Kind.RECORD)
        assert at_once.word(text, Kind.SYMBOL) == each.word(text, Kind.SYMBOL)
    words = at_once.intern(many)
    assert words == [each.word(text, Kind.SYMBOL) for text in many]
    assert [at_once.value(word, Kind.SYMBOL) for word in words] == many
    assert at_once.intern(last) == [each.word(text, Kind.SYMBOL) for text in last]
