"""What a pass knows beside the program: what is wanted of it, what its facts are like, what the user pinned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from flintlog.ir.program import Program


@dataclass(frozen=True)
class PassContext:
    """- `wanted`: the relations somebody looks at afterwards. No pass may change their rows; others may go.
    - `sizes`: how many rows inputs have, as far as that is known.
    - `pragmas`: options that the program sets itself, by key; of one that is set twice, the last value.
    - `word_size`: bits of a number, for passes that compute.
    - `held`: the relations whose rules stay as they are, because the order of rows shows there (see `order_shows`). The
      sequence fills it in before each pass; nobody rewrites their rules or puts them into other rules.
    """

    wanted: frozenset[str]
    word_size: int = 64
    sizes: Mapping[str, int] = field(default_factory=dict)
    pragmas: Mapping[str, str] = field(default_factory=dict)
    held: frozenset[str] = frozenset()

    def named_by(self, pragma: str, relations: Iterable[str]) -> frozenset[str]:
        """Those of the relations that a pragma's value lists: names between commas, or `*` for all.

        >>> context = PassContext(frozenset(), pragmas={"inline-exclude": "a, b"})
        >>> sorted(context.named_by("inline-exclude", ["b", "c"]))
        ['b']
        """
        names = {name.strip() for name in self.pragmas.get(pragma, "").split(",")}
        return frozenset(name for name in relations if name in names or "*" in names)

    def pinned(self, program: Program, qualifier: str, pragma: str) -> frozenset[str]:
        """The relations that carry a qualifier, as in `.decl r(x: number) no_magic`, or that a pragma lists."""
        marked = {name for name, relation in program.relations.items() if qualifier in relation.qualifiers}
        return self.named_by(pragma, program.relations) | marked


def wanted_by_directives(program: Program) -> frozenset[str]:
    """The relations that `.output` and `.printsize` show."""
    return frozenset(directive.relation for directive in program.io if directive.kind != "input")
