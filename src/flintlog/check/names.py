"""The names rules use: relations with the right number of arguments, functors that are declared; and where `_` and
variables may stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flintlog.check.checked import Clause, NegatedAtom, Relation, SubsumptiveClause
from flintlog.check.clauses.traverse import AGGREGATES, parts, walk
from flintlog.check.missing import Missing
from flintlog.diagnostics import Label, Report, did_you_mean
from flintlog.syntax import ast


def check_names(
    clause: Clause | SubsumptiveClause,
    relations: Mapping[str, Relation],
    functors: Mapping[str, ast.FunctorDecl],
    missing: Missing,
    report: Report,
) -> bool:
    """Whether a clause makes sense by itself, so that its types can be inferred; if not, says why not, unless that
    follows from what is missing."""
    sound = True
    heads = (clause.head,) if isinstance(clause, Clause) else (clause.dominated, clause.dominating)
    for node in walk(clause):
        if isinstance(node, ast.Atom):
            sound &= _check_atom(node, relations, missing, report)
        elif isinstance(node, ast.Constraint):
            sound &= _check_underscores(node, report)
        if isinstance(node, ast.Aggregate | ast.UserAggregate):
            sound &= _check_target(node, report)
        if isinstance(node, ast.UserFunctor | ast.UserAggregate):
            sound &= _check_functor(node, functors, missing, report)
    for node in walk(heads[0], stop=AGGREGATES):
        if isinstance(node, ast.Unnamed):
            sound = False
            report.error(
                "E210", "`_` in the head of a rule", node.span, note="a head needs a value: name a variable of the body"
            )
    if isinstance(clause, Clause) and not clause.body:
        sound &= _check_fact(clause.head, missing, report)
    if len(heads) == 2 and heads[0].name != heads[1].name:
        sound = False
        report.error(
            "E217",
            f"a subsumption compares rows of one relation, not `{heads[0].name}` and `{heads[1].name}`",
            clause.span,
            note="both atoms around `<=` need the same relation",
        )
    return sound


def check_functors(
    argument: ast.Argument, functors: Mapping[str, ast.FunctorDecl], missing: Missing, report: Report
) -> None:
    """Reports user functors in an argument that are not declared."""
    for node in walk(argument):
        if isinstance(node, ast.UserFunctor | ast.UserAggregate):
            _check_functor(node, functors, missing, report)


def note_on_relation(name: str, relations: Iterable[str]) -> str:
    """What to do about the name of a relation that there is not."""
    known = list(relations)
    guess = did_you_mean(name, known)
    instance, dot, relation = name.rpartition(".")
    if not dot:
        return guess or f"declare it with `.decl {name}(…)`"
    if any(other.startswith(f"{instance}.") for other in known):
        return f"instance `{instance}` has no relation `{relation}`" + (f"; {guess}" if guess else "")
    return f"there is no instance `{instance}`" + (f"; {guess}" if guess else "")


def _check_atom(atom: ast.Atom, relations: Mapping[str, Relation], missing: Missing, report: Report) -> bool:
    relation = relations.get(atom.name)
    if relation is None:
        if atom.name not in missing:
            report.error(
                "E201",
                f"unknown relation `{atom.name}`",
                atom.name_span if atom.name_span.end else atom.span,
                note=note_on_relation(atom.name, relations),
            )
        return False
    expected, given = len(relation.attributes), len(atom.args)
    if expected != given:
        arguments = "1 argument is" if given == 1 else f"{given} arguments are"
        report.error(
            "E202",
            f"relation `{atom.name}` has {expected} attribute{'' if expected == 1 else 's'}, but {arguments} given",
            atom.span,
            labels=[Label(relation.span, "declared here")],
            note="write `_` for an attribute whose value does not matter" if given < expected else "remove the rest",
        )
    return expected == given


def _check_functor(
    node: ast.UserFunctor | ast.UserAggregate,
    functors: Mapping[str, ast.FunctorDecl],
    missing: Missing,
    report: Report,
) -> bool:
    if node.name in functors or node.name in missing:
        return node.name in functors
    report.error(
        "E208",
        f"unknown functor `@{node.name}`",
        node.span,
        note=did_you_mean(f"@{node.name}", [f"@{name}" for name in functors])
        or f"declare it with `.functor {node.name}(…): …`",
    )
    return False


def _check_underscores(constraint: ast.Constraint, report: Report) -> bool:
    """A `_` in a constraint is a pattern's only: directly inside a record or a branch."""
    sides = (constraint.left, constraint.right)
    if any(isinstance(side, AGGREGATES) for side in sides):
        return True
    sound = True
    for node in walk(constraint, stop=AGGREGATES):
        if isinstance(node, ast.RecordInit | ast.BranchInit | ast.Aggregate | ast.UserAggregate):
            continue
        for below in parts(node):
            if isinstance(below, ast.Unnamed):
                sound = False
                report.error(
                    "E211",
                    "`_` in a constraint",
                    below.span,
                    note="a constraint compares values: name a variable, or leave the constraint out",
                )
    return sound


def _check_target(aggregate: ast.Aggregate | ast.UserAggregate, report: Report) -> bool:
    nodes = () if aggregate.target is None else walk(aggregate.target, stop=AGGREGATES)
    unnamed = [node for node in nodes if isinstance(node, ast.Unnamed)]
    for node in unnamed:
        note = "an aggregate works on a value: name the variable in the body and use that name"
        report.error("E238", "`_` in the target of an aggregate", node.span, note=note)
    return not unnamed


def _check_fact(head: ast.Atom, missing: Missing, report: Report) -> bool:
    below = list(walk(head))
    # With an aggregate or `range`, it is a rule that needs no body.
    if any(isinstance(n, AGGREGATES) or (isinstance(n, ast.Functor) and n.op == "range") for n in below):
        return True
    sound = True
    for node in below:
        if isinstance(node, ast.Variable | ast.Counter | ast.Iteration):
            sound = False
            if isinstance(node, ast.Variable) and node.name in missing:
                continue  # it may have been a macro
            note = "a fact has constants only; for a rule, write `:-` and a body after the head"
            if isinstance(node, ast.Variable) and node.name.lower() == "nil":
                note = "did you mean `nil`?"
            elif isinstance(node, ast.Variable):
                note = f'write `"{node.name}"` if it is a symbol; for a rule, write `:-` and a body after the head'
            report.error(
                "E212",
                f"`{node.span.text or getattr(node, 'name', 'autoinc()')}` in a fact is not a constant",
                node.span,
                note=note,
            )
    return sound


def check_counters(clause: Clause | SubsumptiveClause, recursive: bool, report: Report) -> None:
    """Reports `autoinc()` in a recursive rule, whose evaluation takes as many turns as it needs."""
    if not recursive:
        return
    for node in walk(clause):
        if isinstance(node, ast.Counter):
            report.error(
                "E213",
                "`autoinc()` in a recursive rule",
                node.span,
                note="number the rows in a rule of another relation, which depends on this one",
            )


def check_deltas(
    relations: Mapping[str, Relation],
    clauses: Iterable[Clause | SubsumptiveClause],
    directives: Iterable[ast.Directive],
    report: Report,
) -> None:
    """Reports rules, facts and inputs of relations that are declared as the delta of another."""
    deltas = {name for name, relation in relations.items() if relation.delta_of is not None}
    if not deltas:
        return
    heads = [clause.head if isinstance(clause, Clause) else clause.dominated for clause in clauses]
    places = [(head.name, head.span) for head in heads]
    places += [(directive.relation, directive.span) for directive in directives if directive.kind == "input"]
    for name, span in places:
        if name in deltas:
            report.error(
                "E226",
                f"`{name}` observes another relation and cannot have rows of its own",
                span,
                labels=[Label(relations[name].span, "declared here")],
                note="remove the rule, the fact or the `.input`",
            )


def body_atoms(clause: Clause | SubsumptiveClause) -> list[ast.Atom]:
    """The positive atoms of a clause's body; for a subsumption the two compared atoms come first."""
    atoms = [literal for literal in clause.body if isinstance(literal, ast.Atom)]
    return atoms if isinstance(clause, Clause) else [clause.dominated, clause.dominating, *atoms]


def negated_atoms(clause: Clause | SubsumptiveClause) -> list[ast.Atom]:
    """The negated atoms of a clause, those inside aggregates too."""
    found = []
    for node in walk(clause):
        if isinstance(node, NegatedAtom):
            found.append(node.atom)
        elif isinstance(node, ast.Negation) and isinstance(node.body, ast.Atom):
            found.append(node.body)
    return found
