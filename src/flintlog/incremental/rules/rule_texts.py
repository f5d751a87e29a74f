"""The text of a database's program: its rules by their names, and the text with some of them more or less."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import blake2s

from flintlog.diagnostics import Diagnostic, FlintlogError, Report, did_you_mean
from flintlog.source import SourceFile
from flintlog.syntax import ast
from flintlog.syntax.parser import parse
from flintlog.syntax.printer import print_item, print_program


@dataclass(frozen=True)
class RuleText:
    """`id` comes from the text, so that it is the same wherever the rule stands."""

    id: str
    text: str


def rules_of(text: str) -> list[RuleText]:
    """The rules of a program that can be taken out of it, in the order of the text. Those of components belong to
    these."""
    return [_named(item) for item in _tree(text).items if isinstance(item, ast.Rule | ast.Subsumption)]


def with_items(text: str, more: str) -> str:
    """The program with rules, or declarations, added; a rule that it has already is not added again. FlintlogError
    where they are not well written."""
    added = _tree(more, name="<added>")
    for item in added.items:
        if isinstance(item, ast.Directive) and item.kind == "input":
            note = "insert the facts in a transaction"
            raise FlintlogError([Diagnostic("E972", "a database reads facts only when it is created", item.span, note)])
    known = {rule.id for rule in rules_of(text)}
    new = [
        item for item in added.items if not (isinstance(item, ast.Rule | ast.Subsumption) and _named(item).id in known)
    ]
    return text.rstrip("\n") + "\n" + print_program(replace(added, items=tuple(new)))


def without_rule(text: str, id: str) -> str:
    """The program without a rule. FlintlogError if it has none of that name."""
    tree = _tree(text)
    kept = [item for item in tree.items if not (isinstance(item, ast.Rule | ast.Subsumption) and _named(item).id == id)]
    if len(kept) == len(tree.items):
        ids = [rule.id for rule in rules_of(text)]
        note = did_you_mean(id, ids) or "`flintlog db rules --list` shows the rules there are"
        raise FlintlogError([Diagnostic("E945", f"there is no rule `{id}`", note=note)])
    return print_program(replace(tree, items=tuple(kept)))


def without_relation(text: str, name: str) -> str:
    """The program without a relation, its rules and its directives; or without an instance of a component, and those of
    its relations. FlintlogError if it has none of that name."""
    tree = _tree(text)
    declared = [item.name for item in tree.items if isinstance(item, ast.RelationDecl)]
    instances = [item.name for item in tree.items if isinstance(item, ast.Init)]
    if name not in (*declared, *instances):
        instance = name.partition(".")[0]
        if instance in instances:
            message = f"`{name}` is not declared by itself: `{instance}` is an instance of a component"
            raise FlintlogError([Diagnostic("E909", message, note=f"drop `{instance}` as a whole")])
        note = did_you_mean(name, [*declared, *instances])
        raise FlintlogError([Diagnostic("E909", f"the program has no relation `{name}`", note=note)])
    return print_program(replace(tree, items=tuple(item for item in tree.items if not _is_of(item, name))))


def is_inline(text: str, name: str) -> bool:
    """Whether the program declares a relation whose rules stand in those that read it."""
    declared = [item for item in _tree(text).items if isinstance(item, ast.RelationDecl)]
    return any(item.name == name and "inline" in item.qualifiers for item in declared)


def is_part_of(relation: str, name: str) -> bool:
    """Whether a name is that of the relation, or of the instance of a component that it comes with."""
    return relation == name or relation.startswith(f"{name}.")


def readers_of(text: str, name: str) -> list[RuleText]:
    """The rules whose bodies have a relation."""
    atom = re.compile(rf"(?<![\w?.]){re.escape(name)}\s*\(")
    return [rule for rule in rules_of(text) if atom.search(rule.text.partition(":-")[2])]


def _is_of(item: ast.Item, name: str) -> bool:
    match item:
        case ast.RelationDecl() | ast.Init():
            return item.name == name
        case ast.Rule():
            return all(is_part_of(head.name, name) for head in item.heads)
        case ast.Subsumption():
            return is_part_of(item.dominated.name, name)
        case ast.Directive():
            return is_part_of(item.relation, name)
    return False


def _named(item: ast.Item) -> RuleText:
    text = print_item(item)
    return RuleText(blake2s(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest(), text)


def _tree(text: str, name: str = "<database>") -> ast.Program:
    report = Report()
    tree = parse(SourceFile(name, text), report)
    report.raise_if_errors()
    return tree
