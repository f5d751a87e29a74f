"""The rounds of a stratum: one plan a round, of which one job computes the new rows of all relations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from flintlog.engines.best import Best, best_of
from flintlog.engines.spark.dataframe.context import Context
from flintlog.engines.spark.dataframe.fixed import Inputs
from flintlog.engines.spark.dataframe.growing import Growing, together
from flintlog.engines.spark.dataframe.sources import RuleSources
from flintlog.engines.spark.dataframe.texts import Rows, numbered
from flintlog.engines.spark.dataframe.workspace import Kept, Workspace
from flintlog.ir.program import Program, Rule, Stratum
from flintlog.ir.relation import Aggregate, Node, Scan, children
from flintlog.ir.scalar import Call
from flintlog.ir.shared import in_place
from flintlog.ir.visit import relations_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Parts of a relation beyond which they become one.
MOST_PARTS = 10


@dataclass(frozen=True)
class Version:
    """A rule with one of its scans reading the last round's rows; with none, it is a rule that runs once."""

    rule: Rule
    scans: tuple[Scan, ...]
    delta: Scan | None = None


class Rounds:
    """Evaluates one stratum."""

    def __init__(
        self,
        workspace: Workspace,
        program: Program,
        stratum: Stratum,
        frames: Mapping[str, DataFrame],
        context: Context,
    ) -> None:
        self.workspace, self.program, self.context = workspace, program, context
        self.stratum = _with_own_scans(program, stratum)
        self.growing = {
            name: Growing(program.relations[name], _best(program, stratum, name), ()) for name in stratum.relations
        }
        self.inputs = Inputs(workspace, frames, program, {})
        self.sources = RuleSources(workspace, program, self.growing, self.inputs, context)
        self.scalars = self.sources.scalars

    def run(self) -> dict[str, DataFrame]:
        versions = [Version(rule, tuple(self._own_scans(rule.body))) for rule in self.stratum.rules]
        recursive = [replace(v, delta=scan) for v in versions for scan in v.scans]
        self._settle(1)
        self._first([version for version in versions if not version.scans])
        round = 0
        while recursive and any(g.delta for g in self.growing.values()) and not self._limit_reached():
            self.scalars.round = round
            round += 1
            self._round(round, recursive)
        return {name: self._result(growing) for name, growing in self.growing.items()}

    # --- Rounds -----------------------------------------------------------------------------------

    def _settle(self, partitions: int) -> None:
        """Into how many parts rows go from now on."""
        self.sources.partitions = partitions
        self.workspace.spread(partitions)
        self.sources.fixed_rows.partitions = partitions

    @property
    def single(self) -> bool:
        return self.sources.partitions == 1

    def _first(self, once: Sequence[Version]) -> None:
        """The facts, and what rules derive that read nothing of the stratum."""
        self.context.describe("facts and first rules")
        texts: dict[str, list[str]] = {name: [] for name in self.growing}
        for name in self.growing:
            if name in self.inputs.frames:
                texts[name].append(self.inputs.text(name))
        for version in once:
            texts[version.rule.relation].append(self._text(version))
        frames = []
        for name, growing in self.growing.items():
            text = growing.candidates(texts[name], self.scalars) if texts[name] else together([], False, growing.names)
            frames.append(self.workspace.sql(self._placed(growing, text)))
        for growing, kept in zip(self.growing.values(), self.workspace.keep(frames), strict=True):
            growing.parts = [kept]
            growing.delta = kept if kept.rows else None
        self._report(0)

    def _placed(self, growing: Growing, text: str) -> str:
        if self.single:
            return f"SELECT /*+ COALESCE(1) */ * FROM ({text})"
        names = [growing.names[i] for i in growing.placed] or growing.key
        return f"SELECT * FROM ({text}) DISTRIBUTE BY {', '.join(names)}"

    def _round(self, round: int, versions: Sequence[Version]) -> None:
        self.context.describe(f"round {round}")
        texts: dict[str, list[str]] = {}
        for version in versions:
            assert version.delta is not None
            if self.growing[version.delta.relation].delta is not None:
                texts.setdefault(version.rule.relation, []).append(self._text(version))
        new = [self.workspace.sql(self._new_rows(self.growing[name], texts[name])) for name in texts]
        full = [g for g in self.growing.values() if len(g.parts) > MOST_PARTS]
        merged = [self.workspace.sql(self._merged(growing)) for growing in full]
        kept = self.workspace.keep([*new, *merged])
        for growing, whole in zip(full, kept[len(new) :], strict=True):
            self._replace(growing, whole)
        found = dict(zip(texts, kept, strict=False))
        for name, growing in self.growing.items():
            growing.delta = None
            if name in found:
                self._append(growing, found[name])
        self.sources.end_round()
        self._report(round)

    def _append(self, growing: Growing, new: Kept) -> None:
        if new.rows:
            growing.parts.append(new)
            growing.delta = new
        else:
            self.workspace.free(new)

    def _new_rows(self, growing: Growing, texts: Sequence[str]) -> str:
        text = growing.candidates(texts, self.scalars)
        if self.single:
            return self._unknown(growing, text, growing.parts)
        for part in growing.parts:
            text = self._unknown(growing, text, [part])
        return text

    def _unknown(self, growing: Growing, text: str, parts: Sequence[Kept]) -> str:
        known = Rows(together(parts, self.single, growing.names), sum(part.rows for part in parts))
        hint = self.sources.hint(Rows("", 0), known, either=False, on=growing.key)
        return growing.unknown(text, known.text, hint, self.scalars)

    def _merged(self, growing: Growing) -> str:
        """All parts but the last round's, as one."""
        old = [part for part in growing.parts if part is not growing.delta]
        return self._placed(growing, growing.condensed(together(old, self.single, growing.names), self.scalars))

    def _replace(self, growing: Growing, whole: Kept) -> None:
        for part in growing.parts:
            if part is not growing.delta:
                self.workspace.free(part)
        growing.parts = [whole, *([growing.delta] if growing.delta is not None else [])]

    # --- Rules ------------------------------------------------------------------------------------

    def _text(self, version: Version) -> str:
        self.sources.read(version.rule, version.scans, version.delta)
        body = version.rule.body
        return numbered(body.schema, self.sources.plans.rows(body).text)

    def _own_scans(self, node: Node) -> Iterator[Scan]:
        """The scans of the stratum's own relations. What stands below an Aggregate repeats scans that stand beside it,
        to compute its groups, so it always reads everything."""
        if isinstance(node, Scan) and node.relation in self.growing:
            yield node
        if not isinstance(node, Aggregate):
            for child in children(node):
                yield from self._own_scans(child)

    # --- Ends -------------------------------------------------------------------------------------

    def _limit_reached(self) -> bool:
        limits = [(growing.relation.limit, growing.rows) for growing in self.growing.values()]
        return any(limit is not None and rows >= limit for limit, rows in limits)

    def _result(self, growing: Growing) -> DataFrame:
        if growing.best is not None and len(growing.parts) > 1:
            text = growing.whole(self.single, self.scalars)
            growing.parts = self.workspace.keep([self.workspace.sql(text)])
        frame = self.workspace.sql(together(growing.parts, False, growing.names))
        return self.workspace.handed_over(frame, growing.parts)

    def _report(self, round: int) -> None:
        delta = sum(g.delta.rows for g in self.growing.values() if g.delta is not None)
        self.context.progress(round, delta, sum(growing.rows for growing in self.growing.values()))


def _with_own_scans(program: Program, stratum: Stratum) -> Stratum:
    """The stratum with shared subplans in place where they read its own relations: every place has its own delta."""
    own = frozenset(stratum.relations)
    grows = {id for id, subplan in program.shared.items() if own & relations_of(subplan, program.shared)}
    rules = tuple(
        replace(rule, body=in_place(rule.body, program.shared, lambda part: part.id in grows)) for rule in stratum.rules
    )
    return replace(stratum, rules=rules)


def _best(program: Program, stratum: Stratum, name: str) -> Best | None:
    """How a relation keeps the best of rows with equal keys, if it does."""
    relation = program.relations[name]
    for position, merge in enumerate(relation.merge):
        if isinstance(merge, Call):
            return Best(name, position, 1 if merge.op == "min" else -1)
    return best_of(program, stratum) if stratum.subsumptions else None
