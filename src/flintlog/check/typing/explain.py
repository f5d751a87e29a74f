"""Words for type errors: what a place asks for, where that is declared, and how to mend a clash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from flintlog.check.checked import Clause
from flintlog.check.clauses.traverse import parts, walk
from flintlog.check.typing.lattice import RecordType, TypeNode, TypeSet, UnionType, base_of
from flintlog.check.typing.overloads import OVERLOADS
from flintlog.check.typing.solution import Solution
from flintlog.diagnostics import Label
from flintlog.source import NOWHERE, Span
from flintlog.syntax import ast
from flintlog.types import Kind

TEXT_OPERATORS = ("match", "contains", "not_match", "not_contains")

_CONVERSIONS = {
    Kind.NUMBER: "to_number",
    Kind.UNSIGNED: "to_unsigned",
    Kind.FLOAT: "to_float",
    Kind.SYMBOL: "to_string",
}


@dataclass(frozen=True)
class Use:
    """A place that says what type an argument has."""

    types: frozenset[TypeNode]
    shown: str
    span: Span
    label: Label | None = None


def show(types: TypeSet) -> str:
    """A type set in words."""
    if types is None:
        return "any type"
    return " or ".join(sorted({f"`{t.name}`" for t in types})) or "no type"


def show_node(node: ast.Argument) -> str:
    """An argument in words, short enough for a message."""
    match node:
        case ast.Variable():
            return f"`{node.name}`"
        case ast.NumberLit():
            return f"the number `{node.text}`"
        case ast.StringLit():
            return f'the string `"{node.value}"`' if len(node.value) <= 30 else "this string"
        case ast.Functor():
            return f"the result of `{node.op}`"
        case ast.UserFunctor():
            return f"the result of `@{node.name}`"
        case ast.Cast():
            return f"this value of type `{node.type}`"
        case ast.RecordInit():
            return "this record"
        case ast.BranchInit():
            return f"`${node.branch}`"
        case ast.Aggregate():
            return f"the result of `{node.op}`"
        case _:
            return "this argument"


def mend(given: TypeSet, wanted: TypeNode, what: str) -> str:
    """How to turn a value of one type into another."""
    kinds = {t.kind for t in given or ()}
    if wanted.kind in kinds and wanted.kind in _CONVERSIONS:
        return f"if the values are meant to be of that type, write as({what}, {wanted.name})"
    conversion = _CONVERSIONS.get(wanted.kind)
    if conversion and all(kind in _CONVERSIONS for kind in kinds):
        return f"convert it with {conversion}({what}), or change the declaration"
    return "change the declaration, or what stands here"


def _is_inside(span: Span, around: Span) -> bool:
    return span.file is around.file and around.start <= span.start < around.end


def column_label(attribute: ast.Attribute, owner: str) -> Label | None:
    if attribute.span is NOWHERE:
        return None
    name = f"`{attribute.name}` of " if attribute.name else ""
    return Label(attribute.span, f"{name}`{owner}` is declared as `{attribute.type}` here")


def parent_of(root: ast.Node, node: ast.Node) -> tuple[ast.Node, int] | None:
    """The node directly above, and the position in it."""
    for candidate in walk(root):
        for position, part in enumerate(parts(candidate)):
            if part is node:
                return candidate, position
    return None


class Explainer:
    """Looks up what the surroundings of an argument ask for. Only for errors: it searches."""

    def __init__(self, root: ast.Node, solution: Solution) -> None:
        self._root = root
        self._collector = solution.collector
        self._types = solution.types
        self._context = solution.context

    def wanted(self, node: ast.Argument) -> tuple[str, tuple[Label, ...]]:
        """What the place of a node asks for, in words, and where that is said."""
        found = parent_of(self._root, node)
        if found is None:
            return "another type", ()
        parent, position = found
        attribute, owner = self._attribute(parent, position)
        if attribute is not None:
            label = column_label(attribute, owner)
            return f"`{attribute.type}`", () if label is None else (label,)
        if isinstance(parent, ast.Functor):
            kinds = sorted({o.param(position).value for o in OVERLOADS.get(parent.op, ()) if o.takes(len(parent.args))})
            return " or ".join(f"`{kind}`" for kind in kinds) + f" (an operand of `{parent.op}`)", ()
        if isinstance(parent, ast.Constraint):
            other = parent.right if position == 0 else parent.left
            use = next(self.uses_of(other), None)
            return (use.shown if use else f"the type of {show_node(other)}"), self._labels(use)
        if isinstance(parent, ast.Cast):
            return f"`{parent.type}`", ()
        if isinstance(parent, ast.RecordInit):
            use = self._field(parent, position, node.span)
            if use is not None:
                return use.shown, self._labels(use)
        return "another type", ()

    def _labels(self, use: Use | None) -> tuple[Label, ...]:
        return (use.label,) if use is not None and use.label is not None else ()

    def _attribute(self, parent: ast.Node, position: int) -> tuple[ast.Attribute | None, str]:
        if isinstance(parent, ast.Atom):
            relation = self._context.relations.get(parent.name)
            if relation is not None and position < len(relation.attributes):
                return relation.attributes[position], parent.name
        elif isinstance(parent, ast.BranchInit):
            branch = self._context.env.branch_decls.get(parent.branch)
            if branch is not None and position < len(branch.fields):
                return branch.fields[position], f"${parent.branch}"
        elif isinstance(parent, ast.UserFunctor):
            decl = self._context.functors.get(parent.name)
            if decl is not None and position < len(decl.params):
                return decl.params[position], f"@{parent.name}"
        return None, ""

    def shown_type(self, node: ast.Argument) -> str:
        """The type of an argument in words: what was inferred or, if nothing fits, what one place says."""
        types = self._types[self._collector.key(node)]
        use = None if types else next(self.uses_of(node), None)
        return show(types) if use is None else use.shown

    def operand_kinds(self, node: ast.Argument) -> set[Kind]:
        """The kinds an argument has as an operand, by what was inferred or what one place says. A union has none:
        built-ins do not compute with unions."""
        types = self._types[self._collector.key(node)]
        use = None if types else next(self.uses_of(node), None)
        found = types or (use.types if use is not None else frozenset())
        return {t.kind for t in found if not isinstance(t, UnionType)}

    def clash(self, variable: ast.Variable) -> tuple[Use, Use] | None:
        """Two uses of a variable that no type can satisfy both. The second one is to be mended: in the first place a
        declared column of the body counts, then the rest of the body, then the head."""
        env = self._context.env
        head = self._root.head.span if isinstance(self._root, Clause) else NOWHERE
        uses = sorted(self.uses_of(variable), key=lambda use: (_is_inside(use.span, head), use.label is None))
        for position, second in enumerate(uses):
            for first in uses[:position]:
                if not env.meet(first.types, second.types):
                    return first, second
        return None

    def unequal(self, variable: ast.Variable) -> tuple[ast.Constraint, Use, Use] | None:
        """A comparison of two variables, this one or what it is equal to among them, that clash with each other."""
        env = self._context.env
        for node in walk(self._root):
            if not (isinstance(node, ast.Constraint) and isinstance(node.left, ast.Variable)):
                continue
            keys = {self._collector.key(side) for side in (node.left, node.right)}
            if not isinstance(node.right, ast.Variable) or self._collector.key(variable) not in keys:
                continue
            for left in self.uses_of(node.left):
                for right in self.uses_of(node.right):
                    if not env.meet(left.types, right.types):
                        return node, left, right
        return None

    def uses_of(self, node: ast.Argument) -> Iterator[Use]:
        """What says something about the type of a variable, or of one other node."""
        if not isinstance(node, ast.Variable):
            own = self._own_type(node)
            if own is not None:
                yield own
            return
        key = self._collector.key(node)
        for parent in walk(self._root):
            for position, part in enumerate(parts(parent)):
                if isinstance(part, ast.Variable) and self._collector.key(part) == key:
                    use = self._use(parent, position, part)
                    if use is not None:
                        yield use

    def _use(self, parent: ast.Node, position: int, part: ast.Variable) -> Use | None:
        attribute, owner = self._attribute(parent, position)
        if attribute is not None:
            declared = self._context.env.nodes.get(attribute.type)
            if declared is None:
                return None
            types = self._loosened(declared) if self._is_sink(parent) else declared.alone
            return Use(types, f"`{attribute.type}`", part.span, column_label(attribute, owner))
        if isinstance(parent, ast.Constraint) and parent.op in TEXT_OPERATORS:
            return Use(self._context.env.constants[Kind.SYMBOL].alone, "`symbol`", part.span)
        if isinstance(parent, ast.Constraint):
            other = parent.right if position == 0 else parent.left
            if not isinstance(other, ast.Variable):
                return self._own_type(other)
        if isinstance(parent, ast.RecordInit):
            return self._field(parent, position, part.span)
        if isinstance(parent, ast.Aggregate) and part is parent.target:
            own = self._own_type(parent)
            return None if own is None else replace(own, span=part.span)
        return None

    def _field(self, parent: ast.RecordInit, position: int, span: Span) -> Use | None:
        declared = self.wanted_type(parent)
        for node in self._types[id(parent)] or (() if declared is None else (declared,)):
            root = base_of(node)
            if isinstance(root, RecordType) and position < len(root.fields):
                field = root.fields[position]
                label = None if root.span is NOWHERE else Label(root.span, f"`{root.name}` is declared here")
                return Use(field.alone, f"`{field.name}`", span, label)
        return None

    def _is_sink(self, parent: ast.Node) -> bool:
        return any(use.atom is parent and use.is_sink for use in self._collector.atoms)

    def _loosened(self, declared: TypeNode) -> frozenset[TypeNode]:
        """A sink asks for the kind only."""
        constant = self._context.env.constants.get(declared.kind)
        return declared.alone if constant is None else constant.alone

    def _own_type(self, node: ast.Argument) -> Use | None:
        """The type a node has by itself, whatever it is compared to."""
        env = self._context.env
        constants = env.constants
        named: TypeNode | None = None
        match node:
            case ast.StringLit():
                named = constants[Kind.SYMBOL]
            case ast.NumberLit() if node.fixed is not None:
                named = constants[Kind(node.fixed)]
            case ast.NumberLit():
                return Use(frozenset(env.numeric), "a number", node.span)
            case ast.Cast():
                named = env.nodes.get(node.type)
            case ast.BranchInit():
                named = env.branches.get(node.branch)
            case ast.Aggregate(op="count"):
                named = constants[Kind.NUMBER]
            case ast.Aggregate(op="mean"):
                named = constants[Kind.FLOAT]
            case ast.Aggregate():
                return Use(frozenset(env.numeric), "a number", node.span)
            case ast.Functor():
                results = frozenset(constants[o.result] for o in OVERLOADS.get(node.op, ()))
                return Use(results, show(results), node.span)
            case ast.UserFunctor():
                signature = self._collector.signature(node.name)
                named = signature[1] if signature else None
        return None if named is None else Use(named.alone, f"`{named.name}`", node.span)

    def follows(self, node: ast.Argument) -> int:
        """1 when what is wrong with a node is better said about what it is compared to or stands in."""
        found = parent_of(self._root, node)
        if found is not None and isinstance(found[0], ast.Constraint):
            other = found[0].right if found[1] == 0 else found[0].left
            return int(isinstance(other, ast.Variable))
        return int(found is not None and isinstance(found[0], ast.RecordInit | ast.Functor))

    def follows_from_arity(self, node: ast.Argument) -> int:
        """1 when a node stands in a record with too many or too few fields, which leaves none of them a type."""
        found = parent_of(self._root, node)
        if found is None or not isinstance(found[0], ast.RecordInit):
            return 0
        wanted = self.wanted_type(found[0])
        root = None if wanted is None else base_of(wanted)
        return int(isinstance(root, RecordType) and len(root.fields) != len(found[0].args))

    def wanted_type(self, node: ast.Argument) -> TypeNode | None:
        """The declared type of the place a node stands in, where there is one."""
        found = parent_of(self._root, node)
        if found is None:
            return None
        attribute, _ = self._attribute(*found)
        if attribute is not None:
            return self._context.env.nodes.get(attribute.type)
        parent, position = found
        if isinstance(parent, ast.Constraint):
            other = parent.right if position == 0 else parent.left
            use = next(self.uses_of(other), None)
            return next(iter(use.types)) if use is not None else None
        return None

    def is_anonymous(self, node: ast.RecordInit) -> bool:
        """Whether a record without a type is only another name for a variable without one: `x = [a, b]`."""
        found = parent_of(self._root, node)
        if found is None or not isinstance(found[0], ast.Constraint) or found[0].op != "=":
            return False
        other = found[0].right if found[1] == 0 else found[0].left
        return isinstance(other, ast.Variable) and self._types[self._collector.key(other)] is None
