"""Which relations depend on which, how, and which of them depend on one another."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from flintlog.check.checked import Clause, NegatedAtom, Relation, SubsumptiveClause
from flintlog.check.clauses.content import head_name
from flintlog.check.clauses.traverse import AGGREGATES, walk
from flintlog.check.names import body_atoms
from flintlog.source import Span
from flintlog.syntax import ast


@dataclass(frozen=True)
class Use:
    """A rule for `head` reads `read`. `how` is "" for a plain atom, "!" for a negated one, "aggregate" for any atom
    inside an aggregate."""

    head: str
    read: str
    how: str
    span: Span


class Dependencies:
    """The graph of relations. A subsumption depends on what its body reads, not on the two rows it compares."""

    def __init__(self, relations: Mapping[str, Relation], clauses: Iterable[Clause | SubsumptiveClause]) -> None:
        self._reads: dict[str, dict[str, Use]] = {name: {} for name in relations}
        self.stratifying: list[Use] = []  # the uses that need a complete relation
        for relation in relations.values():
            if relation.delta_of in self._reads:
                self._add(Use(relation.name, relation.delta_of, "", relation.span))
        for clause in clauses:
            for use in _uses(clause):
                if use.head in self._reads and use.read in self._reads:
                    self._add(use)
        self.groups = _strongly_connected(self._reads)
        self._group_of = {name: i for i, group in enumerate(self.groups) for name in group}

    def _add(self, use: Use) -> None:
        self._reads[use.head].setdefault(use.read, use)
        if use.how:
            self.stratifying.append(use)

    def reads(self, name: str) -> Iterable[str]:
        """The relations that the rules of a relation read."""
        return self._reads[name]

    def group(self, name: str) -> int:
        """Position in `groups` of the relations that depend on this one as it depends on them."""
        return self._group_of[name]

    def mutual(self, one: str, other: str) -> bool:
        """Whether each depends on the other; for a relation and itself: whether it is recursive."""
        if one not in self._group_of or other not in self._group_of:
            return False
        if one != other:
            return self._group_of[one] == self._group_of[other]
        return one in self._reads[one] or len(self.groups[self._group_of[one]]) > 1

    def is_recursive(self, clause: Clause | SubsumptiveClause) -> bool:
        """Whether a clause's head depends on one of its positive body atoms and that on the head."""
        if isinstance(clause, SubsumptiveClause):
            return True
        return any(self.mutual(clause.head.name, atom.name) for atom in body_atoms(clause))

    def path(self, start: str, end: str) -> list[Use]:
        """A shortest chain of uses from one relation to another; empty if they are the same."""
        came: dict[str, Use] = {}
        waiting = deque([start])
        while waiting and end not in came and start != end:
            name = waiting.popleft()
            for read, use in self._reads[name].items():
                if read not in came and read != start:
                    came[read] = use
                    waiting.append(read)
        steps: list[Use] = []
        while end != start:
            steps.append(came[end])
            end = came[end].head
        return steps[::-1]


def _uses(clause: Clause | SubsumptiveClause) -> Iterator[Use]:
    head = head_name(clause)
    in_heads = (clause.head.args,) if isinstance(clause, Clause) else (clause.dominated.args, clause.dominating.args)
    for literal in clause.body:
        if isinstance(literal, ast.Atom):
            yield Use(head, literal.name, "", literal.span)
        elif isinstance(literal, NegatedAtom):
            yield Use(head, literal.atom.name, "!", literal.span)
    for node in walk(*(arg for args in in_heads for arg in args), *clause.body):
        if isinstance(node, AGGREGATES):
            for below in walk(node.body):
                if isinstance(below, ast.Atom):
                    yield Use(head, below.name, "aggregate", below.span)


def _strongly_connected(reads: Mapping[str, Mapping[str, Use]]) -> list[list[str]]:
    """Tarjan's algorithm without recursion: groups in an order in which each reads only itself and earlier ones."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    groups: list[list[str]] = []
    position = {name: i for i, name in enumerate(reads)}
    for root in reads:
        if root in number:
            continue
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        work = [(root, iter(reads[root]))]
        while work:
            name, rest = work[-1]
            for read in rest:
                if read not in number:
                    number[read] = low[read] = len(number)
                    stack.append(read)
                    on_stack.add(read)
                    work.append((read, iter(reads[read])))
                    break
                if read in on_stack:
                    low[name] = min(low[name], number[read])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[name])
                if low[name] == number[name]:
                    group = [stack.pop()]
                    while group[-1] != name:
                        group.append(stack.pop())
                    on_stack.difference_update(group)
                    groups.append(sorted(group, key=position.__getitem__))
    return groups
