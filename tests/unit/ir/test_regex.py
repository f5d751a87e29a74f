"""Patterns of `match` mean what ECMAScript says."""

from __future__ import annotations

import pytest

from flintlog.ir.regex import matches


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a.c", "abc"),
        ("[[:digit:]]{2,}", "42"),
        ("[^[:space:]_]+", "ab"),
        (r"\w+@\w+\.(com|org)", "me@here.org"),
        ("(a|b)*", "abba"),
        (".*é.*", "café au lait"),
        ("..", "é"),
        (r"[\]\-a]+", "a]-"),
        ("[]-a]*x|x", "x"),
        ("a(?=b)b", "ab"),
        ("(?!x)y", "y"),
        ("[^]", "\n"),
        ("", ""),
        (r"\x41\.", "A."),
        ("a$|b", "b"),
        ("[a&&b]+", "a&b"),
    ],
)
def test_matches(pattern: str, text: str) -> None:
    assert matches(pattern, text) is True


@pytest.mark.parametrize(
    ("pattern", "text"), [("a", "aa"), (".", "\n"), (".", "\r"), (".", "é"), ("[]", ""), ("ab", "AB"), ("a$", "a\n")]
)
def test_does_not_match(pattern: str, text: str) -> None:
    assert matches(pattern, text) is False


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "*a", "(?i)a", "(?P<x>a)", "(?<=a)b", "a++", "a{,3}", "\\", r"\Z", "[[:nothing:]]", "b{3,2}"]
)
def test_is_not_a_regular_expression(pattern: str) -> None:
    assert matches(pattern, "a") is None
