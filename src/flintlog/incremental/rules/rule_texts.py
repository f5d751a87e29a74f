"""Edits of a database's program text: its rules by id, items added, a rule or a relation removed."""

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
    """A rule; its `id` is a hash of its text, and so does not depend on where the rule stands."""

    id: str
    text: str


def rules_of(text: str) -> list[RuleText]:
    """The rules that can be removed from a program, in the order of the text: all but those of components."""
    return [_named(item) for item in _tree(text).items if isinstance(item, ast.Rule | ast.Subsumption)]


def with_items(text: str, more: str) -> str:
    """The program with the rules and declarations of `more`, except rules that it has already. Raises FlintlogError for
    syntax errors and for an `.input`."""
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
    """The program without a rule. Raises FlintlogError if no rule has this id."""
    tree = _tree(text)
    kept = [item for item in tree.items if not (isinstance(item, ast.Rule | ast.Subsumption) and _named(item).id == id)]
    if len(kept) == len(tree.items):
        ids = [rule.id for rule in rules_of(text)]
        note = did_you_mean(id, ids) or "`flintlog db rules --list` shows the id of each rule"
        raise FlintlogError([Diagnostic("E945", f"there is no rule `{id}`", note=note)])
    return print_program(replace(tree, items=tuple(kept)))


def without_relation(text: str, name: str) -> str:
    """The program without a relation, its rules and its directives; or without an instance of a component, and the
    rules and directives of its relations. Raises FlintlogError if neither has this name."""
    tree = _tree(text)
    declared = [item.name for item in tree.items if isinstance(item, ast.RelationDecl)]
    instances = [item.name for item in tree.items if isinstance(item, ast.Init)]
    if name not in (*declared, *instances):
        instance = name.partition(".")[0]
        if instance in instances:
            message = f"`{name}` cannot be dropped alone: `{instance}` is an instance of a component"
            raise FlintlogError([Diagnostic("E909", message, note=f"drop `{instance}` as a whole")])
        note = did_you_mean(name, [*declared, *instances])
        raise FlintlogError([Diagnostic("E909", f"the program has no relation `{name}`", note=note)])
    return print_program(replace(tree, items=tuple(item for item in tree.items if not _is_of(item, name))))


def is_inline(text: str, name: str) -> bool:
    """Whether the program declares the relation as inline."""
    declared = [item for item in _tree(text).items if isinstance(item, ast.RelationDecl)]
    return any(item.name == name and "inline" in item.qualifiers for item in declared)


def is_part_of(relation: str, name: str) -> bool:
    """Whether `name` names the relation, or the instance of a component that declares the relation."""
    return relation == name or relation.startswith(f"{name}.")


def readers_of(text: str, name: str) -> list[RuleText]:
    """The rules whose bodies name a relation."""
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
