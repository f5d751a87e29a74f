"""Compiles scalars, conditions and steps to Python closures over a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from flintlog.diagnostics import InternalError
from flintlog.engines.numbered_values import NumberedValues
from flintlog.ir import operations as functors
from flintlog.ir.nodes import Each, Let, Schema, Step, Where
from flintlog.ir.scalar import (
    Call,
    Column,
    Compare,
    Condition,
    Const,
    Counter,
    IsBranch,
    IsRecord,
    MakeBranch,
    MakeRecord,
    Never,
    Part,
    Reinterpret,
    Round,
    Scalar,
    UserCall,
)
from flintlog.ir.words import Words
from flintlog.source import NOWHERE, Span
from flintlog.types import Adt, Kind, Row

Getter = Callable[[Row], Any]
Pipeline = Callable[[Iterable[Row]], Iterable[Row]]


class Machine:
    """The state that closures share: the word size, the user's functions, counters, and the numbers of symbols and
    records, which a program can see with `ord` or `as`."""

    def __init__(self, words: Words, functions: Any, notify: Callable[[str, Span], None]) -> None:
        self.words = words
        self.functions = functions
        self.place = NOWHERE  # of the rule that is being evaluated
        self.notify: functors.Notify = lambda message: notify(message, self.place)
        self.counter = 0
        self.round = 0
        self.known = NumberedValues()

    def next_count(self) -> int:
        self.counter += 1
        return self.words.signed(self.counter - 1)

    def word(self, value: Any, kind: Kind) -> int:
        """The machine word of a value, as a signed number."""
        if kind is Kind.FLOAT:
            return self.words.bits_of_real(value)
        if kind.is_numeric:
            return self.words.signed(value)
        if value is None:
            return 0
        number = self.known.number(value)
        # The word zero is nil among records, and the first symbol.
        return number if kind is Kind.SYMBOL else number + 1

    def intern(self, texts: Sequence[str]) -> list[int]:
        """The words of symbols, as `word` gives them one by one, for many at once."""
        return self.known.numbers(texts)

    def value(self, word: int, kind: Kind) -> Any:
        """The value that a machine word stands for."""
        if kind is Kind.NUMBER:
            return word
        if kind is Kind.UNSIGNED:
            return self.words.unsigned(word)
        if kind is Kind.FLOAT:
            return self.words.real_of_bits(word)
        if kind is Kind.RECORD and word == 0:
            return None
        number = word if kind is Kind.SYMBOL else word - 1
        values = self.known.values
        if not 0 <= number < len(values):
            raise functors.EvaluationError(f"as(…): no {kind.value} has the number {word}")
        return values[number]

    # --- Scalars ----------------------------------------------------------------------------------

    def scalar(self, scalar: Scalar, at: dict[str, int]) -> Getter:
        """A function from a row to the scalar's value; `at` says where each column stands in the row."""
        match scalar:
            case Column(name, _):
                position = at[name]
                return lambda row: row[position]
            case Const(value, _):
                return lambda row: value
            case Call() | UserCall():
                return self._call(scalar, at)
            case MakeRecord(args):
                parts = [self.scalar(a, at) for a in args]
                return lambda row: tuple([part(row) for part in parts])
            case MakeBranch(branch, args):
                parts = [self.scalar(a, at) for a in args]
                return lambda row: Adt(branch, tuple([part(row) for part in parts]))
            case Part(arg, index, _):
                whole = self.scalar(arg, at)
                if arg.kind is Kind.ADT:
                    return lambda row: whole(row).args[index]
                return lambda row: whole(row)[index]
            case Reinterpret(arg, kind):
                source, inner = arg.kind, self.scalar(arg, at)
                if source is kind:
                    return inner
                return lambda row: self.value(self.word(inner(row), source), kind)
            case Counter():
                return lambda row: self.next_count()
            case Round():
                return lambda row: self.round
        raise InternalError("closures", f"unknown scalar {scalar!r}")

    def _call(self, call: Call | UserCall, at: dict[str, int]) -> Getter:
        args = [self.scalar(a, at) for a in call.args]
        if isinstance(call, UserCall):
            function = self.functions[call.name]
        elif call.op == "ord":
            kind = call.args[0].kind
            return lambda row: self.word(args[0](row), kind)
        elif call.op in ("land", "lor"):
            # The right side is computed only where it matters: `x land (1 / x)` is 0 for 0.
            decisive = call.op == "lor"
            return lambda row: int(decisive if (args[0](row) != 0) is decisive else args[1](row) != 0)
        else:
            function = functors.implement(call.op, tuple(a.kind for a in call.args), self.words, self.notify)
        match args:
            case [one]:
                return lambda row: function(one(row))
            case [left, right]:
                return lambda row: function(left(row), right(row))
            case _:
                return lambda row: function(*[arg(row) for arg in args])

    def condition(self, condition: Condition, at: dict[str, int]) -> Callable[[Row], bool]:
        match condition:
            case Compare(op, left, right):
                test = functors.compare(op, left.kind, self.notify)
                first, second = self.scalar(left, at), self.scalar(right, at)
                return lambda row: test(first(row), second(row))
            case IsRecord(arg):
                record = self.scalar(arg, at)
                return lambda row: record(row) is not None
            case IsBranch(arg, branch):
                value = self.scalar(arg, at)
                return lambda row: bool(value(row).branch == branch)
            case Never():
                return lambda row: False
        raise InternalError("closures", f"unknown condition {condition!r}")

    # --- Steps ------------------------------------------------------------------------------------

    def pipeline(self, schema: Schema, steps: Sequence[Step], output: Sequence[tuple[str, Scalar]]) -> Pipeline:
        """A function from input rows to the rows that the steps and the projection make of them."""
        at = {column.name: i for i, column in enumerate(schema)}
        stages: list[Pipeline] = []
        for step in steps:
            stages.append(self._step(step, at))
            if not isinstance(step, Where):
                at = {**at, step.column.name: len(at)}
        if [name for name, _ in output] != list(at) or any(not isinstance(v, Column) or v.name != n for n, v in output):
            stages.append(self._projection([value for _, value in output], at))

        def run(rows: Iterable[Row]) -> Iterable[Row]:
            for stage in stages:
                rows = stage(rows)
            return rows

        return run

    def _projection(self, values: Sequence[Scalar], at: dict[str, int]) -> Pipeline:
        if all(isinstance(value, Column) for value in values):
            pick = key_at(tuple(at[value.name] for value in values if isinstance(value, Column)))
            return lambda rows: map(pick, rows)
        columns = [self.scalar(value, at) for value in values]
        return lambda rows: (tuple([column(row) for column in columns]) for row in rows)

    def _step(self, step: Step, at: dict[str, int]) -> Pipeline:
        match step:
            case Where(condition):
                holds = self.condition(condition, at)
                return lambda rows: filter(holds, rows)
            case Let(_, value):
                compute = self.scalar(value, at)
                return lambda rows: ((*row, compute(row)) for row in rows)
            case Each(column, bounds):
                ends = [self.scalar(bound, at) for bound in bounds]
                kind, words = column.kind, self.words
                return lambda rows: (
                    (*row, value)
                    for row in rows
                    for value in functors.range_values(tuple([end(row) for end in ends]), kind, words)
                )


def key_at(positions: tuple[int, ...]) -> Callable[[Row], Row]:
    """A function from a row to its values at these positions."""
    match positions:
        case ():
            return lambda row: ()
        case (one,):
            return lambda row: (row[one],)
        case _:
            return itemgetter(*positions)
