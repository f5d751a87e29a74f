"""The values that given rows of a literal, or of the head, bind to a rule's variables."""

from __future__ import annotations

from collections.abc import Sequence

from flintlog.engines.local.storage.packing import Array
from flintlog.engines.reference.closures import Machine
from flintlog.incremental.rows.distinct import distinct
from flintlog.ir.scalar import Column, Const, Scalar


class Bindings:
    """The match of rows with terms: variables bind values, constants must agree, other terms are ignored. The match is
    exact if there are no other terms, and if the terms cover all columns of the rows (`is_whole`)."""

    def __init__(self, values: Sequence[Scalar], machine: Machine, *, is_whole: bool = True) -> None:
        self.variables: dict[str, int] = {}
        self.constants: list[tuple[int, int]] = []
        self.same: list[tuple[int, int]] = []
        for position, value in enumerate(values):
            if isinstance(value, Const):
                self.constants.append((position, machine.word(value.value, value.kind)))
            elif isinstance(value, Column):
                first = self.variables.setdefault(value.name, position)
                if first != position:
                    self.same.append((first, position))
            else:
                is_whole = False
        self.is_exact = is_whole
        self.names = frozenset(self.variables)

    def batch(self, columns: Sequence[Array], size: int) -> tuple[dict[str, Array], int]:
        """The different values of the variables in matching rows, and their number; at most 1 without variables."""
        keep = None
        for position, word in self.constants:
            is_equal = columns[position] == word
            keep = is_equal if keep is None else keep & is_equal
        for first, second in self.same:
            is_equal = columns[first] == columns[second]
            keep = is_equal if keep is None else keep & is_equal
        batch = {name: columns[position] for name, position in self.variables.items()}
        if keep is not None:
            which = keep.nonzero()[0]
            if which.size < size:
                batch = {name: column[which] for name, column in batch.items()}
                size = which.size
        if not batch:
            return {}, min(size, 1)
        if not self.is_exact and size > 1:
            rows = distinct(list(batch.values()))
            return dict(zip(batch, rows, strict=True)), rows[0].size
        return batch, size
