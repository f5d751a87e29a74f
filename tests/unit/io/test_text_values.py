"""Values as text: what is read, what is refused, and that printing and reading fit together."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flintlog.io import ValueTextError, format_value, parse_value
from flintlog.io.text_values import quote_symbol, value_parser, value_printer
from flintlog.types import PRIMITIVES, Adt, TypeTable, Value

LEAF = Adt("Leaf", ())


@pytest.mark.parametrize(
    ("text", "type_name", "value"),
    [
        ("12", "number", 12),
        ("-2147483648", "number", -(2**31)),
        (" +7", "number", 7),
        ("007", "number", 7),
        ("4294967295", "unsigned", 2**32 - 1),
        ("0x1F", "unsigned", 31),
        ("0b101", "unsigned", 5),
        ("-128", "int8", -128),
        ("1e3", "float", 1000.0),
        (".5", "float", 0.5),
        ("0x1.8p1", "float", 3.0),
        ("-inf", "float", -math.inf),
        ("", "symbol", ""),
        (" as it is ", "symbol", " as it is "),
        ("nil", "List", None),
        ("[1, [2, nil]]", "List", (1, (2, None))),
        ("[ 1 ,[2,nil ] ]", "List", (1, (2, None))),
        ("[a b , 1.5]", "Pair", ("a b ", 1.5)),
        ('["a, ]\\"b\\\\", 2]', "Pair", ('a, ]"b\\', 2.0)),
        ("[,0]", "Pair", ("", 0.0)),
        ("[]", "Unit", ()),
        ("$Leaf", "Tree", LEAF),
        ("$Named(x y)", "Tree", Adt("Named", ("x y",))),
        ("$Node($Leaf, 7, $Named())", "Tree", Adt("Node", (LEAF, 7, Adt("Named", ("",))))),
    ],
)
def test_reads(text: str, type_name: str, value: Value, types: TypeTable) -> None:
    assert parse_value(text, type_name, types, 32) == value


@pytest.mark.parametrize(
    ("text", "type_name", "offset", "message"),
    [
        ("", "number", 0, "a value of type `number` is missing"),
        ("abc", "number", 0, "`abc` is not a value of type `number`"),
        ("12 ", "number", 2, "` ` is left over after a `number`"),
        ("1_000", "number", 1, "`_000` is left over after a `number`"),
        ("٣", "number", 0, "`٣` is not a value of type `number`"),
        ("0x10", "number", 1, "`x10` is left over after a `number`"),
        ("1.5", "number", 1, "`.5` is left over after a `number`"),
        ("-1", "unsigned", 0, "`unsigned` is never negative"),
        ("0b12", "unsigned", 3, "`2` is left over after a `unsigned`"),
        ("1e", "float", 1, "`e` is left over after a `float`"),
        ("nilly", "List", 3, "`ly` is left over after a `List`"),
        ("[1, 2]", "List", 4, "expected `[`, found `2`"),
        ("[1 nil]", "List", 3, "expected `,`, found `n`"),
        ("[1, nil", "List", 7, "expected `]`, the value ends here"),
        ("[a", "Pair", 2, "expected `]` before the end of the value"),
        ('["a, 1]', "Pair", 1, "the quotation mark is never closed"),
        ("[0x1, nil]", "List", 2, "expected `,`, found `x`"),
        ("Leaf", "Tree", 0, "expected `$`, found `L`"),
        ("$Twig", "Tree", 1, "`Tree` has no branch `Twig`, only `Leaf`, `Named`, `Node`"),
        ("$Leaf()", "Tree", 5, "`()` is left over after a `Tree`"),
    ],
)
def test_refuses(text: str, type_name: str, offset: int, message: str, types: TypeTable) -> None:
    with pytest.raises(ValueTextError) as caught:
        parse_value(text, type_name, types, 64)
    assert (caught.value.offset, caught.value.message, caught.value.out_of_range) == (offset, message, False)


@pytest.mark.parametrize(
    ("text", "type_name", "word_size"),
    [
        ("2147483648", "number", 32),
        ("-9223372036854775809", "number", 64),
        ("9" * 5000, "number", 64),
        ("4294967296", "unsigned", 32),
        ("128", "int8", 64),
        ("256", "uint8", 64),
        ("5000000000", "int64", 32),
        ("1e39", "float", 32),
        ("1e400", "float", 64),
        ("1e-40", "float", 32),
        ("1e-400", "float", 64),
        ("1e-99999999999999999999", "float", 64),
        ("1e39", "float32", 64),
    ],
)
def test_out_of_range(text: str, type_name: str, word_size: int, types: TypeTable) -> None:
    with pytest.raises(ValueTextError) as caught:
        parse_value(text, type_name, types, word_size)
    assert caught.value.out_of_range


@pytest.mark.parametrize(
    ("value", "word_size", "text"),
    [
        (0.5, 64, "0.5"),
        (0.1, 64, "0.10000000000000001"),
        (1e17, 64, "1e+17"),
        (1e10, 64, "10000000000"),
        (0.0001, 64, "0.0001"),
        (0.00001, 64, "1.0000000000000001e-05"),
        (-0.0, 64, "-0"),
        (math.inf, 64, "inf"),
        (-math.inf, 32, "-inf"),
        (math.nan, 32, "nan"),
        (math.copysign(math.nan, -1.0), 64, "-nan"),
        (0.10000000149011612, 32, "0.100000001"),
        (1e10, 32, "1e+10"),
        (123456792.0, 32, "123456792"),
    ],
)
def test_prints_floats_as_cpp_streams_do(value: float, word_size: int, text: str, types: TypeTable) -> None:
    assert format_value(value, "float", types, word_size) == text


def test_prints_nested_values(types: TypeTable) -> None:
    assert format_value(("a, b", 1.5), "Pair", types, 64) == "[a, b, 1.5]"
    assert format_value((), "Unit", types, 64) == "[]"
    tree = Adt("Node", (LEAF, 7, Adt("Named", ("x",))))
    assert format_value(tree, "Tree", types, 64) == "$Node($Leaf, 7, $Named(x))"


def test_deep_records_need_no_deep_stack(types: TypeTable) -> None:
    value: Value = None
    for number in range(20_000):
        value = (number, value)
    text = format_value(value, "List", types, 64)
    back = parse_value(text, "List", types, 64)
    depth = 0
    while isinstance(back, tuple):
        depth, back = depth + 1, back[1]
    assert depth == 20_000
    assert text.startswith("[19999, [19998, ")


def test_single_precision_is_rounded_once(types: TypeTable) -> None:
    # Just above the middle of two singles: as a double it is the middle itself, which rounds to the even one, down.
    text = "1.00000005960464477539062500000000001"
    assert struct.pack("f", float(text)) == struct.pack("f", 1.0)
    assert parse_value(text, "float", types, 32) == 1.0 + 2.0**-23


@given(value=st.floats(width=32, allow_nan=False))
def test_single_floats_come_back(value: float) -> None:
    text = format_value(value, "float", PRIMITIVES, 32)
    if 0 < abs(value) < 2.0**-126:
        with pytest.raises(ValueTextError):  # as in C++, digits may be lost down there
            parse_value(text, "float", PRIMITIVES, 32)
    else:
        assert parse_value(text, "float", PRIMITIVES, 32) == value


TREES: st.SearchStrategy[Value] = st.recursive(
    st.one_of(st.just(LEAF), st.builds(lambda name: Adt("Named", (name,)), st.text())),
    lambda inner: st.builds(lambda a, n, b: Adt("Node", (a, n, b)), inner, st.integers(0, 2**64 - 1), inner),
)


@given(tree=TREES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_quoted_symbols_come_back(tree: Value, types: TypeTable) -> None:
    text = value_printer("Tree", types, 64, quote_symbol)(tree)
    assert value_parser("Tree", types, 64)(text) == tree
