"""Questions to a database: rules that are added to its program, and computed from its relations.

The constants of a question restrict the rows that these rules derive (magic sets).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType

from flintlog.check.clauses.traverse import AGGREGATES, walk
from flintlog.compiler import Compilation, optimise_compiled
from flintlog.diagnostics import Diagnostic, FlintlogError, Report
from flintlog.engines.local.storage.relation import Relation
from flintlog.incremental.questions.question_types import Types, declared_types
from flintlog.incremental.rows.maintained_relation import current
from flintlog.incremental.rules.flattened_program import Part
from flintlog.incremental.state import State
from flintlog.io.column_facts import ColumnFacts
from flintlog.ir.shared import without_shared
from flintlog.source import SourceFile, Span
from flintlog.syntax import ast
from flintlog.syntax.parser import parse
from flintlog.syntax.printer import print_body
from flintlog.types import Kind

ANSWER = "answer"
# On a line of its own, because the question may end with a comment.
_END = "\n.\n"
NOTHING: Mapping[str, ColumnFacts] = MappingProxyType({})


@dataclass(frozen=True)
class Question:
    """`text` declares and defines the relation `relation`, whose columns are `variables`."""

    text: str
    relation: str
    variables: tuple[str, ...]


Compile = Callable[[str], Compilation]


def question_of(text: str, types: Types, compile: Compile) -> Question:
    """The question for the body of a rule, as in `path(1, x), !edge(x, _)`. `types` are the program's; `compile` adds a
    text to the program and compiles it. Raises FlintlogError."""
    asked = _asked(text)
    body = _body(asked)
    declared = declared_types(body, types)
    name = _free_name(types.columns, asked.text)
    with in_words_of(asked, _END):
        kinds = _kinds(compile(f".decl {name}()\n{name}() :-\n{asked.text}{_END}"), name)
    plain = {variable: kind.value for variable, kind in kinds.items() if kind not in (Kind.RECORD, Kind.ADT)}
    columns = {variable: (declared | plain)[variable] for variable in kinds if variable in declared | plain}
    attributes = ", ".join(f"{variable}: {type}" for variable, type in columns.items())
    rule = f"{name}({', '.join(columns)}) :- {print_body(body)}."
    return Question(f".decl {name}({attributes})\n{rule}\n", name, tuple(columns))


def goal_of(text: str, types: Types, compile: Compile) -> tuple[Question, str]:
    """The question whose answer is the row that is written in `text`, as in `path(1, 3)`; and the row's relation."""
    asked = _asked(text)
    body = _body(asked)
    with in_words_of(asked, _END):
        atom = _one_row(body)
    question_of(text, types, compile)  # for its errors
    name = _free_name(types.columns, asked.text)
    declared = ", ".join(f"c{i}: {type}" for i, type in enumerate(types.columns[atom.name]))
    made = f".decl {name}({declared})\n{print_body(replace(atom, name=name))}.\n"
    return Question(made, name, tuple(f"c{i}" for i in range(len(atom.args)))), atom.name


def answers(
    state: State,
    compilation: Compilation,
    wanted: Collection[str],
    given: Mapping[str, ColumnFacts] = NOTHING,
    without: Collection[str] = (),
) -> Mapping[str, Relation]:
    """Computes the relations `wanted` of a program that extends the state's. `given` are facts of further relations,
    `without` are passes to skip."""
    stored = state.flattened.program.relations
    program = compilation.program
    strata = tuple(
        replace(stratum, rules=(), subsumptions=()) if stratum.relations[0] in stored else stratum
        for stratum in program.strata
    )
    compilation = replace(compilation, ir=replace(program, strata=strata, io=()))
    inputs = [name for name in program.relations if name in stored or name in given]
    asked = without_shared(optimise_compiled(compilation, wanted=wanted, given=inputs, without=without).program)
    known = current(state.relations, [name for name in asked.relations if name in stored])
    facts = {name: rows for name, rows in given.items() if name in asked.relations}
    run = state.start(facts, known, asked)
    try:
        for stratum in asked.strata:
            if stratum.relations[0] not in stored:
                run.compute(Part(stratum, again="it was asked for"))
    finally:
        run.workers.close()
    return {name: run.store[name] for name in wanted}


def _asked(text: str) -> SourceFile:
    return SourceFile("<question>", text.strip().removesuffix("."))


@contextmanager
def in_words_of(source: SourceFile, end: str) -> Iterator[None]:
    """Moves errors into `source`: the block compiles a text that ends with the text of `source` and `end`."""

    def moved(span: Span) -> Span:
        start = len(span.file.text) - len(source.text + end)
        if span.start < start or not span.file.text.endswith(source.text + end):
            return span
        return Span(source, *(min(offset - start, len(source.text)) for offset in (span.start, span.end)))

    def placed(diagnostic: Diagnostic) -> Diagnostic:
        labels = tuple(replace(label, span=moved(label.span)) for label in diagnostic.labels)
        span, message = moved(diagnostic.span), diagnostic.message
        if end and span.start == len(source.text):
            message = message.replace(f"found `{end.strip()}`", "found the end")
        return replace(diagnostic, message=message, span=span, labels=labels)

    try:
        yield
    except FlintlogError as error:
        raise FlintlogError([placed(each) for each in error.diagnostics]) from None


def _body(asked: SourceFile) -> ast.Body:
    report = Report()
    with in_words_of(asked, _END):
        tree = parse(SourceFile(asked.name, f"{ANSWER}() :-\n{asked.text}{_END}"), report)
        report.raise_if_errors()
    rule = tree.items[0] if tree.items else None
    if len(tree.items) != 1 or not isinstance(rule, ast.Rule) or rule.body is None:
        message = "this is not a question"
        raise FlintlogError([Diagnostic("E971", message, note="ask as the body of a rule, as in path(1, x)")])
    return rule.body


def _one_row(body: ast.Body) -> ast.Atom:
    """The body, if it is an atom whose arguments are values. Raises FlintlogError."""
    if not isinstance(body, ast.Atom):
        message = "this is not one row of a relation"
        raise FlintlogError([Diagnostic("E971", message, body.span, note="write it as in path(1, 3)")])
    for node in walk(body, stop=AGGREGATES):
        if isinstance(node, ast.Variable | ast.Unnamed):
            message = f"this is not one row of `{body.name}`: `{node.span.text}` is no value"
            note = "`flintlog db query`, or `Database.query`, finds the rows there are"
            raise FlintlogError([Diagnostic("E971", message, node.span, note)])
    return body


def _kinds(compilation: Compilation, name: str) -> dict[str, Kind]:
    """The kinds of a question's variables, in the order of the text, without variables inside aggregates."""
    compilation.report.raise_if_errors()
    assert compilation.checked is not None
    found: dict[str, Kind] = {}
    for clause in compilation.checked.clauses:
        if clause.head.name == name:
            for node in walk(*clause.body, stop=AGGREGATES):
                if isinstance(node, ast.Variable) and not node.name.startswith("_"):
                    kind = compilation.checked.kinds.get(id(node))
                    if kind is not None:
                        found.setdefault(node.name, kind)
    return found


def _free_name(taken: Collection[str], text: str) -> str:
    """A name that is not `taken`, and that the question does not contain."""
    name = ANSWER
    while name in taken or name in text:
        name += "_"
    return name
