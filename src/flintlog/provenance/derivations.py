"""The derivations of rows, found by questions that give the head of a rule and ask for its body.

The question for a rule is `why(head…, rows of the body…) :- goal(head…), body`. The rules are those of the program's
text, not those that maintenance and the optimizer make of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from flintlog.check.checked import CheckedProgram, Clause, Literal
from flintlog.check.clauses.traverse import walk
from flintlog.compiler import Compilation
from flintlog.diagnostics import FlintlogError
from flintlog.engines.local.storage.packing import Array
from flintlog.incremental.questions.question import answers
from flintlog.incremental.rows.maintained_relation import MaintainedRelation
from flintlog.incremental.state import State
from flintlog.provenance.spelling import argument_of, print_literal
from flintlog.syntax import ast
from flintlog.syntax.printer import print_argument
from flintlog.types import Kind

# Passes to skip: `structural` would join the goals last, because bodies have all columns of the goals.
SKIPPED_PASSES = ("structural",)
# Aggregates in heads whose value is the value of one row.
_CHOOSING = ("min", "max")


@dataclass(frozen=True, eq=False)
class RuleQuestion:
    """The question for a rule: its relation `name` has the columns of the head, then those of the body's `atoms`."""

    clause: Clause
    name: str
    text: str
    atoms: tuple[ast.Atom, ...]


@dataclass(frozen=True, eq=False)
class Derived:
    """Derivations by one rule: the positions of the heads, and for each atom of the body those of its rows."""

    rule: RuleQuestion
    heads: Array
    rows: list[Array]
    columns: list[Array]  # of the question's relation


class Derivations:
    """Finds derivations of rows. `checked` is the program `text`; `compile` compiles it with a text added."""

    def __init__(self, state: State, checked: CheckedProgram, text: str, compile: Callable[[str], Compilation]) -> None:
        self._state, self._checked, self._compile = state, checked, compile
        self._types = {name: tuple(a.type for a in r.attributes) for name, r in checked.relations.items()}
        self._tag = "__"
        while self._tag in text:
            self._tag += "_"
        self._goals = {name: f"goal{self._tag}{number}" for number, name in enumerate(self._types)}
        self._rules: dict[str, list[RuleQuestion]] = {}
        self._compilation: Compilation | None = None

    def prepare(self, relation: str) -> None:
        """Makes the questions for the rules of a relation and of the relations on which it depends."""
        waiting, clauses = [relation], list(enumerate(self._checked.clauses))
        while waiting:
            name = waiting.pop()
            if name not in self._rules:
                own = [(i, clause) for i, clause in clauses if clause.head.name == name]
                questions = [self.question_for(clause, clause.body, f"why{self._tag}{i}") for i, clause in own]
                self._rules[name] = [rule for rule in questions if rule is not None]
                waiting += [part.name for _, clause in own for part in clause.body if isinstance(part, ast.Atom)]
        try:
            self._compilation = self.compiled(self._all_rules())
        except FlintlogError:  # rules with counters, for example, make no valid questions: only the others are kept
            self._rules = {name: [r for r in rules if self._compiles(r)] for name, rules in self._rules.items()}
            self._compilation = self.compiled(self._all_rules())

    def rules_of(self, relation: str) -> list[RuleQuestion]:
        return self._rules.get(relation, [])

    def of(self, goals: Mapping[str, Array]) -> Iterator[Derived]:
        """All derivations of the rows at these positions of relations."""
        rules = [rule for name in goals for rule in self.rules_of(name)]
        if not rules:
            return
        given = {self._goals[name]: self._state.relations[name].facts(rows) for name, rows in goals.items()}
        assert self._compilation is not None
        relations = answers(self._state, self._compilation, [rule.name for rule in rules], given, SKIPPED_PASSES)
        for rule in rules:
            relation = relations[rule.name]
            if relation.size:
                yield self._derived(rule, relation.columns(), relation.size)

    def goal_name(self, relation: str) -> str:
        return self._goals[relation]

    def _derived(self, rule: RuleQuestion, columns: list[Array], size: int) -> Derived:
        kept = self._state.relations
        start = len(rule.clause.head.args)
        heads = kept[rule.clause.head.name].find(columns[:start], size)
        rows: list[Array] = []
        for atom in rule.atoms:
            end = start + len(atom.args)
            rows.append(_positions(kept.get(atom.name), columns[start:end], size))
            start = end
        return Derived(rule, heads, rows, columns)

    def values(self, rule: RuleQuestion, words: Sequence[int]) -> dict[str, ast.Argument]:
        """The values of those variables of a rule that are arguments of its head or of its atoms."""
        arguments = [*rule.clause.head.args, *(argument for atom in rule.atoms for argument in atom.args)]
        names = [rule.clause.head.name, *(atom.name for atom in rule.atoms)]
        kinds = [kind for name in names for kind in self.kinds(name)]
        found: dict[str, ast.Argument] = {}
        for argument, word, kind in zip(arguments, words, kinds, strict=True):
            if isinstance(argument, ast.Variable):
                found[argument.name] = argument_of(self._state.machine.value(int(word), kind))
        return found

    def kinds(self, relation: str) -> tuple[Kind, ...]:
        types = self._checked.types
        return tuple(types[attribute.type].kind for attribute in self._checked.relations[relation].attributes)

    # --- Questions --------------------------------------------------------------------------------

    def question_for(self, clause: Clause, body: Sequence[Literal], name: str) -> RuleQuestion | None:
        """The question for a rule with `body`, its own or the beginning of it; None if the head combines values of
        several rows, or if a relation has a lattice."""
        atoms = [part for part in body if isinstance(part, ast.Atom)]
        if any(a.lattice for atom in (clause.head, *atoms) for a in self._checked.relations[atom.name].attributes):
            return None
        values: list[ast.Argument] = []
        for argument in clause.head.args:
            if isinstance(argument, ast.HeadAggregate):
                if argument.op not in _CHOOSING:
                    return None
                argument = argument.arg
            values.append(argument)
        types = self._types[clause.head.name]
        heads = [f"head{self._tag}{i}" for i in range(len(types))]
        columns = list(zip(heads, types, strict=True))
        parts = [f"{self._goals[clause.head.name]}({', '.join(heads)})"]
        # Computed values come last: conditions of the body may say for which operands they exist.
        last: list[str] = []
        for head, argument in zip(heads, values, strict=True):
            if (value := print_argument(argument)) != "_":
                (last if _is_computed(argument) else parts).append(f"{head} = {value}")
        number = 0
        for literal in body:
            if isinstance(literal, ast.Atom):
                names = [f"row{self._tag}{number}_{i}" for i in range(len(literal.args))]
                number += 1
                columns += zip(names, self._types[literal.name], strict=True)
                parts.append(f"{literal.name}({', '.join(names)})")
                arguments = [print_argument(argument) for argument in literal.args]
                parts += [f"{n} = {a}" for n, a in zip(names, arguments, strict=True) if a != "_"]
            else:
                parts.append(print_literal(literal))
        parts += last
        declared = ", ".join(f"{name}: {type}" for name, type in columns)
        rule = f"{name}({', '.join(n for n, _ in columns)}) :- {', '.join(parts)}."
        return RuleQuestion(clause, name, f".decl {name}({declared})\n{rule}\n", tuple(atoms))

    def compiled(self, rules: Iterable[RuleQuestion]) -> Compilation:
        """The program with these questions. Raises FlintlogError if one of them does not compile."""
        chosen = list(rules)
        relations = sorted({rule.clause.head.name for rule in chosen})
        goals = "".join(f".decl {self._goals[name]}({self._declared(name)})\n" for name in relations)
        compilation = self._compile(goals + "".join(rule.text for rule in chosen))
        compilation.report.raise_if_errors()
        return compilation

    def _compiles(self, rule: RuleQuestion) -> bool:
        try:
            self.compiled([rule])
        except FlintlogError:
            return False
        return True

    def _all_rules(self) -> Iterator[RuleQuestion]:
        return chain.from_iterable(self._rules.values())

    def _declared(self, relation: str) -> str:
        return ", ".join(f"c{i}: {type}" for i, type in enumerate(self._types[relation]))


def _is_computed(argument: ast.Argument) -> bool:
    return any(isinstance(part, ast.Functor | ast.UserFunctor) for part in walk(argument))


def _positions(kept: MaintainedRelation | None, columns: list[Array], size: int) -> Array:
    """The positions of rows; -1 if the database does not store the relation (an inline relation)."""
    return np.full(size, -1, np.int64) if kept is None else kept.find(columns, size)
