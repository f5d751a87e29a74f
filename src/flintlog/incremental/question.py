"""Questions to a database: what rules beside its own give, computed from the relations that it keeps.

The constants of a question say which rows are asked for: rules that come with it compute only those (magic sets).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from flintlog.check.traverse import walk
from flintlog.compiler import Compilation, optimise_compiled
from flintlog.diagnostics import Diagnostic, FlintlogError, Report
from flintlog.engines.local.storage.relation import Relation
from flintlog.incremental.kept import current
from flintlog.incremental.normal import Part
from flintlog.incremental.state import State
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir.shared import without_shared
from flintlog.source import SourceFile
from flintlog.syntax import ast
from flintlog.syntax.parser import parse
from flintlog.syntax.printer import print_body

ANSWER = "answer"
NOTHING: Mapping[str, ColumnFacts] = MappingProxyType({})


@dataclass(frozen=True)
class Question:
    """`text` declares and defines the relation `relation`, whose columns are the variables that were asked for."""

    text: str
    relation: str
    variables: tuple[str, ...]


Compile = Callable[[str], Compilation]


def question_of(text: str, types: Mapping[str, Sequence[str]], compile: Compile) -> Question:
    """Makes a question of the body of a rule, as in `path(1, x), !edge(x, _)`. `types` are those of every relation's
    columns; `compile` takes a text that is added to the program. FlintlogError for what is wrong with it."""
    body = _body(text)
    declared: dict[str, str] = {}
    for atom in _atoms(body):
        for place, argument in enumerate(atom.args):
            if isinstance(argument, ast.Variable) and place < len(types.get(atom.name, ())):
                declared.setdefault(argument.name, types[atom.name][place])
    name = _free_name(types)
    kinds = _kinds(compile(f".decl {name}()\n{name}() :- {print_body(body)}.\n"), name)
    columns = {variable: declared.get(variable, kind) for variable, kind in kinds.items()}
    attributes = ", ".join(f"{variable}: {type}" for variable, type in columns.items())
    rule = f"{name}({', '.join(columns)}) :- {print_body(body)}."
    return Question(f".decl {name}({attributes})\n{rule}\n", name, tuple(columns))


def goal_of(text: str, types: Mapping[str, Sequence[str]], compile: Compile) -> tuple[Question, str]:
    """Makes a question of one row, as in `path(1, 3)`, whose answer is just that row; also says of which relation."""
    body = _body(text)
    if not isinstance(body, ast.Atom):
        message = "this is not one row of a relation"
        raise FlintlogError([Diagnostic("E971", message, body.span, note="write it as in path(1, 3)")])
    columns = types.get(body.name)
    if columns is None or len(columns) != len(body.args):
        return question_of(text, types, compile), body.name  # which will not compile, and say why
    name = _free_name(types)
    declared = ", ".join(f"c{place}: {type}" for place, type in enumerate(columns))
    row = print_body(replace(body, name=name))
    return Question(f".decl {name}({declared})\n{row}.\n", name, tuple(f"c{i}" for i in range(len(columns)))), body.name


def answers(
    state: State, compilation: Compilation, wanted: Collection[str], given: Mapping[str, ColumnFacts] = NOTHING
) -> Mapping[str, Relation]:
    """Relations that a compiled program has beside those of the state. `given` are facts of others beside them."""
    stored = state.normal.program.relations
    program = compilation.program
    strata = tuple(
        replace(stratum, rules=(), subsumptions=()) if stratum.relations[0] in stored else stratum
        for stratum in program.strata
    )
    compilation = replace(compilation, ir=replace(program, strata=strata, io=()))
    inputs = [name for name in program.relations if name in stored or name in given]
    asked = without_shared(optimise_compiled(compilation, wanted=wanted, given=inputs).program)
    facts, whole = current(state.kept, [name for name in asked.relations if name in stored])
    facts |= {name: rows for name, rows in given.items() if name in asked.relations}
    run = state.start(facts, whole, asked)
    try:
        for stratum in asked.strata:
            if stratum.relations[0] not in stored:
                run.compute(Part(stratum, again="it was asked for"))
    finally:
        run.workers.close()
    return {name: run.store[name] for name in wanted}


def _body(text: str) -> ast.Body:
    report = Report()
    text = text.strip().removesuffix(".")
    tree = parse(SourceFile("<question>", f"{ANSWER}() :- {text}."), report)
    report.raise_if_errors()
    rule = tree.items[0] if tree.items else None
    if len(tree.items) != 1 or not isinstance(rule, ast.Rule) or rule.body is None:
        message = "this is not a question"
        raise FlintlogError([Diagnostic("E971", message, note="ask as the body of a rule, as in path(1, x)")])
    return rule.body


def _atoms(body: ast.Body) -> Iterator[ast.Atom]:
    """Atoms that bind variables."""
    match body:
        case ast.Atom():
            yield body
        case ast.Conjunction(items) | ast.Disjunction(items):
            for item in items:
                yield from _atoms(item)


def _kinds(compilation: Compilation, name: str) -> dict[str, str]:
    """The variables of a question that can be columns, in the order of the text, with the plainest type they may have.
    Those of aggregates are their own; records and branches of which no atom tells the type are left out."""
    compilation.report.raise_if_errors()
    assert compilation.checked is not None
    found: dict[str, str] = {}
    for clause in compilation.checked.clauses:
        if clause.head.name == name:
            for node in walk(*clause.body, stop=(ast.Aggregate, ast.UserAggregate)):
                if isinstance(node, ast.Variable) and not node.name.startswith("_"):
                    kind = compilation.checked.kinds.get(id(node))
                    if kind is not None:
                        found.setdefault(node.name, kind.value)
    return found


def _free_name(taken: Collection[str]) -> str:
    name = ANSWER
    while name in taken:
        name += "_"
    return name
