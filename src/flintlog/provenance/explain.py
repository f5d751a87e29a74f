"""Explains why a row is in a database, or why it is not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from flintlog.check.checked import CheckedProgram
from flintlog.compiler import Compilation
from flintlog.depth import deep_recursion
from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.engines.local.row_strata import encode
from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.maintained import Maintained, Whole
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.state import State
from flintlog.incremental.stratum import MaintainedStratum
from flintlog.provenance.derivations import Derivations, Derived
from flintlog.provenance.explanation import Explanation, RowName, Step
from flintlog.provenance.spelling import print_clause, print_literal, spelled, with_values
from flintlog.provenance.why_not import attempts
from flintlog.syntax import ast
from flintlog.types import Kind, Row

# The default height of a proof.
DEPTH = 30
# In strata without rounds, a search for a proof ends after so many rows.
MOST_ROWS = 100_000


@deep_recursion()
def explain(database: Maintained, relation: str, row: Row, depth: int = DEPTH) -> Explanation:
    """A proof of a row, at most `depth` rules high; for a row that the database lacks, how far each rule matches it.
    Raises FlintlogError."""
    checked = database.checked()
    with Whole(database):
        try:
            explainer = Explainer(database.state, checked, database.text, database.compiled_with)
            return explainer.explain(relation, row, depth)
        except RecursionError:  # Python compares nested values by recursion
            note = "ask for rows with shorter lists"
            problem = Diagnostic("E971", "values are nested too deeply to be explained", note=note)
            raise FlintlogError([problem]) from None


class Explainer:
    """Explains rows of a state. `checked` is the program of `text`; `compile` compiles that text with another added."""

    def __init__(self, state: State, checked: CheckedProgram, text: str, compile: Callable[[str], Compilation]) -> None:
        self._state, self._checked = state, checked
        self._derivations = Derivations(state, checked, text, compile)
        computed = state.flattened.computed
        self._strata = {name: stratum for stratum in state.strata.values() for name in computed[stratum.relations]}
        self._steps: dict[RowName, Step] = {}

    def explain(self, relation: str, row: Row, depth: int = DEPTH) -> Explanation:
        kept, kinds = self._state.relations[relation], self._checked_kinds(relation)
        columns = encode([row], kinds, self._state.machine)
        [position] = kept.find(columns, 1).tolist()
        self._derivations.prepare(relation)
        goal = spelled(relation, row)
        if position < 0 or kept.rounds.new[position] == NEVER:
            return Explanation(
                goal,
                holds=False,
                attempts=tuple(attempts(self._state, self._checked, self._derivations, relation, columns)),
            )
        self._steps = {}
        self._prove((relation, position), depth)
        return Explanation(goal, holds=True, root=(relation, position), steps=self._steps)

    def _checked_kinds(self, relation: str) -> tuple[Kind, ...]:
        return self._state.flattened.program.relations[relation].kinds

    # --- Proofs -----------------------------------------------------------------------------------

    def _prove(self, root: RowName, depth: int) -> None:
        level = {root}
        for _ in range(depth):
            level = {row for row in self._steps_of(level) if row not in self._steps}
            if not level:
                return
        for name, position in level:
            note = "fact" if self._state.relations[name].rounds.given[position] else "explain this row to see more"
            self._steps[name, position] = Step(self._text(name, position), note=note)

    def _steps_of(self, rows: Iterable[RowName]) -> Iterator[RowName]:
        """Finds a step for each row; yields the rows from which these steps derive."""
        goals: dict[str, list[int]] = defaultdict(list)
        for name, position in rows:
            if self._state.relations[name].rounds.given[position]:
                self._steps[name, position] = Step(self._text(name, position), note="fact")
            else:
                goals[name].append(position)
        rounds = self._rounds(goals)
        best: dict[RowName, tuple[int, Derived, int]] = {}
        for derived in self._derivations.of({name: np.array(sorted(some)) for name, some in goals.items()}):
            name = derived.rule.clause.head.name
            latest = self._latest(derived, rounds)
            for i in np.argsort(latest, kind="stable").tolist():
                head = name, int(derived.heads[i])
                if latest[i] != NEVER and (head not in best or latest[i] < best[head][0]):
                    best[head] = int(latest[i]), derived, i
        for name, positions in goals.items():
            for position in positions:
                if (name, position) in best:
                    _, derived, i = best[name, position]
                    step = self._steps[name, position] = self._step(derived, i)
                    yield from step.rows
                else:
                    self._steps[name, position] = Step(self._text(name, position), note=self._note(name))

    def _rounds(self, goals: Mapping[str, Sequence[int]]) -> dict[RowName, int]:
        """Rounds of rows in strata that store none, computed from all derivations below the goals."""
        found: dict[RowName, int] = {}
        pending = {name: set(some) for name, some in goals.items() if not self._has_rounds(name)}
        seen = {(name, position) for name, some in pending.items() for position in some}
        waiting: list[tuple[RowName, list[RowName]]] = []
        while pending and len(seen) < MOST_ROWS:
            positions = {name: np.array(sorted(some)) for name, some in pending.items()}
            pending = defaultdict(set)
            for derived in self._derivations.of(positions):
                stratum = self._strata[derived.rule.clause.head.name]
                for head, rows in self._own_rows(derived, stratum):
                    waiting.append((head, rows))
                    for name, position in rows:
                        if (name, position) not in seen and not self._state.relations[name].rounds.given[position]:
                            pending[name].add(position)
                            seen.add((name, position))
        round, changed = 0, True
        while changed:
            round += 1
            ready = {
                head
                for head, rows in waiting
                if head not in found
                and all(row in found or self._state.relations[row[0]].rounds.given[row[1]] for row in rows)
            }
            found |= dict.fromkeys(ready, round)
            changed = bool(ready)
        return found

    def _own_rows(self, derived: Derived, stratum: MaintainedStratum) -> Iterator[tuple[RowName, list[RowName]]]:
        """The head of each derivation, with those of its rows that belong to the head's stratum."""
        name = derived.rule.clause.head.name
        own = [i for i, atom in enumerate(derived.rule.atoms) if atom.name in stratum.relations]
        for i, head in enumerate(derived.heads.tolist()):
            yield (name, head), [(derived.rule.atoms[j].name, int(derived.rows[j][i])) for j in own]

    def _latest(self, derived: Derived, rounds: Mapping[RowName, int]) -> Array:
        """For each derivation the latest round of its rows in the head's stratum; NEVER unless the head's is later."""
        name = derived.rule.clause.head.name
        stratum = self._strata[name]
        if not self._has_rounds(name):
            latest = [
                (max((self._round(row, rounds) for row in rows), default=0), rounds.get(head, 0))
                for head, rows in self._own_rows(derived, stratum)
            ]
            return np.array([last if last < own else NEVER for last, own in latest], np.int64)
        result = np.zeros(derived.heads.size, np.int64)
        for atom, rows in zip(derived.rule.atoms, derived.rows, strict=True):
            if atom.name in stratum.relations:
                result = np.maximum(result, self._state.relations[atom.name].rounds.new[rows])
        return np.where(result < self._state.relations[name].rounds.new[derived.heads], result, NEVER)

    def _round(self, row: RowName, rounds: Mapping[RowName, int]) -> int:
        return 0 if self._state.relations[row[0]].rounds.given[row[1]] else rounds.get(row, NEVER)

    def _has_rounds(self, name: str) -> bool:
        stratum = self._strata[name]
        return stratum.part.has_clauses and stratum.has_rounds

    def _note(self, name: str) -> str:
        """The note for a row without a step."""
        part = self._strata[name].part
        if watched := self._state.flattened.program.relations[name].delta_of:
            return f"the round in which `{watched}` got this row"
        if part.again:
            return f"computed as a whole: {part.again}"
        heads = [clause.head for clause in self._checked.clauses if clause.head.name == name]
        if any(isinstance(argument, ast.HeadAggregate) for head in heads for argument in head.args):
            return "its value combines several rows"
        return "no derivation was found"

    def _step(self, derived: Derived, i: int) -> Step:
        rule = derived.rule
        values = self._derivations.values(rule, [column[i] for column in derived.columns])
        kept = self._state.relations
        rows = [(atom.name, int(positions[i])) for atom, positions in zip(rule.atoms, derived.rows, strict=True)]
        others = [part for part in rule.clause.body if not isinstance(part, ast.Atom)]
        conditions = [print_literal(with_values(part, values)) for part in others]
        unkept = [print_literal(with_values(atom, values)) for atom in rule.atoms if atom.name not in kept]
        head = rule.clause.head.name, int(derived.heads[i])
        if not rule.clause.body:
            return Step(self._text(*head), note="in the program's text")
        return Step(
            self._text(*head),
            rule=print_clause(rule.clause),
            rows=tuple(row for row in rows if row[0] in kept),
            conditions=(*unkept, *conditions),
        )

    def _text(self, name: str, position: int) -> str:
        kept = self._state.relations[name]
        words = [int(column[0]) for column in kept.columns(np.array([position]))]
        return spelled(
            name, [self._state.machine.value(w, k) for w, k in zip(words, self._derivations.kinds(name), strict=True)]
        )
