"""Errors of records, branches, casts, functors and aggregates."""

from __future__ import annotations

from collections.abc import Sequence

from flintlog.check.typing.explain import Explainer, mend, show, show_node
from flintlog.check.typing.lattice import AdtType, RecordType, TypeNode, base_of
from flintlog.check.typing.overloads import OVERLOADS
from flintlog.check.typing.solution import Solution
from flintlog.diagnostics import Diagnostic, Label, did_you_mean
from flintlog.syntax import ast
from flintlog.types import Kind

# Errors about names and numbers of arguments, whatever the types are.
_CERTAIN = frozenset({"E311", "E314", "E316", "E319"})


class TermVerifier:
    """Checks compound arguments. `errors` holds each diagnostic with its rank: 1 means it may follow from another."""

    def __init__(self, solution: Solution, explainer: Explainer) -> None:
        self.errors: list[tuple[int, Diagnostic]] = []
        self._solution = solution
        self._collector = solution.collector
        self._types = solution.types
        self._resolved = solution.resolved
        self._context = solution.context
        self._explainer = explainer

    def error(
        self,
        code: str,
        message: str,
        node: ast.Node,
        note: str | None,
        labels: Sequence[Label] = (),
        *,
        rank: int = 0,
    ) -> None:
        if self._collector.is_loose and code not in _CERTAIN and not self._is_decided(node):
            return
        self.errors.append((rank, Diagnostic(code, message, node.span, note, tuple(labels))))

    def _is_decided(self, node: ast.Node) -> bool:
        """Whether no other type of a column whose type is unknown could mend what is wrong with a node."""
        if isinstance(node, ast.Constraint):
            return True
        types = self._types[self._collector.key(node)]  # type: ignore[arg-type]  # all others are arguments
        return types is not None and len(types) <= 1

    def check_term(self, node: ast.Argument) -> None:
        match node:
            case ast.Nil():
                self._check_nil(node)
            case ast.RecordInit():
                self._check_record(node)
            case ast.BranchInit():
                self._check_branch(node)
            case ast.Cast():
                self._check_cast(node)
            case ast.Functor():
                self._check_functor(node)
            case ast.UserFunctor():
                self._check_user_functor(node)
            case ast.Aggregate():
                self._check_aggregate(node)
            case ast.UserAggregate():
                self._check_user_aggregate(node)
            case ast.HeadAggregate():
                self._check_head_aggregate(node)

    # --- Records and branches ---------------------------------------------------------------------

    def _check_nil(self, node: ast.Nil) -> None:
        if not self._solution.is_of_kind(node, Kind.RECORD):
            wanted, labels = self._explainer.wanted(node)
            message = f"nil is a record, but {wanted} is asked for"
            note = "nil can only stand where a record type is known, say in a column or a field of that type"
            self.error("E308", message, node, note, labels, rank=self._explainer.follows_from_arity(node))

    def _check_record(self, node: ast.RecordInit) -> None:
        types = self._types[id(node)]
        if id(node) in self._collector.folded or (types is None and self._explainer.is_anonymous(node)):
            return
        if types is None:
            note = "only a column, a field or a cast says which record is meant: write as([…], type)"
            self.error("E309", "the type of this record is not known", node, note)
        elif not types:
            self._check_failed_record(node)
        elif len(types) > 1:
            self.error("E309", f"this record could be {show(types)}", node, "write as([…], type) to choose one")
        else:
            (only,) = types
            if not isinstance(only, RecordType):
                note = "build the record with its own type and cast it: as(as([…], record), type)"
                self.error("E309", f"a record stands where `{only.name}` is asked for", node, note)
            elif len(only.fields) != len(node.args):
                self._record_arity(node, only)

    def _check_failed_record(self, node: ast.RecordInit) -> None:
        """A record with too many fields has no type left; say so instead of "no type fits"."""
        wanted = self._explainer.wanted_type(node)
        root = None if wanted is None else base_of(wanted)
        if isinstance(root, RecordType) and len(root.fields) != len(node.args):
            self._record_arity(node, root)
            return
        text, labels = self._explainer.wanted(node)
        if isinstance(root, RecordType):
            message = f"this record does not fit `{root.name}`"
            self.error("E309", message, node, "compare the fields with the declared type", labels, rank=1)
            return
        message = f"a record stands where {text} is asked for"
        note = "write a value of that type, or change the declaration"
        self.error("E309", message, node, note, labels, rank=int(root is None))

    def _record_arity(self, node: ast.RecordInit, root: RecordType) -> None:
        message = f"`{root.name}` has {_count(len(root.fields), 'field')}, but {_given(node.args)}"
        label = Label(root.span, f"`{root.name}` is declared here")
        self.error("E310", message, node, "give one value for each field", (label,))

    def _check_branch(self, node: ast.BranchInit) -> None:
        env = self._context.env
        adt = env.branches.get(node.branch)
        if adt is None and (node.branch in self._context.missing or "$" in self._context.missing):
            return
        if adt is None:
            known = [f"${name}" for name in env.branches]
            note = did_you_mean(f"${node.branch}", known) or "declare it in an algebraic data type"
            self.error("E311", f"unknown branch `${node.branch}`", node, note)
            return
        label = Label(adt.span, f"`{adt.name}` is declared here")
        if not all(isinstance(t, AdtType) for t in self._types[id(node)] or (None,)):
            wanted, labels = self._explainer.wanted(node)
            message = f"`${node.branch}` is of type `{adt.name}`, but {wanted} is asked for"
            self.error("E312", message, node, "write a value of that type, or change the declaration", (*labels, label))
        elif len(adt.branches[node.branch]) != len(node.args):
            expected = _count(len(adt.branches[node.branch]), "argument")
            message = f"branch `${node.branch}` takes {expected}, but {_given(node.args)}"
            self.error("E313", message, node, "give one argument for each field", (label,))

    def _check_cast(self, node: ast.Cast) -> None:
        env = self._context.env
        if not env.is_type(node.type) and node.type in self._context.missing:
            return
        if not env.is_type(node.type):
            note = did_you_mean(node.type, env.nodes) or "declare it with `.type`"
            self.error("E314", f"cast to the unknown type `{node.type}`", node, note)
        elif len(self._types[id(node)] or ()) != 1:
            wanted, labels = self._explainer.wanted(node)
            message = f"a value cast to `{node.type}` does not fit where {wanted} is asked for"
            self.error("E315", message, node, "cast to the type that is asked for", labels)

    # --- Functors ---------------------------------------------------------------------------------

    def _check_functor(self, node: ast.Functor) -> None:
        if id(node) in self._resolved.overloads:
            return
        overloads = OVERLOADS.get(node.op, ())
        if not any(o.takes(len(node.args)) for o in overloads):
            arities = " or ".join(str(n) for n in sorted({len(o.params) for o in overloads}))
            message = f"`{node.op}` takes {arities} argument{'' if arities == '1' else 's'}, but {_given(node.args)}"
            known = "; ".join(dict.fromkeys(str(o) for o in overloads))
            self.error("E316", message, node, f"`{node.op}` works on: {known}")
            return
        known = "; ".join(str(o) for o in overloads if o.takes(len(node.args)))
        note = f"`{node.op}` works on: {known}; use to_number, to_unsigned, to_float or to_string to convert"
        results = self._possible_results(node)
        if results:
            # Operands that would do by themselves mean that something else in the clause is wrong.
            wanted, labels = self._explainer.wanted(node)
            message = f"`{node.op}` gives {' or '.join(f'`{kind}`' for kind in results)}, but {wanted} is asked for"
            self.error("E317", message, node, note, labels, rank=1)
            return
        given = ", ".join(self._explainer.shown_type(arg) for arg in node.args)
        message = f"`{node.op}` cannot be used like this: its operands are {given}"
        self.error("E317", message, node, note)

    def _possible_results(self, node: ast.Functor) -> list[str]:
        """The kinds of value that a functor gives for operands of these kinds, whatever its surroundings ask for."""
        kinds = [self._explainer.operand_kinds(arg) for arg in node.args]
        fitting = [o for o in OVERLOADS.get(node.op, ()) if o.takes(len(kinds))]
        return sorted({o.result.value for o in fitting if all(o.param(i) in k for i, k in enumerate(kinds))})

    def _check_user_functor(self, node: ast.UserFunctor) -> None:
        signature = self._collector.signature(node.name)
        if signature is None:
            return
        params, result = signature
        decl = self._context.functors[node.name]
        label = Label(decl.span, f"`@{node.name}` is declared here")
        if len(params) != len(node.args):
            message = f"`@{node.name}` takes {_count(len(params), 'argument')}, but {_given(node.args)}"
            self.error("E319", message, node, "give one argument for each parameter", (label,))
            return
        types = self._types[id(node)]
        if types is None or len(types) != 1 or not all(self._context.env.is_subtype(result, t) for t in types):
            wanted, labels = self._explainer.wanted(node)
            message = f"`@{node.name}` returns `{result.name}`, which does not fit where {wanted} is asked for"
            target = self._explainer.wanted_type(node)
            note = "declare another result type, or change what is asked for"
            if target is not None:
                note = mend(result.alone, target, "…")
            self.error("E318", message, node, note, (label, *labels), rank=int(types == frozenset()))
        for arg, param in zip(node.args, params, strict=True):
            self._check_parameter(node.name, arg, param, label)

    def _check_parameter(self, name: str, arg: ast.Argument, param: TypeNode, label: Label) -> None:
        types = self._solution.types_of(arg)
        if types is None or len(types) != 1 or not all(self._context.env.is_subtype(t, param) for t in types):
            message = f"{show_node(arg)} does not fit the parameter of type `{param.name}` of `@{name}`"
            what = arg.name if isinstance(arg, ast.Variable) else "…"
            computed = isinstance(arg, ast.UserFunctor) or (
                isinstance(arg, ast.Functor) and self._possible_results(arg)
            )
            self.error("E320", message, arg, mend(types, param, what), (label,), rank=0 if computed else 1)

    # --- Aggregates -------------------------------------------------------------------------------

    def _check_aggregate(self, node: ast.Aggregate) -> None:
        kind = {"count": Kind.NUMBER, "mean": Kind.FLOAT}.get(node.op)
        if kind is None:
            target = node.target
            kind = next(
                (k for k in (Kind.FLOAT, Kind.UNSIGNED) if target and self._solution.is_of_kind(target, k)), Kind.NUMBER
            )
        if not self._solution.is_of_kind(node, kind):
            self._aggregate_error(node)

    def _aggregate_error(self, node: ast.Aggregate) -> None:
        wanted, labels = self._explainer.wanted(node)
        notes = {
            "count": "count gives a number; convert it with to_unsigned(…), to_float(…) or to_string(…)",
            "mean": "mean works on floats; convert its target with to_float(…)",
        }
        note = notes.get(node.op, f"{node.op} works on number, unsigned and float, and gives what its target is")
        message = f"this `{node.op}` does not fit where {wanted} is asked for"
        self.error("E323", message, node, note, labels, rank=1)

    def _check_user_aggregate(self, node: ast.UserAggregate) -> None:
        signature = self._collector.signature(node.name)
        decl = self._context.functors.get(node.name)
        if signature is None or decl is None:
            return
        label = Label(decl.span, f"`@{node.name}` is declared here")
        if len(signature[0]) != 2:
            message = f"`@{node.name}` cannot fold: it takes {_count(len(signature[0]), 'argument')}"
            note = "a functor that folds takes two arguments: what was accumulated, and the next value"
            self.error("E319", message, node, note, (label,))
        elif self._types[id(node)] == frozenset():
            wanted, labels = self._explainer.wanted(node)
            result = signature[1].name
            message = f"`@@{node.name}` gives `{result}`, which does not fit where {wanted} is asked for"
            self.error("E318", message, node, "cast the result with as(…, type)", (label, *labels), rank=1)

    def _check_head_aggregate(self, node: ast.HeadAggregate) -> None:
        if self._types[id(node)] == frozenset():
            wanted, labels = self._explainer.wanted(node)
            notes = {"count": "a count is a number or unsigned", "mean": "an average is a float"}
            note = notes.get(node.op, "the column must be of the same kind of number as the argument")
            message = f"the result of this aggregate does not fit a column of type {wanted}"
            self.error("E325", message, node, note, labels)


def _given(args: Sequence[ast.Argument]) -> str:
    return "1 is given" if len(args) == 1 else f"{len(args)} are given"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
