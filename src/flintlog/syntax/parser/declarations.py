"""Declarations of types, lattices, relations and functors."""

from __future__ import annotations

from flintlog.syntax import ast
from flintlog.syntax.parser.annotations import skip_annotations
from flintlog.syntax.parser.arguments import parse_argument
from flintlog.syntax.parser.cursor import Cursor
from flintlog.syntax.tokens import IDENT, QUALIFIERS, Token

_LATTICE_OPERATORS = ("Bottom", "Top", "Lub", "Glb", "Leq")
_OLD_QUALIFIERS = frozenset({"input", "output", "printsize"})
_REPRESENTATIONS = frozenset({"btree", "brie", "eqrel", "btree_delete"})

# --- Types ----------------------------------------------------------------------------------------


def parse_type(cursor: Cursor, start: Token) -> ast.Item:
    """`.type`, whose word has been read."""
    name = cursor.name("a type").text
    if cursor.accept("<:"):
        base, _ = cursor.qualified_name("a type")
        return ast.SubsetType(name, base, span=cursor.since(start))
    if not cursor.accept("="):
        return _old_type(cursor, start, name, "symbol")
    skip_annotations(cursor)
    if cursor.accept("["):
        fields = _attributes(cursor, "]")
        return ast.RecordType(name, fields, span=cursor.since(start))
    if cursor.kind == IDENT and cursor.peek().kind == "{":
        branches = _branches(cursor)
        return ast.AdtType(name, branches, span=cursor.since(start))
    members = [cursor.qualified_name("a type")[0]]
    while cursor.accept("|"):
        members.append(cursor.qualified_name("a type")[0])
    if cursor.kind == "{":
        note = f"if `{name}` is to have branches, each has braces: `{members[0]} {{}}`"
        cursor.unexpected("`|` or the next declaration after a type", note=note)
    return ast.UnionType(name, tuple(members), span=cursor.since(start))


def parse_old_type(cursor: Cursor, start: Token) -> ast.Item:
    """`.number_type` or `.symbol_type`, whose word has been read."""
    base = start.text.removeprefix(".").removesuffix("_type")
    return _old_type(cursor, start, cursor.name("a type").text, base)


def _old_type(cursor: Cursor, start: Token, name: str, base: str) -> ast.Item:
    span = cursor.since(start)
    cursor.report.warning("W101", "an old form of type declaration", span, note=f"write `.type {name} <: {base}`")
    return ast.SubsetType(name, base, span=span)


def _branches(cursor: Cursor) -> tuple[ast.Branch, ...]:
    branches: list[ast.Branch] = []
    while True:
        skip_annotations(cursor)
        start = cursor.name("a branch")
        if cursor.kind != "{":
            note = f"a branch without fields is written `{start.text} {{}}`"
            cursor.unexpected(f"`{{` after the branch `{start.text}`", note=note)
        cursor.advance()
        skip_annotations(cursor)
        branches.append(ast.Branch(start.text, _attributes(cursor, "}"), span=cursor.since(start)))
        if not cursor.accept("|"):
            return tuple(branches)


def _attributes(cursor: Cursor, closing: str) -> tuple[ast.Attribute, ...]:
    """Attributes with commas between them, up to and including the closing bracket."""
    if cursor.accept(closing):
        return ()
    attributes = [_attribute(cursor)]
    while cursor.accept(","):
        attributes.append(_attribute(cursor))
    if cursor.kind != closing:
        cursor.unexpected(f"`,` or `{closing}` after an attribute")
    cursor.advance()
    return tuple(attributes)


def _attribute(cursor: Cursor) -> ast.Attribute:
    skip_annotations(cursor)
    name = cursor.name("an attribute")
    if cursor.kind != ":":
        note = f"each attribute has a type of its own: `{name.text}: number`, say"
        cursor.unexpected(f"`:` and a type after the attribute `{name.text}`", note=note)
    cursor.advance()
    type_name, _ = cursor.qualified_name("a type")
    lattice = cursor.kind == "<" and cursor.peek().kind == ">"
    if lattice:
        cursor.advance()
        cursor.advance()
    return ast.Attribute(name.text, type_name, lattice, span=cursor.since(name))


# --- Lattices -------------------------------------------------------------------------------------


def parse_lattice(cursor: Cursor, start: Token) -> ast.Item:
    """`.lattice`, whose word has been read."""
    name = cursor.name("a lattice").text
    cursor.expect("<", "after the name of a lattice")
    cursor.expect(">", "after `<`")
    cursor.expect("{", "before the operators of a lattice")
    operators = [_lattice_operator(cursor)]
    while cursor.accept(","):
        operators.append(_lattice_operator(cursor))
    if cursor.kind != "}":
        cursor.unexpected("`,` or `}` after an operator of a lattice")
    cursor.advance()
    if any(operator not in _LATTICE_OPERATORS for operator, _ in operators):
        cursor.lost.add(name)  # what it lacks, the misspelt operator may have been
    return ast.LatticeDecl(name, tuple(operators), span=cursor.since(start))


def _lattice_operator(cursor: Cursor) -> tuple[str, ast.Argument]:
    name = cursor.name("a lattice operator")
    if name.text not in _LATTICE_OPERATORS:
        note = "the operators are " + ", ".join(_LATTICE_OPERATORS)
        cursor.report.error("E124", f"a lattice has no operator `{name.text}`", name.span, note=note)
    cursor.expect("->", f"after `{name.text}`")
    return name.text, parse_argument(cursor)


# --- Relations ------------------------------------------------------------------------------------


def parse_relations(cursor: Cursor) -> list[ast.Item]:
    """`.decl`, whose word has been read: one declaration for each name."""
    names = [cursor.name("a relation")]
    if cursor.accept("="):
        return [_debug_relation(cursor, names[0])]
    while cursor.accept(","):
        names.append(cursor.name("a relation"))
    cursor.expect("(", f"and attributes after the relation `{names[-1].text}`")
    attributes = _attributes(cursor, ")")
    qualifiers = _qualifiers(cursor)
    domains = _choice_domains(cursor)
    return [ast.RelationDecl(name.text, attributes, qualifiers, domains, span=name.span) for name in names]


def _debug_relation(cursor: Cursor, name: Token) -> ast.Item:
    if cursor.token.text != "debug_delta":
        cursor.unexpected("`debug_delta` after `=`")
    cursor.advance()
    cursor.expect("(", "after `debug_delta`")
    of = cursor.name("a relation").text
    cursor.expect(")", "after the name of a relation")
    return ast.RelationDecl(name.text, (), _qualifiers(cursor), (), of, span=name.span)


def _qualifiers(cursor: Cursor) -> tuple[str, ...]:
    qualifiers: list[str] = []
    while cursor.kind in QUALIFIERS:
        token = cursor.advance()
        word = token.text
        rivals = {"btree", "brie", "eqrel"} if word in _REPRESENTATIONS else {word}
        rival = next((q for q in qualifiers if q in rivals), None)
        if rival is not None:
            message = f"`{word}` after `{rival}`: a relation has one representation"
            message = message if word != rival else f"the qualifier `{word}` is given twice"
            cursor.report.error("E123", message, token.span, note="keep one of the two")
        if word in _OLD_QUALIFIERS:
            note = f"write `.{word}` and the name of the relation"
            cursor.report.warning("W102", f"the qualifier `{word}` is an old form", token.span, note=note)
        qualifiers.append(word)
    return tuple(qualifiers)


def _choice_domains(cursor: Cursor) -> tuple[tuple[str, ...], ...]:
    if not cursor.accept("choice-domain"):
        return ()
    domains: list[tuple[str, ...]] = []
    while True:
        if cursor.accept("("):
            keys = [cursor.name("an attribute").text]
            while cursor.accept(","):
                keys.append(cursor.name("an attribute").text)
            cursor.expect(")", "after the attributes of a choice-domain")
            domains.append(tuple(keys))
        else:
            domains.append((cursor.name("an attribute").text,))
        if not cursor.accept(","):
            return tuple(domains)


# --- Functors -------------------------------------------------------------------------------------


def parse_functor(cursor: Cursor, start: Token) -> ast.Item:
    """`.functor`, whose word has been read."""
    name = cursor.name("a functor").text
    cursor.expect("(", f"after the functor `{name}`")
    params: list[ast.Attribute] = []
    if cursor.kind != ")":
        params.append(_functor_parameter(cursor))
        while cursor.accept(","):
            params.append(_functor_parameter(cursor))
    if cursor.kind != ")":
        cursor.unexpected("`,` or `)` after a parameter")
    cursor.advance()
    cursor.expect(":", "and the type of the result after the parameters")
    result_name, result_span = cursor.qualified_name("a type")
    stateful = cursor.accept("stateful")
    result = ast.Attribute("", result_name, span=result_span)
    return ast.FunctorDecl(name, tuple(params), result, stateful, span=cursor.since(start))


def _functor_parameter(cursor: Cursor) -> ast.Attribute:
    skip_annotations(cursor)
    start = cursor.token
    name = ""
    if cursor.kind == IDENT and cursor.peek().kind == ":":
        name = cursor.advance().text
        cursor.advance()
    type_name, _ = cursor.qualified_name("a type")
    return ast.Attribute(name, type_name, span=cursor.since(start))
