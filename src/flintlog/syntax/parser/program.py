"""The items of a program and of a component, one after the other, whatever is wrong with any of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from flintlog.diagnostics import Report
from flintlog.source import SourceFile, Span
from flintlog.syntax import ast
from flintlog.syntax.parser.annotations import skip_annotations
from flintlog.syntax.parser.components import parse_component_head, parse_init, parse_override
from flintlog.syntax.parser.cursor import Cursor, Mistake
from flintlog.syntax.parser.declarations import (
    parse_functor,
    parse_lattice,
    parse_old_type,
    parse_relations,
    parse_type,
)
from flintlog.syntax.parser.directives import parse_directive, parse_pragma
from flintlog.syntax.parser.recovery import recover
from flintlog.syntax.parser.rules import parse_clause
from flintlog.syntax.preprocess import preprocess
from flintlog.syntax.tokens import DIRECTIVE, DIRECTIVES, END, IDENT, Token

_NOWHERE_DEFINED: Mapping[str, str] = {}
_ONLY_AT_TOP = frozenset({".functor", ".pragma"})
# The lexer's errors that leave a token in their place, so that the parser sees which item is spoilt. After others of
# the lexer and the preprocessor (a file that cannot be included, say) any amount of text may be missing.
_MARKED_BY_TOKENS = frozenset({"E102", "E104", "E105", "E106"})


def parse(
    source: SourceFile,
    report: Report,
    *,
    include_dirs: Sequence[Path] = (),
    defines: Mapping[str, str] = _NOWHERE_DEFINED,
) -> ast.Program:
    """The syntax tree of a program. Every problem goes into the report; what could be read is returned in any case."""
    known = set(report.errors)
    tokens = preprocess(source, report, include_dirs=include_dirs, defines=defines)
    cursor = Cursor(tokens, report)
    if any(error.code not in _MARKED_BY_TOKENS for error in report.errors if error not in known):
        cursor.lost.add_anything()
    items: list[ast.Item] = []
    while True:
        items += _items(cursor, opening=None)
        if cursor.kind == END:
            return ast.Program(tuple(items), cursor.lost.unread(), span=Span(source, 0, len(source.text)))
        # Perhaps it closes a component too early, and what comes next belongs to that.
        cursor.lost.add_anything()
        report.error("E101", "this `}` closes nothing", cursor.advance().span)


def _items(cursor: Cursor, opening: Token | None) -> list[ast.Item]:
    """Items up to END or the brace that closes the component opened by `opening`."""
    items: list[ast.Item] = []
    before: list[ast.Item] = []  # what the item right before has given
    is_directive = False
    while cursor.kind != END and cursor.kind != "}":
        start, first = cursor.token, cursor.index
        cursor.item_start = first
        try:
            found = _item(cursor, in_component=opening is not None)
            if cursor.is_spoilt:
                cursor.lost.add()
                found = []
            items += found
            before, is_directive = found, start.kind == DIRECTIVE
        except (Mistake, RecursionError) as mistake:
            _report(mistake, start, cursor.report)
            _leave_item(cursor, start, first)
            # What cannot be read on the line of a declaration was most likely meant to be a part of it, and so was what
            # can begin no item at all on the line of a rule.
            is_rest = is_directive or start.kind not in (IDENT, DIRECTIVE)
            if before and is_rest and start.kind != "." and not start.is_first_on_line:
                del items[-len(before) :]
                cursor.lost.add(*(item.name for item in before if isinstance(item, _NAMED)))
            before = []
        cursor.is_spoilt = False
    return items


_NAMED = (ast.RelationDecl, ast.SubsetType, ast.UnionType, ast.RecordType, ast.AdtType, ast.FunctorDecl, ast.Init)


def _report(mistake: Mistake | RecursionError, start: Token, report: Report) -> None:
    if isinstance(mistake, RecursionError):
        message = "this is nested too deep to be read"
        report.error("E127", message, start.span, note="give the parts names of their own")
    elif mistake.diagnostic is not None:
        report.add(mistake.diagnostic)


def _leave_item(cursor: Cursor, start: Token, first: int) -> None:
    """Moves to the next item, and keeps in mind what is lost with this one, whose first token is number `first`."""
    recover(cursor, start)
    tokens = cursor.tokens[first : cursor.index]
    if start.kind == "." and len(tokens) > 1:
        declares = _nearest_directive(tokens[1]) not in _NOT_DECLARING
        cursor.lost.add_item(tokens[2:] if declares else tokens, declares=declares)
        return
    lacks_dot = _lacks_dot(tokens)
    cursor.lost.add_item(tokens[1:] if lacks_dot else tokens, declares=lacks_dot)
    is_stray_dot = start.kind == "." and cursor.token.is_first_on_line
    if start.kind not in (IDENT, DIRECTIVE, "@") and not is_stray_dot:
        cursor.lost.add_anything()


def _lacks_dot(tokens: Sequence[Token]) -> bool:
    """Whether an item begins like a directive, but for its dot: `decl edge(`."""
    return len(tokens) > 1 and tokens[0].text in DIRECTIVES and tokens[0].kind == tokens[1].kind == IDENT


def _item(cursor: Cursor, *, in_component: bool) -> list[ast.Item]:
    skip_annotations(cursor)
    start = cursor.token
    if start.kind == DIRECTIVE:
        cursor.advance()
        return _directive(cursor, start, in_component=in_component)
    if start.kind == "." and cursor.peek().text in DIRECTIVES and cursor.peek().kind != DIRECTIVE:
        cursor.advance()
        word = cursor.advance()
        whole = Token(DIRECTIVE, f".{word.text}", start.file, start.start, max(start.end, word.end))
        return _directive(cursor, whole, in_component=in_component)
    if start.kind == ".":
        _unknown_directive(cursor)
    if start.kind in (END, "}"):
        return []  # annotations with nothing after them
    if _lacks_dot([start, cursor.peek()]):
        note = f"did you mean `.{start.text}`?"
        cursor.unexpected("a declaration, a rule or a fact", note=note)
    if start.kind != IDENT and cursor.peek().kind != "(":
        cursor.unexpected("a declaration, a rule or a fact")
    return [parse_clause(cursor)]


def _unknown_directive(cursor: Cursor) -> None:
    dot, word = cursor.token, cursor.peek()
    if not word.text[:1].isalpha() or word.start != dot.end:
        cursor.fail("E101", "this `.` ends nothing: no rule or fact stands before it")
    nearest = _nearest_directive(word)
    note = f"did you mean `.{nearest}`?" if nearest else None
    cursor.fail("E107", f"unknown directive `.{word.text}`", dot.span.to(word.span), note=note)


_NOT_DECLARING = frozenset("input output printsize limitsize pragma plan override once".split())


def _nearest_directive(word: Token) -> str | None:
    """The directive that a misspelt one is most likely to mean."""
    close = get_close_matches(word.text.lower(), sorted(DIRECTIVES), n=1, cutoff=0.6)
    return close[0] if close else None


def _directive(cursor: Cursor, start: Token, *, in_component: bool) -> list[ast.Item]:
    """The item whose first word, `start`, has been read."""
    word = start.text
    if in_component and word in _ONLY_AT_TOP:
        message = f"`{word}` cannot stand in a component"
        cursor.fail("E125", message, start.span, note="write it outside of all components")
    if word == ".decl":
        return parse_relations(cursor)
    if word in (".input", ".output", ".printsize", ".limitsize"):
        return parse_directive(cursor, start)
    if word == ".comp":
        return _component(cursor, start)
    if word == ".override" and in_component:
        return [parse_override(cursor)]
    if word not in _SINGLE_ITEMS:
        cursor.fail("E125", f"`{word}` cannot stand here", start.span, note=_PLACES.get(word))
    return [_SINGLE_ITEMS[word](cursor, start)]


_PLACES = {
    ".override": "it stands in a component and names a relation of its bases",
    ".plan": "it stands right after the `.` of a rule",
}
_SINGLE_ITEMS = {
    ".type": parse_type,
    ".number_type": parse_old_type,
    ".symbol_type": parse_old_type,
    ".lattice": parse_lattice,
    ".functor": parse_functor,
    ".pragma": parse_pragma,
    ".init": parse_init,
}


def _component(cursor: Cursor, start: Token) -> list[ast.Item]:
    """A component; or nothing if its head cannot be read, though the mistakes in its body are reported all the same."""
    name = cursor.token.text
    head = _component_head(cursor)
    opening = cursor.previous
    span = cursor.since(start)
    items = _items(cursor, opening)
    if not cursor.accept("}"):
        message = f"the component `{name}` does not end"
        cursor.report.error("E126", message, opening.span, note="write `}` after its last item")
    return [] if head is None else [ast.Component(*head, tuple(items), span=span)]


def _component_head(cursor: Cursor) -> tuple[ast.ComponentType, tuple[ast.ComponentType, ...]] | None:
    """The head of a component, up to and including the brace. None if only the brace can be found."""
    first = cursor.index
    try:
        return parse_component_head(cursor)
    except Mistake as mistake:
        while cursor.kind != "{" and cursor.kind != END and not cursor.peek().is_first_on_line:
            cursor.advance()
        if not cursor.accept("{"):
            raise
        if mistake.diagnostic is not None:
            cursor.report.add(mistake.diagnostic)
        cursor.lost.add_item(cursor.tokens[first - 1 : cursor.index], declares=False)
        return None
