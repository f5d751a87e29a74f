"""Type declarations -> the lattice of types and the table of definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from flintlog.check.missing import Missing
from flintlog.check.typing.lattice import AdtType, RecordType, SubsetType, TypeEnv, TypeNode, UnionType, base_of
from flintlog.diagnostics import Label, Report, did_you_mean
from flintlog.syntax import ast
from flintlog.types import FLOWLOG_TYPES, PRIMITIVES, Branch, Field, Kind, ScalarType, Type
from flintlog.types import AdtType as AdtDefinition
from flintlog.types import RecordType as RecordDefinition


def declare_types(decls: Sequence[ast.TypeDecl], report: Report, missing: Missing | None = None) -> TypeEnv:
    """The types of a program. Mistakes in declarations go to the report and leave `is_sound` False, as does the use of
    a type that is missing."""
    return _Declarations(decls, report, missing or Missing()).env


class _Declarations:
    def __init__(self, decls: Sequence[ast.TypeDecl], report: Report, missing: Missing) -> None:
        self.env = TypeEnv()
        self._missing = missing
        self._report = report
        self._decls: dict[str, ast.TypeDecl] = {}
        for decl in decls:
            self._add_name(decl)
        for name, scalar in FLOWLOG_TYPES.items():
            if name not in self._decls:
                self.env.nodes[name] = self.env.nodes[scalar.kind.value]
        cyclic = self._cyclic()
        self._check(cyclic)
        self._check_branches()
        for name in self._decls:
            if name not in cyclic:
                self._build(name, cyclic)
        self._check_shapes(cyclic)
        self.env.table = self._table()

    def _error(self, code: str, message: str, node: ast.Node, note: str | None, *labels: Label) -> None:
        self.env.is_sound = False
        self._report.error(code, message, node.span, note=note, labels=labels)

    # --- Names and references ---------------------------------------------------------------------

    def _add_name(self, decl: ast.TypeDecl) -> None:
        if decl.name in PRIMITIVES:
            note = "choose another name; primitive types cannot be redefined"
            self._error("E271", f"`{decl.name}` is a predefined type", decl, note)
        elif decl.name in self._decls:
            first = Label(self._decls[decl.name].span, "first declared here")
            self._error("E204", f"type `{decl.name}` is declared twice", decl, "rename or remove one of them", first)
        else:
            self._decls[decl.name] = decl

    def _is_known(self, name: str) -> bool:
        return name in self._decls or name in PRIMITIVES or (name in FLOWLOG_TYPES)

    def _check(self, cyclic: set[str]) -> None:
        for decl in self._decls.values():
            if decl.name in cyclic and decl.name == self._circle(decl.name)[0]:
                note = "a subset, alias or union must come down to a primitive type, a record or an algebraic data type"
                others = " and ".join(f"`{name}`" for name in self._circle(decl.name)[1:])
                through = f" through {others}" if others else ""
                self._error("E273", f"type `{decl.name}` is defined in terms of itself{through}", decl, note)
            for name, node in _references(decl):
                if not self._is_known(name) and name in self._missing:
                    self.env.is_sound = False
                elif not self._is_known(name):
                    known = [*self._decls, *PRIMITIVES]
                    note = did_you_mean(name, known) or f"declare it with `.type {name} …`"
                    self._error("E272", f"unknown type `{name}` in the definition of `{decl.name}`", node, note)
            if isinstance(decl, ast.RecordType):
                self._check_fields(decl)

    def _check_fields(self, decl: ast.RecordType) -> None:
        first: dict[str, ast.Attribute] = {}
        for attribute in decl.fields:
            if attribute.name in first:
                label = Label(first[attribute.name].span, "first used here")
                message = f"record `{decl.name}` has two fields named `{attribute.name}`"
                self._error("E278", message, attribute, "give each field its own name", label)
            first.setdefault(attribute.name, attribute)

    def _check_branches(self) -> None:
        for decl in self._decls.values():
            for branch in decl.branches if isinstance(decl, ast.AdtType) else ():
                first = self.env.branch_decls.setdefault(branch.name, branch)
                if first is not branch:
                    note = "a branch name must be unique in the whole program: `$name(…)` stands for one branch only"
                    label = Label(first.span, "first declared here")
                    self._error("E279", f"branch `{branch.name}` is declared twice", branch, note, label)

    def _cyclic(self) -> set[str]:
        """Types that reach themselves through subsets, aliases and unions."""
        edges = {
            name: [n for n, _ in _references(decl)]
            for name, decl in self._decls.items()
            if isinstance(decl, ast.SubsetType | ast.UnionType)
        }
        self._edges = edges
        return {name for name in edges if name in _reachable(name, edges)}

    def _circle(self, name: str) -> list[str]:
        """A cyclic type and those it is one cycle with, in the order of the text."""
        forward = _reachable(name, self._edges)
        return [n for n in self._edges if n in forward and name in _reachable(n, self._edges)]

    # --- Nodes ------------------------------------------------------------------------------------

    def _build(self, name: str, cyclic: set[str]) -> TypeNode | None:
        """The node of a type, made on first use; None when something it rests on is wrong."""
        if name in self.env.nodes:
            return self.env.nodes[name]
        decl = self._decls.get(name)
        if decl is None or name in cyclic:
            return None
        if isinstance(decl, ast.RecordType):
            return self._build_record(decl, cyclic)
        if isinstance(decl, ast.AdtType):
            return self._build_adt(decl, cyclic)
        names = (decl.base,) if isinstance(decl, ast.SubsetType) else decl.members
        below = [self._build(n, cyclic) for n in names]
        nodes = tuple(node for node in below if node is not None)
        if len(nodes) < len(below):
            return None
        if isinstance(decl, ast.SubsetType):
            self.env.nodes[name] = SubsetType(name, nodes[0].kind, nodes[0], span=decl.span)
        elif len(nodes) == 1:
            self.env.nodes[name] = nodes[0]
        else:
            self.env.nodes[name] = UnionType(name, nodes[0].kind, nodes, span=decl.span)
        return self.env.nodes[name]

    def _build_record(self, decl: ast.RecordType, cyclic: set[str]) -> TypeNode:
        record = RecordType(decl.name, Kind.RECORD, span=decl.span)
        self.env.nodes[decl.name] = record
        below = [self._build(attribute.type, cyclic) for attribute in decl.fields]
        record.fields = tuple(node for node in below if node is not None)
        return record

    def _build_adt(self, decl: ast.AdtType, cyclic: set[str]) -> TypeNode:
        adt = AdtType(decl.name, Kind.ADT, span=decl.span)
        self.env.nodes[decl.name] = adt
        for branch in decl.branches:
            below = [self._build(attribute.type, cyclic) for attribute in branch.fields]
            adt.branches[branch.name] = tuple(node for node in below if node is not None)
            self.env.branches.setdefault(branch.name, adt)
        return adt

    # --- Shapes -----------------------------------------------------------------------------------

    def _check_shapes(self, cyclic: set[str]) -> None:
        for decl in self._decls.values():
            if decl.name in cyclic or decl.name not in self.env.nodes:
                continue
            if isinstance(decl, ast.SubsetType):
                self._check_subset(decl)
            elif isinstance(decl, ast.UnionType) and len(decl.members) > 1:
                self._check_union(decl)

    def _check_subset(self, decl: ast.SubsetType) -> None:
        base = self.env.nodes[decl.base]
        label = Label(base.span, f"`{base.name}` is declared here")
        if isinstance(base, UnionType):
            note = "take a subset of a primitive type, or of a subset of one"
            self._error("E276", f"`{decl.name}` cannot be a subset of the union `{decl.base}`", decl, note, label)
        elif isinstance(base, RecordType):
            note = f"write `.type {decl.name} = {decl.base}` for another name of the same type"
            self._error("E277", f"`{decl.name}` cannot be a subset of the record `{decl.base}`", decl, note, label)

    def _check_union(self, decl: ast.UnionType) -> None:
        kinds: dict[Kind, str] = {}
        for name in decl.members:
            node = self.env.nodes[name]
            if isinstance(base_of(node), RecordType | AdtType):
                note = "a union joins primitive types; declare an algebraic data type with one branch for each case"
                label = Label(node.span, f"`{node.name}` is declared here")
                message = f"the union `{decl.name}` cannot contain `{name}`, which is not primitive"
                self._error("E275", message, decl, note, label)
            else:
                kinds.setdefault(node.kind, name)
        if len(kinds) > 1:
            members = ", ".join(f"`{name}` is a {kind.value}" for kind, name in kinds.items())
            note = f"all members must rest on one primitive type, but {members}"
            self._error("E274", f"the union `{decl.name}` mixes primitive types", decl, note)

    # --- Definitions ------------------------------------------------------------------------------

    def _table(self) -> dict[str, Type]:
        table: dict[str, Type] = {**FLOWLOG_TYPES, **PRIMITIVES}
        for decl in self._decls.values():
            if isinstance(decl, ast.RecordType):
                table[decl.name] = RecordDefinition(decl.name, _fields(decl.fields))
            elif isinstance(decl, ast.AdtType):
                branches = tuple(Branch(b.name, _fields(b.fields)) for b in decl.branches)
                table[decl.name] = AdtDefinition(decl.name, branches)
        for name, decl in self._decls.items():
            if isinstance(decl, ast.SubsetType | ast.UnionType) and name in self.env.nodes:
                node = self.env.nodes[name]
                root = base_of(node)
                compound = isinstance(root, RecordType | AdtType)
                table[name] = table[root.name] if compound else ScalarType(name, node.kind, self._bits(name))
        return table

    def _bits(self, name: str) -> int | None:
        """The size of a sized type, kept by its aliases and subsets."""
        decl = self._decls.get(name)
        if isinstance(decl, ast.SubsetType):
            return self._bits(decl.base)
        if isinstance(decl, ast.UnionType):
            return self._bits(decl.members[0]) if len(decl.members) == 1 else None
        return FLOWLOG_TYPES[name].bits if decl is None and name in FLOWLOG_TYPES else None


def _references(decl: ast.TypeDecl) -> Iterator[tuple[str, ast.Node]]:
    """The type names a declaration mentions, with the node to blame."""
    if isinstance(decl, ast.SubsetType):
        yield decl.base, decl
    elif isinstance(decl, ast.UnionType):
        for member in decl.members:
            yield member, decl
    elif isinstance(decl, ast.RecordType):
        for attribute in decl.fields:
            yield attribute.type, attribute
    else:
        for branch in decl.branches:
            for attribute in branch.fields:
                yield attribute.type, attribute


def _reachable(start: str, edges: Mapping[str, Sequence[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(edges.get(name, ()))
    return seen


def _fields(attributes: Sequence[ast.Attribute]) -> tuple[Field, ...]:
    return tuple(Field(attribute.name, attribute.type) for attribute in attributes)
