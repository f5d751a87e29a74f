"""A clause's body -> a tree of relational nodes: a left-deep join in the written order.

Conditions run as soon as their columns are bound, before anything is computed from them, so that `y != 0` guards
`x / y` wherever it is written. The optimizer is free to reorder what is built here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.ir.nodes import Aggregate, AntiJoin, Each, FlatMap, JoinFlatMap, Let, Node, Scan, Step, Unit, Where
from flintlog.ir.scalar import Column, Compare, IsBranch, IsRecord, MakeBranch, MakeRecord, Part, Reinterpret, Scalar
from flintlog.lower.clause import (
    Atom,
    Fresh,
    Generate,
    Literal,
    Negated,
    Summarise,
    Test,
    TypedClause,
    Wildcard,
    columns_in,
    is_unnamed,
    literal_columns,
    written_name,
)


def lower_clause(clause: TypedClause, columns: Sequence[str], fresh: Fresh) -> Node:
    """The tree whose rows are the clause's head, under the given column names."""
    body = BodyBuilder(fresh)
    body.build(clause.body, clause)
    return body.project(list(zip(columns, clause.head, strict=True)))


class BodyBuilder:
    """The tree so far, the steps that wait to be put on it, and the columns that both have bound."""

    def __init__(self, fresh: Fresh, start: Node | None = None) -> None:
        self.fresh = fresh
        self.node: Node = start or Unit()
        self.steps: list[Step] = []
        self.bound: dict[str, Column] = {c.name: c for c in self.node.schema}

    def build(self, literals: Iterable[Literal], clause: TypedClause) -> None:
        """Places every literal, each as early as its columns allow."""
        pending = list(literals)
        while pending:
            ready = self._next(pending)
            if ready is None:
                raise self._ungrounded(pending, clause)
            pending.remove(ready)
            pending[:0] = self._place(ready)

    def project(self, output: list[tuple[str, Scalar]]) -> Node:
        return FlatMap(self.node, tuple(self.steps), tuple(output))

    def flush(self) -> Node:
        """The tree with all waiting steps on it and all bound columns in its schema."""
        if self.steps:
            self.node = self.project([(c.name, c) for c in self.bound.values()])
            self.steps = []
        return self.node

    # --- The order --------------------------------------------------------------------------------

    def _next(self, pending: list[Literal]) -> Literal | None:
        """The literal to place now: a filter, else one that binds by computing, else the next atom."""
        tests = (p for p in pending if isinstance(p, Test | Negated) and self._is_bound(literal_columns(p)))
        binders = (p for p in pending if self._binds(p))
        atoms = (p for p in pending if isinstance(p, Atom))
        return next(tests, None) or next(binders, None) or next(atoms, None)

    def _binds(self, literal: Literal) -> bool:
        match literal:
            case Test(Compare("=", left, right)) if _same_shape(left, right):
                return True
            case Test(Compare("=", left, right)):
                ready, other = (left, right) if self._is_bound(columns_in((left,))) else (right, left)
                return self._is_bound(columns_in((ready,))) and _is_pattern(other)
            case Generate(_, bounds):
                return self._is_bound(columns_in(bounds))
            case Summarise():
                return self._is_bound(literal.outer)
        return False

    def _is_bound(self, columns: Iterable[Column]) -> bool:
        return all(c.name in self.bound for c in columns)

    def _place(self, literal: Literal) -> list[Literal]:
        """Puts a literal on the tree; returns literals that remain to be placed in its stead."""
        match literal:
            case Atom():
                return self._join(literal)
            case Negated(atom):
                self._reject(atom)
            case Test(Compare("=", left, right)) if _same_shape(left, right):
                assert isinstance(left, MakeRecord | MakeBranch) and isinstance(right, MakeRecord | MakeBranch)
                fields = zip(left.args, right.args, strict=True)
                return [Test(Compare("=", a, b), literal.span) for a, b in fields]
            case Test(Compare("=", left, right)) if not self._is_bound(literal_columns(literal)):
                known, pattern = (left, right) if self._is_bound(columns_in((left,))) else (right, left)
                return self._match(pattern, known)
            case Test(condition):
                self.steps.append(Where(condition))
            case Generate(column, bounds):
                target = self._free(column)
                self.steps.append(Each(target, bounds))
                self._take(target, column)
            case Summarise():
                self._summarise(literal)
        return []

    def _ungrounded(self, pending: list[Literal], clause: TypedClause) -> FlintlogError:
        missing = [written_name(c.name) for p in pending for c in literal_columns(p) if c.name not in self.bound]
        name = next(filter(None, missing), "_")
        note = (
            "bind it in an atom of the rule that is neither negated nor in an aggregate;"
            " an atom of an inline relation binds what the rules in its place bind"
        )
        message = f"variable `{name}` has no value yet where it is needed"
        return FlintlogError([Diagnostic("E409", message, clause.span, note)])

    # --- Atoms ------------------------------------------------------------------------------------

    def _join(self, atom: Atom) -> list[Literal]:
        names: list[Column] = []
        filters: list[Step] = []
        later: list[Literal] = []
        for arg in atom.args:
            column = arg if isinstance(arg, Column) and arg not in names else self.fresh.column(arg.kind)
            names.append(column)
            if column is arg or isinstance(arg, Wildcard):
                continue
            if arg in names or not any(columns_in((arg,))):
                filters.append(Where(Compare("=", column, arg)))
            elif self._is_bound(columns_in((arg,))):
                self._let(column, arg)
            else:
                later.append(Test(Compare("=", column, arg), atom.span))
        right: Node = Scan(atom.relation, tuple(names))
        if filters:
            right = FlatMap(right, tuple(filters), tuple((c.name, c) for c in names))
        if isinstance(self.node, Unit) and not self.steps:
            self.node = right
        else:
            left = self.flush()
            on = tuple(c.name for c in names if c.name in self.bound)
            output = {c.name: c for c in (*left.schema, *names)}
            self.node = JoinFlatMap(left, right, on, (), tuple(output.items()))
        self.bound |= {c.name: c for c in names}
        return later

    def _reject(self, atom: Atom) -> None:
        names: list[Column] = []
        on: list[str] = []
        for arg in atom.args:
            column = arg if isinstance(arg, Column) and arg not in names else self.fresh.column(arg.kind)
            names.append(column)
            if not isinstance(arg, Wildcard):
                on.append(column.name)
                if column is not arg:
                    self._let(column, arg)
        self.node = AntiJoin(self.flush(), Scan(atom.relation, tuple(names)), tuple(on))

    def _let(self, column: Column, value: Scalar) -> None:
        self.steps.append(Let(column, value))
        self.bound[column.name] = column

    def _match(self, pattern: Scalar, value: Scalar) -> list[Literal]:
        """Binds the columns of a pattern that has the given value."""
        if isinstance(pattern, Column) and pattern.name not in self.bound:
            self._let(pattern, value)
            return []
        if self._is_bound(columns_in((pattern,))):
            self.steps.append(Where(Compare("=", value, pattern)))
            return []
        if isinstance(pattern, Reinterpret):
            return self._match(pattern.arg, Reinterpret(value, pattern.arg.kind))
        if not isinstance(pattern, MakeRecord | MakeBranch):
            column = self.fresh.column(pattern.kind)
            self._let(column, value)
            return [Test(Compare("=", column, pattern))]
        if not isinstance(value, Column):
            column = self.fresh.column(value.kind)
            self._let(column, value)
            value = column
        check = IsBranch(value, pattern.branch) if isinstance(pattern, MakeBranch) else IsRecord(value)
        self.steps.append(Where(check))
        later: list[Literal] = []
        for i, arg in enumerate(pattern.args):
            later += self._match(arg, Part(value, i, arg.kind))
        return later

    # --- Aggregates -------------------------------------------------------------------------------

    def _summarise(self, summary: Summarise) -> None:
        """Groups the aggregate's body by the columns it shares with the clause, and joins the groups."""
        outside = self.flush()
        by = tuple(c.name for c in summary.outer)
        keys = FlatMap(outside, (), tuple((c.name, c) for c in summary.outer)) if by else Unit()
        inner = BodyBuilder(self.fresh, None if not by or _grounds(summary, by) else keys)
        inner.build(summary.body, TypedClause("", (), (), span=summary.span))
        node = inner.flush()
        if _is_materialised(summary):
            # Soufflé puts such a body into a relation over its named variables: `_` only asks for existence there.
            used = {*summary.outer, *columns_in(() if summary.fold.value is None else (summary.fold.value,))}
            kept = [c for c in node.schema if c in used or not is_unnamed(c)]
            node = FlatMap(node, (), tuple((c.name, c) for c in kept))
        column = self._free(summary.column)
        groups = Aggregate(node, by, column.name, summary.fold, keys if summary.fold.has_default else None)
        output = {c.name: c for c in (*outside.schema, *groups.schema)}
        self.node = JoinFlatMap(outside, groups, by, (), tuple(output.items()))
        self._take(column, summary.column)

    def _free(self, column: Column) -> Column:
        """The column itself, or a fresh one if a value for it is known already, to be compared with."""
        return self.fresh.column(column.kind) if column.name in self.bound else column

    def _take(self, column: Column, wanted: Column) -> None:
        self.bound[column.name] = column
        if column is not wanted:
            self.steps.append(Where(Compare("=", column, wanted)))


def _same_shape(left: Scalar, right: Scalar) -> bool:
    """Whether an equality of two constructors is one of their parts."""
    match left, right:
        case MakeRecord(a), MakeRecord(b):
            return len(a) == len(b)
        case MakeBranch(name, a), MakeBranch(other, b):
            return name == other and len(a) == len(b)
    return False


def _is_pattern(scalar: Scalar) -> bool:
    return isinstance(scalar, Column | MakeRecord | MakeBranch) or (
        isinstance(scalar, Reinterpret) and _is_pattern(scalar.arg)
    )


def _atoms(summary: Summarise) -> list[Atom]:
    return [part for part in summary.body if isinstance(part, Atom)]


def _grounds(summary: Summarise, names: tuple[str, ...]) -> bool:
    """Whether the body's one atom binds all these columns by itself, so that it need not start from the clause's."""
    atoms = _atoms(summary)
    return len(atoms) == 1 and set(names) <= {a.name for a in atoms[0].args if isinstance(a, Column)}


def _is_materialised(summary: Summarise) -> bool:
    atoms = _atoms(summary)
    columns = [c for atom in atoms for c in columns_in(atom.args)]
    nested = any(isinstance(part, Summarise | Generate) for part in summary.body)
    return len(atoms) > 1 or nested or len(columns) > len(set(columns))
