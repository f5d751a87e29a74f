import pytest
from tests.unit.syntax.reading import item, items, problems, read

from flintlog.syntax import ast


def attributes(*pairs):
    return tuple(ast.Attribute(name, type_name) for name, type_name in pairs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".type A <: c.B", ast.SubsetType("A", "c.B")),
        (".type A = B", ast.UnionType("A", ("B",))),
        (".type A = B | c.D", ast.UnionType("A", ("B", "c.D"))),
        (".type A = []", ast.RecordType("A", ())),
        (".type A = [x: number, y: A]", ast.RecordType("A", attributes(("x", "number"), ("y", "A")))),
        (
            ".type A = B {} | C { x: A, y: number }",
            ast.AdtType("A", (ast.Branch("B", ()), ast.Branch("C", attributes(("x", "A"), ("y", "number"))))),
        ),
        (
            ".lattice L<> { Bottom -> $B(), Lub -> @lub(_, _) }",
            ast.LatticeDecl(
                "L",
                (
                    ("Bottom", ast.BranchInit("B", ())),
                    ("Lub", ast.UserFunctor("lub", (ast.Unnamed(), ast.Unnamed()))),
                ),
            ),
        ),
        (".decl r()", ast.RelationDecl("r", ())),
        (
            ".decl r(x: number, y: L<>) eqrel overridable no_magic",
            ast.RelationDecl(
                "r",
                (ast.Attribute("x", "number"), ast.Attribute("y", "L", True)),
                ("eqrel", "overridable", "no_magic"),
            ),
        ),
        (
            ".decl r(x: A, y: A) choice-domain x, (x, y)",
            ast.RelationDecl("r", attributes(("x", "A"), ("y", "A")), (), (("x",), ("x", "y"))),
        ),
        (".decl d = debug_delta(r) btree", ast.RelationDecl("d", (), ("btree",), (), "r")),
        (
            ".functor f(number, x: c.T): symbol stateful",
            ast.FunctorDecl("f", attributes(("", "number"), ("x", "c.T")), ast.Attribute("", "symbol"), True),
        ),
        (".functor f(): number", ast.FunctorDecl("f", (), ast.Attribute("", "number"))),
        ('.pragma "a"', ast.Pragma("a")),
        ('.pragma "a" "b"', ast.Pragma("a", "b")),
        (".init i = C<A, B>", ast.Init("i", ast.ComponentType("C", ("A", "B")))),
    ],
)
def test_declarations(text, expected):
    assert item(text) == expected


def test_one_declaration_for_each_name():
    assert items(".decl a, b(x: number) inline") == (
        ast.RelationDecl("a", attributes(("x", "number")), ("inline",)),
        ast.RelationDecl("b", attributes(("x", "number")), ("inline",)),
    )


def test_directives():
    params = (
        ast.Parameter("IO", "file"),
        ast.Parameter("name", "a\tb"),
        ast.Parameter("n", "5"),
        ast.Parameter("on", "true"),
    )
    assert items('.input a, c.b(IO=file, name="a\\tb", n=5, on=true)\n.output a()\n.printsize a .limitsize a(n=5)') == (
        ast.Directive("input", "a", params),
        ast.Directive("input", "c.b", params),
        ast.Directive("output", "a"),
        ast.Directive("printsize", "a"),
        ast.Directive("limitsize", "a", (params[2],)),
    )


def test_components():
    text = """
    .comp A<T> : B<T>, C {
      .decl r(x: T) overridable
      .override q
      .comp D { .type t <: number }
      .init d = D
      r(x) :- d.s(x).
    }
    """
    component = item(text)
    assert isinstance(component, ast.Component)
    assert component.type == ast.ComponentType("A", ("T",))
    assert component.bases == (ast.ComponentType("B", ("T",)), ast.ComponentType("C"))
    kinds = [type(inner) for inner in component.items]
    assert kinds == [ast.RelationDecl, ast.Override, ast.Component, ast.Init, ast.Rule]


@pytest.mark.parametrize(
    ("text", "base"), [(".number_type A", "number"), (".symbol_type A", "symbol"), (".type A", "symbol")]
)
def test_old_types(text, base):
    assert item(text) == ast.SubsetType("A", base)
    assert problems(text) == [("W101", 1, 1)]


def test_old_qualifiers():
    assert problems(".decl r() input output") == [("W102", 1, 11), ("W102", 1, 17)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (".decl r(x number)", ("E101", 1, 11)),
        (".decl r(x: number", ("E101", 1, 18)),
        (".decl r", ("E101", 1, 8)),
        (".decl count(x: number)", ("E109", 1, 7)),
        (".decl r() inline inline", ("E123", 1, 18)),
        (".decl r() btree eqrel", ("E123", 1, 17)),
        (".decll r()", ("E107", 1, 1)),
        (".decl r(x: number)\n.ouput r", ("E107", 2, 1)),
        (".type A = B\n.tpye C = B", ("E107", 2, 1)),
        (".type A = B {} | C\n.decl r()", ("E101", 1, 19)),
        (".type A = B | C {}", ("E101", 1, 17)),
        (".lattice L<> { Foo -> 1 }", ("E124", 1, 16)),
        (".input r(IO=)", ("E101", 1, 13)),
        (".pragma x", ("E101", 1, 9)),
        (".override r", ("E125", 1, 1)),
        (".comp C {\n  .functor f(): number\n}", ("E125", 2, 3)),
        ('.comp C {\n  .pragma "a"\n}', ("E125", 2, 3)),
        (".comp C {\n.decl r()\n", ("E126", 1, 9)),
        (".decl r()\n}", ("E101", 2, 1)),
    ],
)
def test_mistakes(text, expected):
    assert problems(text) == [expected]


def test_an_unknown_directive_gets_a_suggestion():
    _, report = read(".decll r(x: number)")
    assert report.errors[0].note == "did you mean `.decl`?"
