"""Databases in Python: `fl.Database`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import flintlog as fl
from flintlog.api.database import Transaction

PATHS = """
    .decl edge(x: number, y: number)
    .input edge
    .decl path(x: number, y: number)
    path(x, y) :- edge(x, y).
    path(x, z) :- path(x, y), edge(y, z).
"""

NO_TEXT: Any = 5


@pytest.fixture
def database(tmp_path: Path) -> Iterator[fl.Database]:
    with fl.Database.create(tmp_path / "db", fl.Program(PATHS), edge=[(1, 2), (2, 3)]) as database:
        yield database


def test_changes_are_kept_and_told(database: fl.Database, tmp_path: Path) -> None:
    with database.transaction() as change:
        change.insert("edge", [(3, 4)])
        change.delete("edge", [(1, 2), (7, 7)])
    assert sorted(change.result["path"].inserted) == [(2, 4), (3, 4)]
    assert sorted(change.result["path"].deleted) == [(1, 2), (1, 3)]
    assert change.result["edge"].deleted.rows() == [(1, 2)]
    assert repr(change.result) == "<changes of edge: +1 -1, path: +2 -2>"
    with pytest.raises(fl.FlintlogError, match="the transaction is committed"):
        change.insert("edge", [(8, 9)])
    database.close()
    with fl.Database.open(tmp_path / "db", read_only=True) as again:
        assert sorted(again["path"]) == [(2, 3), (2, 4), (3, 4)]
        assert again.epoch == 1
        assert list(again) == ["edge", "path"]


def test_what_is_said_last_about_a_row_counts(database: fl.Database) -> None:
    with database.transaction() as change:
        change.insert("edge", [(3, 4), (5, 6)])
        change.delete("edge", [(3, 4), (1, 2)])
        change.insert("edge", [(1, 2)])
    assert dict(change.result).keys() == {"edge", "path"}
    assert sorted(change.result["edge"].inserted) == [(5, 6)]
    assert change.result["edge"].deleted.rows() == []


def test_a_block_that_fails_changes_nothing(database: fl.Database) -> None:
    seen: list[Transaction] = []

    def fail() -> None:
        with database.transaction() as change:
            seen.append(change)
            change.insert("edge", [(3, 4)])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert len(database["edge"]) == 2
    assert database.epoch == 0
    with pytest.raises(fl.FlintlogError, match="E946"):
        _ = seen[0].result


def test_rules_come_and_go(database: fl.Database, tmp_path: Path) -> None:
    with database.transaction() as change:
        change.add_rule(".decl ends(x: number) ends(y) :- path(_, y), !edge(y, _).")
        change.add_rule("path(x, x) :- edge(x, _).")
    assert change.result["ends"].inserted.rows() == [(3,)]
    loops = next(rule for rule in database.rules() if rule.text.startswith("path(x, x)"))
    with database.transaction() as change:
        change.remove_rule(loops.id)
        change.insert("edge", [(3, 5)])
    assert change.result["ends"].inserted.rows() == [(5,)]
    assert change.result["ends"].deleted.rows() == [(3,)]
    assert sorted(change.result["path"].deleted) == [(1, 1), (2, 2)]
    with database.transaction() as change:
        change.drop("ends")
    database.close()
    with fl.Database.open(tmp_path / "db") as again:
        assert list(again) == ["edge", "path"]
        assert loops.id not in [rule.id for rule in again.rules()]


def test_instances_of_components_go_as_a_whole(tmp_path: Path) -> None:
    program = fl.Program("""
        .comp Marks { .decl a(x: number)  .decl b(x: number)  b(x) :- a(x), x > 1. }
        .init c = Marks
        .init d = Marks
        c.a(1).  c.a(2).  d.a(3).
        .decl out(x: number)
        out(x) :- c.b(x).
        d.a(x) :- out(x).
        .output out, c.b
    """)
    with fl.Database.create(tmp_path / "db", program) as database:
        for name, code in (("c.a", "E909.*\n.*drop `c`"), ("c", "E975.*`c.b`"), ("out", "E975.*`out`")):
            with pytest.raises(fl.FlintlogError, match=code), database.transaction() as change:
                change.drop(name)
        with database.transaction() as change:
            change.drop("c")
            change.drop("out")
            change.remove_rule(next(rule.id for rule in database.rules() if rule.text.startswith("d.a(x)")))
        assert list(database) == ["d.a", "d.b"]
        assert sorted(change.result["c.b"].deleted) == [(2,)]
        assert sorted(change.result["d.b"].deleted) == [(2,)]
        assert (sorted(database["d.b"]), database.check()) == ([(3,)], [])
        assert [rule.text for rule in database.rules()] == ["d.a(3)."]


@pytest.mark.parametrize("change_it", ["insert", "delete", "add_rule", "remove_rule", "drop"])
def test_a_transaction_that_is_over_takes_no_more(database: fl.Database, change_it: str) -> None:
    with database.transaction() as change:
        change.insert("edge", [(3, 4)])
    arguments = ("edge", [(4, 5)]) if change_it in ("insert", "delete") else ("edge(7, 8).",)
    with pytest.raises(fl.FlintlogError, match="E946"):
        getattr(change, change_it)(*arguments)


@pytest.mark.parametrize("path", ["", "x\0y"])
def test_paths_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.chdir(tmp_path)
    for use in (lambda: fl.Database.create(path, fl.Program(PATHS)), lambda: fl.Database.open(path)):
        with pytest.raises(fl.FlintlogError, match="E949"):
            use()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "call",
    [
        lambda database: database.query(5),
        lambda database: database.explain(5, (1, 2)),
        lambda database: database.explain_text(5),
        lambda database: database.transaction(None).__enter__(),
        lambda database: Transaction(database).add_rule(NO_TEXT),
        lambda database: Transaction(database).remove_rule(NO_TEXT),
        lambda database: Transaction(database).insert(NO_TEXT, [(1, 2)]),
    ],
)
def test_what_is_no_text(database: fl.Database, call: Callable[[fl.Database], object]) -> None:
    with pytest.raises(TypeError, match="is a text, not"):
        call(database)


def test_facts_are_read_as_the_program_says(tmp_path: Path) -> None:
    (tmp_path / "edge.facts").write_text("1\t2\n2\t3\n")
    (tmp_path / "p.dl").write_text(PATHS)
    with fl.Database.create(tmp_path / "db", fl.Program.load(tmp_path / "p.dl")) as database:
        assert len(database["path"]) == 3


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (lambda change: change.insert("edgy", [(1, 2)]), "E909"),
        (lambda change: change.insert("edge", [(1, "two")]), "E904"),
        (lambda change: change.add_rule("path(x, y) :- edge(x, y)"), "E10"),
        (lambda change: change.add_rule("path(x, y) :- edge(x, z)."), "E"),
        (lambda change: change.remove_rule("nonsense"), "E945"),
        (lambda change: change.drop("nonsense"), "E909"),
        (lambda change: change.drop("edge"), r"E975.*`edge` is dropped[^:]*\n  note: remove[^:]*: \w+ \(path"),
    ],
)
def test_mistakes_are_said_and_change_nothing(database: fl.Database, wrong, code: str) -> None:
    with pytest.raises(fl.FlintlogError, match=code), database.transaction() as change:
        wrong(change)
    assert sorted(database["path"]) == [(1, 2), (1, 3), (2, 3)]
    with database.transaction() as change:
        change.insert("edge", [(3, 4)])
    assert len(change.result["path"].inserted) == 3


def test_a_relation_is_not_declared_anew_where_it_is_dropped(database: fl.Database) -> None:
    def redeclare() -> None:
        with database.transaction() as change:
            change.drop("path")
            change.add_rule(".decl path(x: number, y: number) path(x, y) :- edge(y, x).")

    with pytest.raises(fl.FlintlogError, match="E948"):
        redeclare()
    assert len(database["path"]) == 3


def test_one_transaction_inside_of_another(database: fl.Database) -> None:
    with database.transaction() as outer:
        with database.transaction() as inner:
            inner.add_rule("path(x, x) :- edge(x, _).")
        outer.insert("edge", [(3, 4)])
    assert len(database.rules()) == 3
    assert len(database["path"]) == 6 + 3

    def change_both() -> None:
        with database.transaction() as outer:
            outer.add_rule("path(y, x) :- edge(x, y).")
            with database.transaction() as inner:
                inner.add_rule("path(y, y) :- edge(_, y).")

    with pytest.raises(fl.FlintlogError, match="E973"):
        change_both()


@pytest.mark.parametrize("declared", ["", ".decl seen(x: symbol)", ".decl seen(x: number, y: number)"])
def test_rows_of_a_relation_that_another_transaction_has_changed(database: fl.Database, declared: str) -> None:
    with database.transaction() as change:
        change.add_rule(".decl seen(x: number)")

    def change_both() -> None:
        with database.transaction() as outer:
            outer.insert("edge", [(3, 4)])
            outer.insert("seen", [(3,)])
            with database.transaction() as inner:
                inner.drop("seen")
            if declared:
                with database.transaction() as inner:
                    inner.add_rule(declared)

    with pytest.raises(fl.FlintlogError, match=r"E973.* has changed `seen` since"):
        change_both()
    assert len(database["edge"]) == 2
    assert database.check() == []


def test_a_callback_that_fails_undoes_nothing(database: fl.Database) -> None:
    def fail(changes: object) -> None:
        raise ZeroDivisionError

    database.on_change(fail)
    seen: list[Transaction] = []

    def insert() -> None:
        with database.transaction() as change:
            seen.append(change)
            change.insert("edge", [(3, 4)])

    with pytest.raises(ZeroDivisionError):
        insert()
    assert len(seen[0].result["path"].inserted) == 3


def test_a_rule_is_there_once(database: fl.Database) -> None:
    with database.transaction() as change:
        change.add_rule("path(x, y) :- edge(x, y).")
    assert len(database.rules()) == 2


def test_inputs_are_read_on_creation_only(database: fl.Database) -> None:
    with pytest.raises(fl.FlintlogError, match="E972"), database.transaction() as change:
        change.add_rule(".decl more(x: number) .input more")


def test_an_unknown_relation(database: fl.Database) -> None:
    with pytest.raises(KeyError, match="did you mean `path`"):
        _ = database["paht"]


def test_a_database_that_is_open_to_read(database: fl.Database, tmp_path: Path) -> None:
    with fl.Database.open(tmp_path / "db", read_only=True) as reader:
        with pytest.raises(fl.FlintlogError, match="E947"):
            with_edge(reader)
        with pytest.raises(fl.FlintlogError, match="E947"):
            reader.compact()
        assert len(reader["edge"]) == 2


def with_edge(database: fl.Database) -> None:
    with database.transaction() as change:
        change.insert("edge", [(8, 9)])


def test_a_relation_does_not_change_its_columns_under_its_rows(database: fl.Database) -> None:
    with database.transaction() as change:
        change.add_rule(".decl seen(x: number) seen(x) :- edge(x, _).")

    def declare_anew() -> None:
        with database.transaction() as change:
            change.drop("seen")
            change.add_rule(".decl seen(x: number, y: number) seen(x, y) :- edge(x, y).")

    with pytest.raises(fl.FlintlogError, match="E948"):
        declare_anew()
    assert sorted(database["seen"]) == [(1,), (2,)]  # what was added before stays, though a change has failed
    with_edge(database)
    assert sorted(database["seen"]) == [(1,), (2,), (8,)]
    with database.transaction() as change:
        change.drop("seen")
    with database.transaction() as change:
        change.add_rule(".decl seen(x: number, y: number) seen(x, y) :- edge(x, y).")
    assert len(database["seen"]) == 3


def test_functors_are_bound_again_when_a_database_is_opened(tmp_path: Path) -> None:
    program = fl.Program("""
        .functor twice(x: number): number
        .decl a(x: number)
        .decl b(x: number)
        b(@twice(x)) :- a(x).
    """)
    fl.Database.create(tmp_path / "db", program, a=[(1,)], functors={"twice": lambda x: 2 * x}).close()
    with pytest.raises(fl.FlintlogError, match="E903"):
        fl.Database.open(tmp_path / "db")
    with fl.Database.open(tmp_path / "db", functors={"twice": lambda x: 2 * x}) as database:
        with database.transaction() as change:
            change.insert("a", [(5,)])
        assert change.result["b"].inserted.rows() == [(10,)]


def test_what_has_not_changed_is_not_said_to_have(tmp_path: Path) -> None:
    """An equivalence is always computed again where it is reached; other rules do not reach it. Neither are inputs."""
    program = fl.Program("""
        .decl e(x: number, y: number)
        .decl same(x: number, y: number) eqrel
        same(x, y) :- e(x, y).
        .decl p(x: number, y: number)
        p(x, y) :- e(x, y).
        p(x, z) :- p(x, y), e(y, z).
    """)
    edges = [(i, i + 1) for i in range(300)]
    with fl.Database.create(tmp_path / "d", program, e=edges) as database:
        with database.transaction() as change:
            change.add_rule("p(x, x) :- e(x, _).")
        assert "same" not in change.result.recomputed
        with database.transaction() as change:
            change.delete("e", edges[::2])
        assert "e" not in change.result.recomputed
        assert "same" in change.result.recomputed


def test_a_path_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"Program.load"):
        fl.Database.create(tmp_path / "d", "paths.dl")  # type: ignore[arg-type]


def test_to_drop_what_has_no_rows_changes_nothing(tmp_path: Path) -> None:
    with fl.Database.create(tmp_path / "db", fl.Program(".decl none(x: symbol) .decl other(n: number)")) as database:
        with database.transaction() as change:
            change.drop("none")
        assert dict(change.result) == {}
        assert list(database) == ["other"]


def test_an_instance_does_not_change_types_under_their_rows(tmp_path: Path) -> None:
    program = fl.Program(".comp A<X> { .type T = [a: X] } .init c = A<number> .decl r(x: c.T)")
    with fl.Database.create(tmp_path / "db", program, r=[((1,),)]) as database:

        def make_anew() -> None:
            with database.transaction() as change:
                change.drop("c")
                change.add_rule(".init c = A<symbol>")

        with pytest.raises(fl.FlintlogError, match="E948"):
            make_anew()
        assert database["r"].rows() == [((1,),)]


def test_an_inline_relation_is_said_to_be_one(tmp_path: Path) -> None:
    program = fl.Program(
        PATHS + ".decl near(x: number, y: number) inline near(x, y) :- edge(x, y). .decl n() n() :- near(1, _)."
    )
    with fl.Database.create(tmp_path / "db", program, edge=[(1, 2)]) as database:

        def insert() -> None:
            with database.transaction() as change:
                change.insert("near", [(1, 2)])

        for attempt in (insert, lambda: database["near"], lambda: database.explain("near", (1, 2))):
            with pytest.raises(fl.FlintlogError, match="`near` is inline"):
                attempt()

        def drop() -> None:
            with database.transaction() as change:
                change.drop("near")

        with pytest.raises(fl.FlintlogError, match="E975"):
            drop()


@pytest.mark.parametrize(
    "call",
    [
        lambda database: database.on_change(5),
        lambda database: database.query("path(x, y)", 5),
    ],
)
def test_what_is_no_function_or_text(database: fl.Database, call: Callable[[fl.Database], object]) -> None:
    with pytest.raises(TypeError, match="not 5"):
        call(database)


@pytest.mark.parametrize("depth", [0, -1, "x"])
def test_depths_that_are_none(database: fl.Database, depth: Any) -> None:
    for ask in (
        lambda: database.explain("path", (1, 2), depth=depth),
        lambda: database.explain_text("path(1, 2)", depth=depth),
    ):
        with pytest.raises(fl.FlintlogError, match="E974"):
            ask()
