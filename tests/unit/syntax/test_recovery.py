from tests.unit.syntax.reading import problems, read

from flintlog.syntax.printer import print_item


def test_several_mistakes_are_found_in_one_go():
    text = """.decl a(x number)
.decl b(x: number)
a(1).
b(x) :- a(x) b(x).
b(1)
b(2).
b(x) :- a(x),
        , b(x).
.output b(
.input a
b(3).
"""
    program, report = read(text)
    assert [(d.code, d.span.line) for d in report.errors] == [
        ("E101", 1),
        ("E101", 4),
        ("E108", 5),
        ("E101", 8),
        ("E101", 9),
    ]
    assert [print_item(item) for item in program] == (
        [".decl b(x: number)", "a(1).", "b(1).", "b(2).", ".input a", "b(3)."]
    )


def test_a_mistake_far_down_is_reported_there():
    lines = [f"r{i}(x, y) :- s(x, y)." for i in range(1, 1001)]
    lines[899] = "r900(x y) :- s(x, y)."
    assert problems("\n".join(lines)) == [("E101", 900, 8)]


def test_a_component_goes_on_after_a_mistake():
    text = ".comp C {\n  .decl a(x)\n  a(1) :- b(\n  .decl b()\n  a( }\n}\n.decl c()\n"
    program, report = read(text)
    assert [d.span.line for d in report.errors] == [2, 3, 5]
    assert [print_item(item) for item in program] == [".comp C {\n  .decl b()\n}", ".decl c()"]


def test_the_plan_of_a_rule_with_a_mistake_is_no_second_one():
    assert problems("a(x) :- b(x) c(x).\n.plan 0: (1)\nd().") == [("E101", 1, 14)]


def test_an_empty_program():
    assert problems("") == []
    assert problems("\n// nothing\n") == []
