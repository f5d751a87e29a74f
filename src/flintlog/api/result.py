"""The result of a run: relations by name, as rows, Arrow tables or data frames."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from flintlog.diagnostics import Diagnostic, FlintlogError, did_you_mean
from flintlog.ir.program import Program, Relation
from flintlog.types import Row, TypeTable

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class RelationResult(Collection[Row]):
    """The rows of one relation."""

    def __init__(self, relation: Relation, rows: Collection[Row], types: TypeTable) -> None:
        self._relation = relation
        self._rows = rows
        self._types = types

    @property
    def name(self) -> str:
        return self._relation.name

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column.name for column in self._relation.columns)

    def rows(self) -> list[Row]:
        """The rows as tuples, in no particular order."""
        return list(self._rows)

    def to_arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table, with records and branches as text."""
        from flintlog.api.arrow import to_arrow

        return to_arrow(self._relation, self._rows, self._types)

    def to_pandas(self) -> pandas.DataFrame:
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        import polars

        frame = polars.from_arrow(self.to_arrow())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def print(self, stream: TextIO, *, word_size: int = 64) -> None:
        """Writes the rows as the lines of an `.output` file."""
        from flintlog.io.write import print_rows

        columns = self._relation.columns
        print_rows(self.name, columns, self._rows, self._types, word_size=word_size, stdout=stream)

    def spark(self) -> Any:
        """The rows as a Spark DataFrame, with records and branches as text. Raises FlintlogError unless Spark ran."""
        frame: Callable[[], Any] | None = getattr(self._rows, "frame", None)
        if frame is None:
            note = "run with spark=…, or make a frame from `to_arrow()`"
            raise FlintlogError([Diagnostic("E926", f"the rows of `{self.name}` are not on Spark", note=note)])
        return frame()

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __contains__(self, row: object) -> bool:
        return row in self._rows

    def __repr__(self) -> str:
        # Counting rows on Spark can take minutes.
        size = "on Spark" if hasattr(self._rows, "frame") else f"{len(self)} rows"
        return f"<{self.name}({', '.join(self.columns)}): {size}>"


def unknown_relation(name: str, known: Iterable[str]) -> KeyError:
    """The error for a relation that the program lacks."""
    names = list(known)
    hint = did_you_mean(name, names) or f"relations: {', '.join(names)}"
    return KeyError(f"the program has no relation `{name}`; {hint}")


class Result(Mapping[str, RelationResult]):
    """The relations of a program after a run. `warnings` are problems that did not end the run: extra columns in a
    facts file, an invalid pattern of `match`."""

    def __init__(
        self, program: Program, rows: Mapping[str, Collection[Row]], warnings: Sequence[Diagnostic] = ()
    ) -> None:
        self.warnings = tuple(warnings)
        self._results = {
            name: RelationResult(relation, rows[name], program.types) for name, relation in program.relations.items()
        }

    def __getitem__(self, name: str) -> RelationResult:
        if name not in self._results:
            raise unknown_relation(name, self._results)
        return self._results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        return f"<Result: {', '.join(repr(r) for r in self._results.values())}>"
