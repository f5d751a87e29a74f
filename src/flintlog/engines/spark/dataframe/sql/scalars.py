"""Scalars and conditions as SQL over words, wherever SQL can have exactly Flintlog's meaning.

Words are bigint columns. No expression written here can raise, even if the session makes overflow an error: sums are
made of halves of words, so that none overflows.
"""

from __future__ import annotations

from collections.abc import Callable

from flintlog.ir.scalar import Call, Column, Compare, Condition, Const, IsRecord, Never, Reinterpret, Round, Scalar
from flintlog.ir.visit import operands
from flintlog.types import Kind, Value

_HALF = "4294967295L"
_LEAST = -(1 << 63)
_INTEGERS = (Kind.NUMBER, Kind.UNSIGNED)
_BITWISE = {"band": "&", "bor": "|", "bxor": "^"}
_SAME_WORD = ("itou", "utoi", "ord")
_INTEGER_CALLS = ("+", "-", "neg", "bnot", "bshl", "bshr", "bshru", "land", "lor", "lxor", "lnot", "min", "max")
_COMPARISONS = {"=": "=", "!=": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
# Calls nested deeper than this are left to tasks: every level repeats its operands in the text.
DEEPEST = 3


def quoted(name: str) -> str:
    """A column name in SQL. Capitals are marked, since Spark's column names may ignore case.

    >>> quoted("x"), quoted("X"), quoted("parentOf")
    ('`x`', '`^x`', '`parent^of`')
    """
    marked = "".join(f"^{letter.lower()}" if letter.isupper() else letter for letter in name)
    return "`" + marked.replace("`", "``") + "`"


def literal(word: int) -> str:
    """
    >>> literal(-1), literal(-(1 << 63))
    ('-1L', '(-9223372036854775807L - 1L)')
    """
    return f"{word}L" if word > _LEAST else f"({_LEAST + 1}L - 1L)"


def is_native(term: Scalar | Condition) -> bool:
    """Whether a term can be written in SQL with the same meaning."""
    return _own_meaning(term) and _depth(term) <= DEEPEST and all(is_native(part) for part in operands(term))


def _depth(term: Scalar | Condition) -> int:
    below = max((_depth(part) for part in operands(term)), default=0)
    return below + 1 if isinstance(term, Call) else below


def _own_meaning(term: Scalar | Condition) -> bool:
    match term:
        case Column() | Const() | Round() | Never() | IsRecord():
            return True
        case Reinterpret(arg, kind):
            return kind.is_numeric or kind is arg.kind
        case Compare(op, left, _):
            return op in ("=", "!=") or (op in _COMPARISONS and left.kind.is_numeric)
        case Call(op, args, _):
            return _is_native_call(op, args, [arg.kind for arg in args])
    return False


def _is_native_call(op: str, args: tuple[Scalar, ...], kinds: list[Kind]) -> bool:
    if op in _SAME_WORD:
        return True
    if op in ("to_number", "to_unsigned"):
        return kinds[0] in _INTEGERS
    if any(kind not in _INTEGERS for kind in kinds):
        return False
    if op == "*":
        return all(isinstance(arg, Column | Const) for arg in args)
    if op in ("/", "%"):
        divisor = args[1]
        return kinds[0] is Kind.NUMBER and isinstance(divisor, Const) and divisor.value not in (0, -1)
    return op in _INTEGER_CALLS or op in _BITWISE


class Scalars:
    """Writes terms as SQL. `word` gives the word of a constant; `round` is the value of `recursive_iteration_cnt()`."""

    def __init__(self, word: Callable[[Value, Kind], int], word_size: int) -> None:
        self.word, self.whole = word, word_size == 64
        self.round = 0

    def scalar(self, scalar: Scalar) -> str:
        match scalar:
            case Column(name, _):
                return quoted(name)
            case Const(value, kind):
                return literal(self.word(value, kind))
            case Round():
                return literal(self.round)
            case Reinterpret(arg, _):
                return self.scalar(arg)
            case Call(op, args, kind):
                return self._call(op, args, kind)
        raise AssertionError(scalar)

    def condition(self, condition: Condition) -> str:
        match condition:
            case Never():
                return "false"
            case IsRecord(arg):
                return f"{self.scalar(arg)} <> 0L"
            case Compare(op, left, right):
                return self._compare(_COMPARISONS[op], left.kind, self.scalar(left), self.scalar(right))
        raise AssertionError(condition)

    def ordered(self, text: str, kind: Kind) -> str:
        """A number that compares like the value of the word. Zeros of both signs become one number."""
        if kind is Kind.UNSIGNED:
            return f"({text} ^ {literal(_LEAST)})" if self.whole else f"({text} & {_HALF})"
        if kind is Kind.FLOAT:
            magnitude = f"({text} & {literal((1 << 63) - 1 if self.whole else (1 << 31) - 1)})"
            return f"(CASE WHEN {text} >= 0L THEN {text} ELSE -{magnitude} END)"
        return text

    # --- Comparisons ------------------------------------------------------------------------------

    def _compare(self, op: str, kind: Kind, left: str, right: str) -> str:
        if kind is Kind.FLOAT:
            compared = f"{self.ordered(left, kind)} {'=' if op == '<>' else op} {self.ordered(right, kind)}"
            both = f"({self._is_real(left)} AND {self._is_real(right)} AND {compared})"
            return f"NOT {both}" if op == "<>" else both
        if op in ("=", "<>"):
            return f"{left} {op} {right}"
        return f"{self.ordered(left, kind)} {op} {self.ordered(right, kind)}"

    def _is_real(self, text: str) -> str:
        """The condition that a float is not NaN."""
        magnitude, infinite = ((1 << 63) - 1, 0x7FF << 52) if self.whole else ((1 << 31) - 1, 0xFF << 23)
        return f"({text} & {literal(magnitude)}) <= {literal(infinite)}"

    # --- Operations -------------------------------------------------------------------------------

    def _call(self, op: str, args: tuple[Scalar, ...], kind: Kind) -> str:
        texts = [self.scalar(arg) for arg in args]
        if op in _SAME_WORD or op in ("to_number", "to_unsigned"):
            return texts[0]
        if op in _BITWISE:
            return f"({texts[0]} {_BITWISE[op]} {texts[1]})"
        if op in ("min", "max"):
            return self._extreme(op, texts, kind)
        match op, texts:
            case "+", [a, b]:
                return self._sum(a, b)
            case "-", [a, b]:
                return self._difference(a, b)
            case "*", [a, b]:
                return self._product(a, b)
            case "neg", [a]:
                return self._difference("0L", a)
            case "/", [a, b]:
                return f"({a} div {b})"
            case "%", [a, b]:
                return f"({a} % {b})"
            case "bnot", [a]:
                return f"(~{a})"
            case "lnot", [a]:
                return f"(CASE WHEN {a} = 0L THEN 1L ELSE 0L END)"
            case (("land" | "lor" | "lxor"), [a, b]):
                test = {"land": "AND", "lor": "OR", "lxor": "<>"}[op]
                return f"(CASE WHEN ({a} <> 0L) {test} ({b} <> 0L) THEN 1L ELSE 0L END)"
            case (("bshl" | "bshr" | "bshru"), [a, b]):
                return self._shift(op, a, b, kind)
        raise AssertionError(op)

    def _extreme(self, op: str, texts: list[str], kind: Kind) -> str:
        if len(texts) == 1:
            return texts[0]
        function = "least" if op == "min" else "greatest"
        if kind is Kind.NUMBER:
            return f"{function}({', '.join(texts)})"
        extreme = f"{function}({', '.join(self.ordered(text, kind) for text in texts)})"
        return self.ordered(extreme, kind) if self.whole else self.wrapped(extreme)

    def wrapped(self, text: str) -> str:
        """The word of a number that may be too large for words of 32 bits."""
        return text if self.whole else f"shiftright(shiftleft({text}, 32), 32)"

    def _sum(self, a: str, b: str) -> str:
        if not self.whole:
            return self.wrapped(f"({a} + {b})")
        low = f"(({a} & {_HALF}) + ({b} & {_HALF}))"
        high = f"(shiftright({a}, 32) + shiftright({b}, 32) + shiftright({low}, 32))"
        return f"(shiftleft({high}, 32) | ({low} & {_HALF}))"

    def _difference(self, a: str, b: str) -> str:
        if not self.whole:
            return self.wrapped(f"({a} - {b})")
        low = f"(({a} & {_HALF}) - ({b} & {_HALF}))"
        high = f"(shiftright({a}, 32) - shiftright({b}, 32) + shiftright({low}, 32))"
        return f"(shiftleft({high}, 32) | ({low} & {_HALF}))"

    def _product(self, a: str, b: str) -> str:
        if not self.whole:
            return self.wrapped(f"({a} * {b})")
        low_a, low_b = f"({a} & {_HALF})", f"({b} & {_HALF})"
        # Of a factor's low half, first the lower and then the upper sixteen bits: neither product is too large.
        low = self._sum(f"(({a} & 65535L) * {low_b})", f"shiftleft(shiftright({low_a}, 16) * {low_b}, 16)")
        crosses = f"(shiftright({a}, 32) * {low_b} & {_HALF}) + ({low_a} * shiftright({b}, 32) & {_HALF})"
        return self._sum(low, f"shiftleft({crosses}, 32)")

    def _shift(self, op: str, a: str, b: str, kind: Kind) -> str:
        places = f"CAST({b} & {63 if self.whole else 31}L AS INT)"
        if op == "bshl":
            return self.wrapped(f"shiftleft({a}, {places})")
        if op == "bshr" and kind is Kind.NUMBER:
            return f"shiftright({a}, {places})"
        if self.whole:
            return f"shiftrightunsigned({a}, {places})"
        return self.wrapped(f"shiftright(({a} & {_HALF}), {places})")
