"""The check of a state: its rows, their rounds and counts are those that computing everything from the facts gives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.rows.chosen_rows import ChosenRows
from flintlog.incremental.rows.net_changes import NEVER
from flintlog.incremental.rows.row_rounds import UNKNOWN
from flintlog.incremental.state import State
from flintlog.incremental.strategies.best_update import BestUpdate
from flintlog.incremental.strategies.counting import counted
from flintlog.incremental.stratum import MaintainedStratum


def differences(state: State) -> list[str]:
    """The problems of a state, in words."""
    fresh = state.computed_anew()
    found: list[str] = []
    for relations, stratum in state.strata.items():
        for name in state.flattened.computed[relations]:
            problem = _of_rows(state, fresh, name)
            if not problem and stratum.part.best is not None and stratum.by_key is not None:
                if stratum.may_wrap(state.relations, state.machine.words.size):
                    continue  # the stratum is computed again by each update, and its rows have no levels
                problem = BestUpdate(state.relations, stratum.part.best, stratum.by_key, stratum.clauses).unfounded()
            elif not problem and stratum.part.has_clauses and stratum.has_rounds and not _shows_rounds(state, name):
                problem = _of_rounds(state, fresh, name) or _of_counts(state, stratum, name)
            if problem:
                found.append(f"{name}: {problem}")
        found += _of_counts_by_round(state, stratum)
    return found


def _shows_rounds(state: State, name: str) -> bool:
    """Whether a relation shows the rounds of another one: its rows come together with those."""
    return state.flattened.program.relations[name].delta_of is not None


def _of_rows(state: State, fresh: State, name: str) -> str:
    relation, other = state.relations[name], fresh.relations[name]
    here, there = relation.rounds.present(), other.rounds.present()
    found = other.find(relation.columns(here), here.size)
    too_many = int(np.count_nonzero((found < 0) | (other.rounds.new[found] == NEVER)))
    rows = relation.find(other.columns(there), there.size)
    too_few = there.size - (here.size - too_many)
    if too_many or too_few:
        return f"{too_many} rows too many, {too_few} too few"
    if (relation.rounds.old[rows] != relation.rounds.new[rows]).any() or relation.rounds.size != there.size:
        return "an update is not done"
    return ""


def _of_rounds(state: State, fresh: State, name: str) -> str:
    relation, other = state.relations[name], fresh.relations[name]
    there = other.rounds.present()
    rows = relation.find(other.columns(there), there.size)
    wrong = int(np.count_nonzero(relation.rounds.new[rows] != other.rounds.new[there]))
    return f"{wrong} rows have another round" if wrong else ""


def _of_counts(state: State, stratum: MaintainedStratum, name: str) -> str:
    relation = state.relations[name]
    rows = relation.rounds.present()
    counts = (relation.rounds.new[rows] == 0).astype(np.int64)
    for heads in _derivations(state, stratum, name, rows):
        counts += np.bincount(np.searchsorted(rows, heads), minlength=rows.size)
    known = relation.rounds.counts[rows] != UNKNOWN
    wrong = int(np.count_nonzero(counts[known] != relation.rounds.counts[rows][known]) + np.count_nonzero(counts == 0))
    return f"{wrong} rows have another count" if wrong else ""


def _derivations(state: State, stratum: MaintainedStratum, name: str, rows: Array) -> Iterator[Array]:
    """The heads of all instances that count: a row's derivations in its own round."""
    relation = state.relations[name]
    chosen = ChosenRows(relation, rows)
    for clause in stratum.clauses:
        for found in clause.instances.of_head(chosen) if clause.relation == name else ():
            heads = relation.find(found.head, found.size)
            rounds = clause.rounds.latest(found, "new").astype(np.int64) + 1
            yield heads[rounds == relation.rounds.new[heads]]


def _of_counts_by_round(state: State, stratum: MaintainedStratum) -> Iterator[str]:
    if stratum.counts is not None:
        fresh = counted(stratum.relations, stratum.clauses, state.planner)
        for name, counts in stratum.counts.items():
            if counts.all() != fresh[name].all():
                yield f"{name}: counts of rounds differ"
