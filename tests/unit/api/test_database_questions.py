"""Questions to databases: rows for which something holds, proofs, why a row is not there, and whether all is well."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import flintlog as fl
from flintlog.engines.local.fixpoint import StratumRun
from flintlog.engines.local.pipeline import Pipeline
from flintlog.engines.local.plan import Probe
from flintlog.ir.program import Rule

PROGRAM = r"""
    .decl edge(x: number, y: number)
    .decl blocked(x: number)
    .decl path(x: number, y: number)
    path(x, y) :- edge(x, y), !blocked(y).
    path(x, z) :- path(x, y), edge(y, z), !blocked(z), x != z.
    .decl paths(n: number)
    paths(n) :- n = count : { path(_, _) }.
    .type Tag = [name: symbol, rest: Tag]
    .decl tag(x: number, t: Tag)
    tag(1, ["a \"b\"", nil]).
    .decl cost(x: number, c: number)
    cost(1, MIN(0)) :- edge(1, _).
    cost(y, MIN(c + 1)) :- cost(x, c), edge(x, y).
    .decl same(x: number, y: number) eqrel
    same(x, y) :- edge(x, y).
"""


@pytest.fixture
def database(tmp_path: Path) -> Iterator[fl.Database]:
    facts = {"edge": [(1, 2), (2, 3), (3, 4)], "blocked": [(9,)]}
    with fl.Database.create(tmp_path / "db", fl.Program(PROGRAM), facts) as database:
        yield database


# --- Questions ------------------------------------------------------------------------------------


def test_a_question_has_its_variables_as_columns(database: fl.Database) -> None:
    found = database.query("path(x, y), x + 1 < y")
    assert found.columns == ("x", "y")
    assert sorted(found) == [(1, 3), (1, 4), (2, 4)]
    assert sorted(database.query("path(1, x).")) == [(2,), (3,), (4,)]
    assert sorted(database.query("(edge(1, x) ; edge(3, x)), !blocked(x)")) == [(2,), (4,)]


def test_a_question_without_variables_holds_or_does_not(database: fl.Database) -> None:
    assert database.query("path(1, 4)").rows() == [()]
    assert database.query("path(4, 1)").rows() == []


def test_rules_for_one_question(database: fl.Database) -> None:
    rules = ".decl back(x: number, y: number)\nback(y, x) :- edge(x, y). back(z, x) :- back(z, y), edge(x, y)."
    assert sorted(database.query("back(4, x)", rules)) == [(1,), (2,), (3,)]
    assert "back" not in list(database)


def test_a_question_after_changes(database: fl.Database) -> None:
    with database.transaction() as change:
        change.delete("edge", [(2, 3)])
    assert sorted(database.query("path(x, y)")) == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    ("question", "code", "place"),
    [
        ("path(1, x", "E101", "1:10"),
        ("pth(1, x)", "E201", "1:1"),
        ("edge(1, x), path(x)", "E202", "1:13"),
        ("path(1, y), z < 1 // too few", "E401", "1:13"),
        ('path(x, _),\n path("a", x).', "E304", "2:7"),
        ("path(1, 2). path(2, 3)", "E971", ""),
        ("", "E101", "1:1"),
    ],
)
def test_questions_that_are_none(database: fl.Database, question: str, code: str, place: str) -> None:
    """What is wrong stands in the question, not in the rule that is made of it."""
    with pytest.raises(fl.FlintlogError, match=code) as caught:
        database.query(question)
    assert (f"<question>:{place}\n" in str(caught.value)) == bool(place)
    assert "found `.`" not in str(caught.value)


def test_variables_that_no_atom_binds(database: fl.Database) -> None:
    found = database.query("edge(x, y), z = x + y, n = count : { path(x, _) }")
    assert found.columns == ("x", "y", "z", "n")
    assert (1, 2, 3, 3) in found
    assert database.query("z = 3").rows() == [(3,)]


LISTS = """
    .type List = [head: number, tail: List]
    .type Shape = Dot {} | Box { of: List, next: Shape }
    .decl l(x: List)
    .decl s(x: Shape)
    l(nil). l([1, nil]). l([1, [2, nil]]).
    s($Dot()). s($Box([5, nil], $Dot())).
"""


@pytest.mark.parametrize(
    ("question", "columns", "rows"),
    [
        ("l([a, b])", "ab", {(1, None), (1, (2, None))}),
        ("l(x), x = [a, b], b = [c, d]", "xabcd", {((1, (2, None)), 1, (2, None), 2, None)}),
        ("[a, b] = x, x = y, l(y), a = 1, b = nil", "abxy", {(1, None, (1, None), (1, None))}),
        ("s($Box(l, n))", "ln", {((5, None), fl.Adt("Dot", ()))}),
        ("s($Box([h, t], _))", "ht", {(5, None)}),
        ("(l([_, x]) ; l(x))", "x", {(None,), ((1, None),), ((2, None),), ((1, (2, None)),)}),
    ],
)
def test_parts_of_records_have_the_types_of_their_fields(
    tmp_path: Path, question: str, columns: str, rows: set[object]
) -> None:
    with fl.Database.create(tmp_path / "db", fl.Program(LISTS)) as database:
        result = database.query(question)
        assert (result.columns, set(result)) == (tuple(columns), rows)


@pytest.mark.parametrize("rules", [".decl far(x: number)\nfar(x) :- edge(x, _), edgy(x).", "fat(x) :- edge(x, _)."])
def test_mistakes_in_rules_of_a_question_are_placed_in_them(database: fl.Database, rules: str) -> None:
    with pytest.raises(fl.FlintlogError) as caught:
        database.query("far(x)", rules)
    span = caught.value.diagnostics[0].span
    assert (span.file.name, span.text) == ("<rules>", "edgy" if "edgy" in rules else "fat")


def test_inline_relations_can_be_asked_and_not_explained(tmp_path: Path) -> None:
    text = ".decl a(x: number) .decl i(x: number) inline i(x) :- a(x), x > 1. .decl b(x: number) b(x) :- i(x)."
    with fl.Database.create(tmp_path / "inline", fl.Program(text), a=[(1,), (2,)]) as database:
        assert database.query("i(x)").rows() == [(2,)]
        with pytest.raises(fl.FlintlogError, match="is inline"):
            database.explain_text("i(2)")
        assert "i(2)" in str(database.explain("b", (2,)))


@pytest.mark.parametrize(
    "rules",
    [
        "path(y, x) :- edge(x, y).",
        "edge(7, 8).",
        ".decl q(x: number) q(x) :- edge(x, _). path(x, x) :- q(x).",
    ],
)
def test_a_question_does_not_add_to_what_is_kept(database: fl.Database, rules: str) -> None:
    with pytest.raises(fl.FlintlogError, match="a question cannot add to"):
        database.query("path(x, y)", rules)


def test_a_question_with_a_functor(database: fl.Database) -> None:
    rules = ".functor f(x: number): number .decl g(x: number) g(@f(x)) :- edge(x, _)."
    with pytest.raises(fl.FlintlogError, match="E90"):
        database.query("g(x)", rules)


# --- Explanations ---------------------------------------------------------------------------------


def test_a_proof(database: fl.Database) -> None:
    explanation = database.explain("path", (1, 3))
    assert explanation.holds
    assert str(explanation).splitlines() == [
        "path(1, 3)",
        "│  by path(x, z) :- path(x, y), edge(y, z), !blocked(z), x != z.",
        "├─ path(1, 2)",
        "│  │  by path(x, y) :- edge(x, y), !blocked(y).",
        "│  ├─ edge(1, 2)  (fact)",
        "│  └─ !blocked(2)",
        "├─ edge(2, 3)  (fact)",
        "├─ !blocked(3)",
        "└─ 1 != 3",
    ]


def test_a_proof_of_an_aggregate_and_of_a_fact_in_the_text(database: fl.Database) -> None:
    assert "6 = count" in str(database.explain("paths", (6,)))
    assert "in the program's text" in str(database.explain_text(r'tag(1, ["a \"b\"", nil])'))


def test_facts_of_the_text_among_rules(tmp_path: Path) -> None:
    text = ".decl p(x: number, y: number) p(1, 2). p(2, 3). p(x, z) :- p(x, y), p(y, z). .decl m(n: number)"
    with fl.Database.create(tmp_path / "texts", fl.Program(f"{text} m(SUM(x)) :- p(x, _).")) as database:
        for strategy in ("auto", "dred"):
            assert str(database.explain("p", (1, 3))).count("in the program's text") == 2
            with database.transaction(strategy) as change:
                change.insert("p", [(7, 7)])
        assert "combines several rows" in str(database.explain("m", (4 + 7,)))


def test_names_that_are_taken(tmp_path: Path) -> None:
    text = ".decl a(x: number, y: number) .decl goal__1(x: number) goal__1(row__0_1) :- a(head__0, row__0_1)."
    with fl.Database.create(tmp_path / "names", fl.Program(text), a=[(1, 2)]) as database:
        assert "a(1, 2)  (fact)" in str(database.explain("goal__1", (2,)))


def test_proofs_of_best_values_and_equivalences(database: fl.Database) -> None:
    text = str(database.explain("cost", (3, 2)))
    assert [line.lstrip("│├└─ ").partition(" ")[0] for line in text.splitlines() if "by" not in line] == [
        "cost(3,",
        "cost(2,",
        "cost(1,",
        "edge(1,",
        "edge(1,",
        "edge(2,",
    ]
    assert "same is an equivalence" in str(database.explain("same", (4, 1)))


@pytest.mark.parametrize("strategy", ["auto", "dred"])
def test_proofs_are_never_circular(database: fl.Database, strategy: str) -> None:
    """Rows on a cycle give each other; a proof must not."""
    with database.transaction(strategy) as change:
        change.insert("edge", [(4, 5), (5, 3), (3, 2)])
    for row in database["path"]:
        explanation = database.explain("path", row)
        assert explanation.root is not None
        above: list[object] = []

        def walk(name: object, above: list[object], steps: object = explanation.steps) -> None:
            assert name not in above
            for below in steps[name].rows:  # type: ignore[index]
                walk(below, [*above, name])

        walk(explanation.root, above)
        assert not [step for step in explanation.steps.values() if "derivation" in step.note]


def test_a_long_proof_is_followed_so_far(database: fl.Database) -> None:
    assert "explain this row to see more" in str(database.explain("path", (1, 4), depth=1))


@pytest.mark.parametrize(
    ("goal", "reasons"),
    [
        ("path(4, 1)", ["but no edge(4, 1)", "but no path(4, y)"]),
        ("path(1, 9)", ["but no edge(1, 9)", "but no edge(2, 9)"]),
        ("path(1, 7)", ["but no edge(1, 7)", "but no edge(2, 7)"]),
        ("edge(4, 1)", ["no fact, and there are no rules"]),
        ("cost(1, 3)", ["its head does not match", "but no edge(3, 1)"]),
    ],
)
def test_why_a_row_is_not_there(database: fl.Database, goal: str, reasons: list[str]) -> None:
    explanation = database.explain_text(goal)
    assert not explanation.holds
    lines = [line for line in str(explanation).splitlines() if "but " in line or "no fact" in line]
    assert len(lines) == len(reasons)
    assert all(reason in line for reason, line in zip(reasons, lines, strict=True))


def test_why_not_follows_the_body(tmp_path: Path) -> None:
    text = """
        .decl app(a: symbol) .decl bad(a: symbol) .decl ok(a: symbol) .decl cnt(a: symbol, n: number)
        app("x"). bad("x"). bad("z").
        ok(a) :- app(a), !bad(a).
        cnt(a, n) :- app(a), n = count : { bad(_) }.
    """
    with fl.Database.create(tmp_path / "order", fl.Program(text)) as database:
        assert 'but no app("z")' in str(database.explain("ok", ("z",)))
        assert str(database.explain("ok", ("x",))).splitlines()[2:] == ['    app("x")', '    but bad("x") is there']
        assert '    app("x")' in str(database.explain("cnt", ("x", 7))).splitlines()


CONDITIONS_FIRST = """
    .decl a(x: number, y: number) .decl c(y: number) .decl gone(y: number)
    a(1, 5). c(5).
    .decl later(x: number, y: number) later(x, y) :- y > 7, x < 1, a(x, y).
    .decl bound(x: number) bound(x) :- y > 7, a(x, y), c(y).
    .decl negated(x: number) negated(x) :- !gone(y), a(x, y), y > 9.
    .decl both(x: number) both(x) :- y + z > 20, a(x, y), c(z), gone(x).
    .decl counted(x: number) counted(x) :- n = count : { gone(y), y < z }, a(x, z), n > 2, gone(x).
    .decl early(x: number) early(x) :- c(x), x > 7, gone(y), a(x, y).
"""


@pytest.mark.parametrize(
    ("goal", "reasons"),
    [
        (("later", (1, 9)), ["9 > 7", "but not 1 < 1"]),
        (("bound", (1,)), ["a(1, 5)", "but not 5 > 7"]),
        (("negated", (1,)), ["a(1, 5)", "!gone(5)", "but not 5 > 9"]),
        (("both", (1,)), ["a(1, 5)", "c(5)", "but not 5 + 5 > 20"]),
        (("counted", (1,)), ["a(1, 5)", "n = count : { gone(y), y < z }", "but not n > 2"]),
        (("early", (5,)), ["c(5)", "but not 5 > 7"]),
    ],
)
def test_a_condition_waits_for_the_atom_that_binds_it(
    goal: tuple[str, tuple[int, ...]], reasons: list[str], tmp_path: Path
) -> None:
    with fl.Database.create(tmp_path / "conditions", fl.Program(CONDITIONS_FIRST)) as database:
        assert [line.strip() for line in str(database.explain(*goal)).splitlines()[2:]] == reasons


def test_a_head_that_has_no_value_for_all(tmp_path: Path) -> None:
    text = ".decl a(x: number)  a(0). a(5).  .decl b(x: number, y: number)  b(x, 10 / x) :- a(x), x != 0."
    with fl.Database.create(tmp_path / "shares", fl.Program(text)) as database:
        assert "5 != 0" in str(database.explain("b", (5, 2)))
        assert not database.explain("b", (0, 2)).holds


def test_long_lists_are_explained(tmp_path: Path) -> None:
    text = """
        .type List = [head: number, tail: List]
        .decl l(n: number, list: List)
        l(0, nil).
        l(n + 1, [n, t]) :- l(n, t), n < 3000.
    """
    with fl.Database.create(tmp_path / "lists", fl.Program(text)) as database:
        [(_, longest)] = [row for row in database["l"] if row[0] == 3000]
        shown = str(database.explain("l", (3000, longest), depth=1))
        assert shown.startswith("l(3000, [2999, [2998, ")
        assert "…" in shown
        assert "explain this row to see more" in shown


@pytest.mark.parametrize(
    ("goal", "code", "place"),
    [
        ("path(1, x)", "E971", "1:9"),
        ("path(_, 2)", "E971", "1:6"),
        ("foo(1)", "E201", "1:1"),
        ("path(1)", "E202", "1:1"),
        ('path(1, "two")', "E304", "1:9"),
        ("path(1, 2), edge(1, 2)", "E971", "1:1"),
    ],
)
def test_rows_that_are_none(database: fl.Database, goal: str, code: str, place: str) -> None:
    with pytest.raises(fl.FlintlogError, match=code) as caught:
        database.explain_text(goal)
    assert f"<question>:{place}\n" in str(caught.value)


def test_an_unknown_relation_or_value(database: fl.Database) -> None:
    with pytest.raises(KeyError, match="did you mean `path`"):
        database.explain("paht", (1, 2))
    with pytest.raises(fl.FlintlogError, match="E904"):
        database.explain("path", (1, "two"))


# --- Checks and strategies ------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["auto", "update", "bootstrap", "dred", "counting"])
def test_every_strategy_tells_the_same_changes(database: fl.Database, strategy: str) -> None:
    with database.transaction(strategy) as change:
        change.insert("edge", [(4, 5)])
        change.delete("edge", [(1, 2)])
    assert sorted(change.result["path"].inserted) == [(2, 5), (3, 5), (4, 5)]
    assert sorted(change.result["path"].deleted) == [(1, 2), (1, 3), (1, 4)]
    assert sorted(database["cost"]) == []
    assert change.result.recomputed["same"] == "same is an equivalence"
    assert database.check() == []


def test_a_check_finds_what_is_wrong(database: fl.Database) -> None:
    kept = database._maintained.state.relations["path"]
    [row] = kept.find([np.array([1]), np.array([3])], 1)
    kept.rounds.old[row] = kept.rounds.new[row] = 7
    assert database.check() == ["path: 1 rows have another round"]


def test_a_strategy_that_there_is_not(database: fl.Database) -> None:
    with pytest.raises(fl.FlintlogError, match="did you mean `dred`"), database.transaction("derd"):
        pass


def test_changes_as_files_as_arrow_and_by_call(database: fl.Database, tmp_path: Path) -> None:
    seen: list[str] = []
    database.on_change(lambda changes: seen.extend(changes))
    with database.transaction() as change:
        change.insert("edge", [(4, 5)])
    assert "path" in seen
    assert change.result["path"].inserted.to_arrow().num_rows == 4
    change.result.write(tmp_path / "out")
    assert (tmp_path / "out/path.inserted.csv").read_text() == "1\t5\n2\t5\n3\t5\n4\t5\n"
    assert (tmp_path / "out/path.deleted.csv").read_text() == ""
    assert not (tmp_path / "out/tag.inserted.csv").exists()
    with database.transaction() as change:  # what was written can be read
        change.delete("edge", tmp_path / "out/edge.inserted.csv")
    assert len(change.result["path"].deleted) == 4
    with database.transaction() as change:
        change.insert("edge", [(4, 4)])
        change.delete("edge", [(4, 4)])
    assert "path" not in change.result
    change.result.write(tmp_path / "out")  # nothing of before is left
    assert list((tmp_path / "out").iterdir()) == []


def test_proofs_begin_with_their_goals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All relations that a rule reads are larger, and have all columns of its head between them."""
    first: set[str] = set()

    def run(stratum: StratumRun, rule: Rule, pipeline: Pipeline) -> None:
        step = pipeline.plan.steps[0]
        first.add(str(step.rows.source) if isinstance(step, Probe) else "")
        run_as_before(stratum, rule, pipeline)

    run_as_before = StratumRun._run
    program = fl.Program("""
        .decl is_a, is_in(x: number, y: number)
        .decl both(x: number, y: number, z: number)
        is_in(x, y) :- is_a(x, y).
        is_in(x, z) :- both(y, w, z), is_in(x, w), is_in(x, y).
    """)
    facts = {"is_a": [(x, y) for x in range(10) for y in range(10)], "both": [(y, y + 1, y + 10) for y in range(9)]}
    with fl.Database.create(tmp_path / "db", program, facts) as database:
        monkeypatch.setattr(StratumRun, "_run", run)
        assert database.explain("is_in", (1, 14)).holds
        assert not database.explain("is_in", (1, 100)).holds
    assert first
    assert all(name.startswith("goal") for name in first)


def test_types_of_a_questions_rules_are_those_of_its_answer(database: fl.Database) -> None:
    rules = ".type Pair = [a: number, b: number] .decl pair(p: Pair) pair([x, y]) :- edge(x, y)."
    assert database.query("pair(p), p = [1, _]", rules).to_arrow().to_pylist() == [{"p": "[1, 2]"}]


@pytest.mark.parametrize("rules", ["path(9, 9).", ".comp C { path(9, 9). } .init c = C"])
def test_rules_of_a_question_do_not_add_to_what_is_kept(database: fl.Database, rules: str) -> None:
    with pytest.raises(fl.FlintlogError, match="cannot add to `path`") as caught:
        database.query("path(x, y)", rules)
    assert caught.value.diagnostics[0].span.file.name == "<rules>"


@pytest.mark.parametrize("question", ["answer()", "path(x, y), !answer()", "answer(x)"])
def test_a_question_does_not_read_itself(database: fl.Database, question: str) -> None:
    with pytest.raises(fl.FlintlogError, match="unknown relation `answer`"):
        database.query(question)


def test_rows_that_watch_another_relation_are_explained(tmp_path: Path) -> None:
    program = fl.Program(PROGRAM + ".decl news = debug_delta(path)")
    with fl.Database.create(tmp_path / "watched", program, {"edge": [(1, 2), (2, 3)], "blocked": []}) as database:
        [(round,)] = database.query("news(1, 3, r)").rows()
        note = "the round in which `path` got this row"
        assert str(database.explain("news", (1, 3, round))) == f"news(1, 3, {round})  ({note})"
        assert "not there" in str(database.explain_text("news(1, 3, 77)"))
