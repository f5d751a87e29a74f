"""Are the inferred types right? The errors of a clause whose constraints have been solved.

One mistake often leaves several arguments without a type; the errors that only follow from another are shown when
nothing better explains the clause."""

from __future__ import annotations

from collections.abc import Sequence

from flintlog.check.checked import Clause, SubsumptiveClause
from flintlog.check.grounding.groundedness import Term
from flintlog.check.typing.collect import AtomUse, Context
from flintlog.check.typing.explain import TEXT_OPERATORS, Explainer, column_label, mend, show, show_node
from flintlog.check.typing.lattice import ConstantType, RecordType, TypeNode
from flintlog.check.typing.literals import literal_value
from flintlog.check.typing.solution import Solution
from flintlog.check.typing.verify_terms import TermVerifier
from flintlog.diagnostics import Diagnostic, Label, Report
from flintlog.syntax import ast
from flintlog.types import Kind

_ORDERED = ("<", "<=", ">", ">=")


def check_functors(context: Context, report: Report) -> None:
    """Only a stateful functor can take records and algebraic data types apart: others get plain words."""
    for decl in context.functors.values():
        for attribute in () if decl.stateful else (*decl.params, decl.result):
            declared = context.env.nodes.get(attribute.type)
            if declared is not None and declared.kind in (Kind.RECORD, Kind.ADT):
                report.error(
                    "E324",
                    f"functor `{decl.name}` is not stateful, so it cannot use the type `{attribute.type}`",
                    attribute.span,
                    note="add `stateful` to the functor's declaration, or pass primitive values",
                    labels=[Label(declared.span, f"`{declared.name}` is declared here")],
                )


def verify(clause: Clause | SubsumptiveClause, solution: Solution, report: Report) -> None:
    """Reports the type errors of a clause."""
    verifier = _Verifier(clause, solution)
    verifier.check_atoms()
    verifier.check_arguments()
    verifier.check_comparisons()
    verifier.flush(report)


def verify_operator(operator: ast.Argument, solution: Solution, report: Report) -> None:
    """Reports the type errors of a lattice's operator."""
    verifier = _Verifier(operator, solution)
    verifier.check_arguments()
    verifier.flush(report)


class _Verifier(TermVerifier):
    def __init__(self, root: ast.Node, solution: Solution) -> None:
        super().__init__(solution, Explainer(root, solution))
        self._reported: set[Term] = set()

    def flush(self, report: Report) -> None:
        primary = [diagnostic for rank, diagnostic in self.errors if rank == 0]
        for diagnostic in primary or [diagnostic for _, diagnostic in self.errors]:
            report.add(diagnostic)

    # --- Atoms ------------------------------------------------------------------------------------

    def check_atoms(self) -> None:
        nodes = self._context.env.nodes
        for use in self._collector.atoms:
            for arg, attribute in zip(use.atom.args, use.relation.attributes, strict=True):
                types = self._types[self._collector.key(arg)]
                declared = nodes.get(attribute.type)
                if declared is not None and types and types is not declared.alone:
                    self._check_column(use, arg, attribute, declared, types)

    def _check_column(
        self,
        use: AtomUse,
        arg: ast.Argument,
        attribute: ast.Attribute,
        declared: TypeNode,
        types: frozenset[TypeNode],
    ) -> None:
        label = column_label(attribute, use.relation.name)
        labels = () if label is None else (label,)
        what = arg.name if isinstance(arg, ast.Variable) else "…"
        if use.is_negated:
            if not all(self._is_same_kind(t, declared) for t in types):
                message = f"{show_node(arg)} has the type {show(types)}, but `{attribute.type}` is asked for"
                self.error("E303", message, arg, mend(types, declared, what), labels)
        elif not self._context.is_legacy and not all(self._fits(t, declared) for t in types):
            message = f"{show_node(arg)} has the type {show(types)}, which is no subtype of `{attribute.type}`"
            self.error("E302", message, arg, mend(types, declared, what), labels)

    def _fits(self, given: TypeNode, declared: TypeNode) -> bool:
        env = self._context.env
        if env.is_subtype(given, declared):
            return True
        return isinstance(given, ConstantType | RecordType) and env.is_subtype(declared, given)

    def _is_same_kind(self, given: TypeNode, declared: TypeNode) -> bool:
        if given.kind in (Kind.RECORD, Kind.ADT):
            return self._context.env.is_equivalent(given, declared)
        return given.kind is declared.kind

    # --- Arguments --------------------------------------------------------------------------------

    def check_arguments(self) -> None:
        for node in self._collector.nodes:
            match node:
                case ast.Variable():
                    self._check_variable(node)
                case ast.StringLit():
                    self._check_string(node)
                case ast.NumberLit():
                    self._check_number(node)
                case ast.Unnamed() | ast.Counter() | ast.Iteration():
                    self._check_plain(node)
                case _:
                    self.check_term(node)

    def _check_variable(self, node: ast.Variable) -> None:
        key = self._collector.key(node)
        if self._types[key] != frozenset() or key in self._reported:
            return
        self._reported.add(key)
        pair = self._explainer.clash(node)
        if pair is None and self._check_unequal(node):
            return
        if pair is None:
            note = f"the places that use `{node.name}` ask for different types; compare their declarations"
            self.error("E301", f"no type fits `{node.name}`", node, note, rank=1)
            return
        first, second = pair
        labels = [Label(first.span, f"{first.shown} here"), *(u.label for u in pair if u.label is not None)]
        target = min(second.types, key=lambda t: (t.kind is not Kind.NUMBER, t.name))
        message = f"`{node.name}` cannot be both {first.shown} and {second.shown}"
        note = mend(first.types, target, node.name)
        self.errors.append((0, Diagnostic("E301", message, second.span, note, tuple(labels))))

    def _check_unequal(self, node: ast.Variable) -> bool:
        """Reports a comparison of two variables of different types that leaves this one without a type."""
        found = self._explainer.unequal(node)
        if found is None:
            return False
        literal, left, right = found
        message = f"`{literal.op}` compares {left.shown} with {right.shown}"
        labels = [use.label for use in (left, right) if use.label is not None]
        assert isinstance(literal.right, ast.Variable)
        note = mend(right.types, min(left.types, key=lambda t: t.name), literal.right.name)
        self.error("E321", message, literal, note, labels)
        return True

    def _check_string(self, node: ast.StringLit) -> None:
        if not self._solution.is_of_kind(node, Kind.SYMBOL):
            wanted, labels = self._explainer.wanted(node)
            message = f"a string stands where {wanted} is asked for"
            note = "leave out the quotes, or change the declaration"
            if not node.value.lstrip("-").isdecimal():
                note = "write a value of that type, or change the declaration"
            self.error("E304", message, node, note, labels, rank=self._explainer.follows(node))

    def _check_number(self, node: ast.NumberLit) -> None:
        kind = self._resolved.literals.get(id(node))
        if kind is None or not self._solution.is_of_kind(node, kind):
            wanted, labels = self._explainer.wanted(node)
            shown = f"{node.fixed} literal" if node.fixed else "number"
            message = f"the {shown} `{node.text}` stands where {wanted} is asked for"
            note = "write a value of that type, or change the declaration"
            self.error("E305", message, node, note, labels, rank=self._explainer.follows(node))
        elif literal_value(node.text, kind, self._context.word_size) is None:
            message = f"`{node.text}` is no value of type {kind.value}"
            self.error("E306", message, node, _range_note(kind, self._context.word_size))

    def _check_plain(self, node: ast.Argument) -> None:
        if self._types[id(node)] == frozenset() and not isinstance(node, ast.Unnamed):
            wanted, labels = self._explainer.wanted(node)
            kind = "number" if isinstance(node, ast.Counter) else "unsigned"
            message = f"this counter has the type `{kind}`, but {wanted} is asked for"
            self.error("E307", message, node, "change the declaration", labels)

    # --- Comparisons ------------------------------------------------------------------------------

    def check_comparisons(self) -> None:
        env = self._context.env
        for literal in self._collector.comparisons:
            left = self._types[self._collector.key(literal.left)]
            right = self._types[self._collector.key(literal.right)]
            if left is None or right is None or len(left) != 1 or len(right) != 1:
                continue
            (one,), (other,) = left, right
            if literal.op not in TEXT_OPERATORS and not env.is_equivalent(one, other):
                message = f"`{literal.op}` compares {show(left)} with {show(right)}"
                self.error("E321", message, literal, "convert one of the two sides")
            elif literal.op in TEXT_OPERATORS:
                self._check_operands(literal, (one, other), (Kind.SYMBOL,))
            elif literal.op in _ORDERED:
                self._check_operands(literal, (one, other), (Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.SYMBOL))

    def _check_operands(self, literal: ast.Constraint, found: Sequence[TypeNode], kinds: Sequence[Kind]) -> None:
        for node, side in zip(found, (literal.left, literal.right), strict=True):
            if node.kind not in kinds:
                wanted = " or ".join(f"`{kind.value}`" for kind in kinds)
                message = f"`{literal.op}` needs {wanted}, but {show_node(side)} has the type `{node.name}`"
                note = "records and branches can be compared with = and != only" if literal.op in _ORDERED else None
                if note is None:
                    note = "convert it with to_string(…)" if node.kind.is_numeric else "use a string"
                self.error("E322", message, side, note)
                return


def _range_note(kind: Kind, word_size: int) -> str:
    if kind is Kind.FLOAT:
        return f"a float has {word_size} bits"
    half = 1 << (word_size - 1)
    low, high = (0, 2 * half - 1) if kind is Kind.UNSIGNED else (-half, half - 1)
    return f"with a word size of {word_size} bits the range is {low} to {high}"
