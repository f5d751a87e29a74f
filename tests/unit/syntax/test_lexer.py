import pytest
from tests.unit.syntax.reading import argument, items, problems, read

from flintlog.diagnostics import Report
from flintlog.source import SourceFile
from flintlog.syntax import ast
from flintlog.syntax.lexer import Lexer


def kinds(text):
    return [token.kind for token in Lexer(SourceFile("test.dl", text), Report())]


def test_words_marks_and_numbers():
    assert kinds("a_1 ?x _ count 12 0x1F 0b101u 1.5 :- <: -> choice-domain") == (
        ["IDENT", "IDENT", "_", "count", "NUMBER", "NUMBER", "UNSIGNED", "FLOAT", ":-", "<:", "->", "choice-domain"]
    )


def test_comments_are_left_out():
    assert kinds("a // b\n/* c\n d */ e # f\ng") == ["IDENT", "IDENT", "IDENT"]


def test_a_directive_is_one_word_but_a_name_may_end_like_one():
    assert kinds(".decl a") == ["DIRECTIVE", "IDENT"]
    assert kinds("instance.type\n") == ["IDENT", ".", "IDENT"]
    assert kinds(".declare a") == [".", "IDENT", "IDENT"]


def test_every_token_knows_its_place():
    tokens = list(Lexer(SourceFile("test.dl", "ab\n  cd(12)"), Report()))
    assert [(t.text, t.span.line, t.span.column) for t in tokens] == (
        [("ab", 1, 1), ("cd", 2, 3), ("(", 2, 5), ("12", 2, 6), (")", 2, 8)]
    )


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("12", ast.NumberLit("12")),
        ("0x1f", ast.NumberLit("0x1f")),
        ("0b11u", ast.NumberLit("0b11", "unsigned")),
        ("12u", ast.NumberLit("12", "unsigned")),
        ("1.5", ast.NumberLit("1.5", "float")),
        ("1.5e-3", ast.NumberLit("1.5e-3", "float")),
        ("1e3", ast.NumberLit("1e3", "float")),
        ("1.2.3.4", ast.NumberLit("16909060")),
        ("192.168.0.1", ast.NumberLit("-1062731775")),
        (r'"a\t\"b\"\\\n\'"', ast.StringLit('a\t"b"\\\n\'')),
        ('"two\nlines"', ast.StringLit("two\nlines")),
        ('"joined \\\nlines"', ast.StringLit("joined lines")),
        ("__LINE__", ast.NumberLit("1")),
        ("__FILE__", ast.StringLit("test.dl")),
        ("__INCL__", ast.StringLit("")),
    ],
)
def test_literals(text, literal):
    assert argument(text) == literal


def test_a_number_may_touch_an_operator_that_is_a_word():
    assert argument("1band 2") == ast.Functor("band", (ast.NumberLit("1"), ast.NumberLit("2")))


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [
        ("r(12abc).", "E105", 3),
        ("r(0b12).", "E105", 3),
        ("r(1.2.3.256).", "E105", 3),
        (f"r({'9' * 5000}).", "E105", 3),
        (r'r("a\qb").', "E104", 5),
        ("r('a').", "E106", 3),
        ("r(&).", "E106", 3),
        ('r("abc).', "E102", 3),
        ("r(). /* abc", "E103", 6),
    ],
)
def test_what_makes_no_token_is_reported_once(text, code, column):
    assert problems(text) == [(code, 1, column)]


def test_a_lost_quote_is_found_on_its_own_line():
    text = 'a("one).\nb("two").\nc("three") :- d(1).\n'
    program, report = read(text)
    assert [(d.code, d.span.line, d.span.column) for d in report.errors] == [("E102", 1, 3)]
    assert len(program) == 2


def test_after_two_lost_quotes_the_long_string_is_pointed_at():
    _, report = read('a("one).\nb("two).\nc(1).\n')
    (error,) = report.errors
    assert error.labels[0].span.line == 1


def test_lexing_goes_on_after_each_of_them():
    assert len(items("a(1).\n\n# a comment of FlowLog's\nb(2).")) == 2
    assert problems("a('x').\nb(1).\nc(&).") == [("E106", 1, 3), ("E106", 3, 3)]
