"""The expressions of `#if` and `#elif`: integers, `defined`, and C's operators on them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from flintlog.source import Span
from flintlog.syntax.literals import number_value
from flintlog.syntax.macros import MacroTable
from flintlog.syntax.tokens import IDENT, NUMBER, RESERVED, UNSIGNED, Token


class ConditionError(Exception):
    """The expression cannot be read; the message says why."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.span = span


def _quotient(left: int, right: int) -> int:
    magnitude = abs(left) // abs(right)
    return magnitude if (left < 0) == (right < 0) else -magnitude


_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: int(bool(a or b))},
    {"&&": lambda a, b: int(bool(a and b))},
    {"|": operator.or_},
    {"^": operator.xor},
    {"&": operator.and_},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        "<=": lambda a, b: int(a <= b),
        ">": lambda a, b: int(a > b),
        ">=": lambda a, b: int(a >= b),
    },
    {"<<": operator.lshift, ">>": operator.rshift},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": _quotient, "%": lambda a, b: a - b * _quotient(a, b)},
)
_UNARY: dict[str, Callable[[int], int]] = {
    "!": lambda a: int(not a),
    "-": operator.neg,
    "+": operator.pos,
    "~": operator.invert,
}


def holds(tokens: Sequence[Token], macros: MacroTable, line: Span) -> bool:
    """Whether the condition is true. `line` is the place of the directive, for what is missing.
    Raises ConditionError if it is no condition."""
    reader = _Reader(list(macros.expand(_resolve_defined(tokens, macros, line))), line)
    value = reader.binary(0)
    if reader.index < len(reader.tokens):
        reader.fail("expected an operator")
    return value != 0


def _resolve_defined(tokens: Sequence[Token], macros: MacroTable, line: Span) -> list[Token]:
    """`defined X` and `defined(X)` become 1 or 0, before any macro is expanded."""
    out: list[Token] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text == "defined":
            texts = [t.text for t in tokens[index + 1 : index + 4]]
            in_parentheses = len(texts) == 3 and texts[0] == "(" and texts[2] == ")"
            if not texts or (texts[0] == "(" and not in_parentheses):
                raise ConditionError("expected a name after `defined`", line)
            name = texts[1] if in_parentheses else texts[0]
            out.append(token._replace(kind=NUMBER, text=str(int(name in macros))))
            index += 4 if in_parentheses else 2
        else:
            out.append(token)
            index += 1
    return out


class _Reader:
    def __init__(self, tokens: list[Token], line: Span) -> None:
        self.tokens = tokens
        self.index = 0
        self._line = line

    def fail(self, expected: str) -> None:
        if self.index < len(self.tokens):
            token = self.tokens[self.index]
            raise ConditionError(f"{expected} in this condition, found {token.describe()}", token.span)
        raise ConditionError(f"{expected} at the end of this condition", self._line)

    def _take(self) -> str:
        if self.index >= len(self.tokens):
            self.fail("expected a value")
        self.index += 1
        return self.tokens[self.index - 1].text

    def _at(self, operators: dict[str, Callable[[int, int], int]]) -> bool:
        return self.index < len(self.tokens) and self.tokens[self.index].text in operators

    def binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self._unary()
        left = self.binary(level + 1)
        while self._at(_LEVELS[level]):
            symbol = self._take()
            right = self.binary(level + 1)
            if symbol in ("/", "%") and right == 0:
                raise ConditionError("division by zero in this condition", self._line)
            if symbol in ("<<", ">>"):
                right = min(max(right, 0), 64)
            left = _LEVELS[level][symbol](left, right)
        return left

    def _unary(self) -> int:
        if self.index >= len(self.tokens):
            self.fail("expected a value")
        token = self.tokens[self.index]
        if token.text in _UNARY:
            self.index += 1
            return _UNARY[token.text](self._unary())
        if token.text == "(":
            self.index += 1
            value = self.binary(0)
            if self.index >= len(self.tokens) or self.tokens[self.index].text != ")":
                self.fail("expected `)`")
            self.index += 1
            return value
        if token.kind in (NUMBER, UNSIGNED):
            self.index += 1
            return number_value(token.text)
        if token.kind == IDENT or token.kind in RESERVED:
            self.index += 1
            return 0  # as in C: a name that is no macro counts as 0
        self.fail("expected a value")
        raise AssertionError
