"""Databases in directories: what was committed is there, whatever happens to the process or the files."""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from tests.incremental.stored import EDGES, PATHS, code_of, opened
from tests.incremental.tracing import tracing

import flintlog as fl
from flintlog.diagnostics import Diagnostic, FlintlogError
from flintlog.incremental.durable.journal import Change
from flintlog.incremental.durable.store import Store
from flintlog.incremental.epoch import Epoch
from flintlog.incremental.maintained import Maintained
from flintlog.source import SourceFile
from flintlog.types import NEGATIVE_NAN, Adt

NO_RULES = SourceFile("<rules>", "")


def test_a_commit_says_what_changed_and_is_there_for_others(database: Maintained, tmp_path: Path) -> None:
    changed = database.commit(Change(1, {"e": [("a", "b")]}, {"e": [("c", "d")]}))
    assert list(changed["p"].inserted) == [("c", "d"), ("b", "d")]
    assert list(changed["p"].deleted) == [("a", "b"), ("a", "c")]
    assert "n" not in changed  # there are three paths before and after
    reader = opened(tmp_path / "db")
    assert sorted(reader.rows("p")) == [("b", "c"), ("b", "d"), ("c", "d")]
    assert reader.epoch == 1


def test_rules_are_part_of_what_is_kept(database: Maintained, tmp_path: Path) -> None:
    database.commit(Change(1, program=PATHS + "p(y, x) :- p(x, y)."))
    database.close()
    pairs = {("a", "b"), ("b", "c"), ("a", "c")}
    assert set(opened(tmp_path / "db").rows("p")) == {*pairs, *((y, x) for x, y in pairs), ("b", "b"), ("c", "c")}


def test_compacting_changes_nothing_that_is_seen(database: Maintained, tmp_path: Path) -> None:
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    database.compact()
    files = {path.name for path in (tmp_path / "db").iterdir()}
    assert files == {"lock", "manifest.json", "snapshot-1", "journal-1"}
    assert sorted(opened(tmp_path / "db").rows("p")) == sorted(database.rows("p"))


def test_there_is_one_writer_and_any_number_of_readers(database: Maintained, tmp_path: Path) -> None:
    with pytest.raises(FlintlogError) as caught:
        opened(tmp_path / "db", writes=True)
    assert code_of(caught) == "E941"
    assert list(opened(tmp_path / "db").rows("n")) == [(3,)]
    database.close()
    opened(tmp_path / "db", writes=True).close()


@pytest.fixture
def hears_interrupts() -> Iterator[None]:
    """A process that was started in the background may ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hears_interrupts")
def test_an_interrupt_after_the_write_does_not_undo_it(
    database: Maintained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = Store.commit

    def interrupted(self: Store, change: Change) -> None:
        commit(self, change)
        os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Store, "commit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            database.commit(Change(1, {}, {"e": [("c", "d")]}))
    assert database.epoch == 1
    assert len(database.rows("p")) == len(opened(tmp_path / "db").rows("p")) == 6


def test_an_interrupt_while_one_is_dealt_with_leaves_nothing_half(
    database: Maintained, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = Epoch.run

    def interrupted(*arguments: Any, **named: Any) -> None:
        update(*arguments, **named)
        raise KeyboardInterrupt

    def interrupted_too() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Epoch, "run", interrupted)
        patch.setattr("flintlog.incremental.maintained.uninterrupted", interrupted_too)
        with pytest.raises(KeyboardInterrupt):
            database.commit(Change(1, {}, {"e": [("c", "d")]}))
    assert len(database.rows("p")) == 3
    assert database.check() == []
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    assert len(database.rows("p")) == 6


def test_what_an_interrupt_kept_from_its_end_is_not_done_later(
    database: Maintained, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The interrupt comes where a question ends, and its traceback goes in the middle of a transaction: to read
    everything again then would lose what the transaction has done so far."""
    interrupts: list[BaseException] = []

    def at_the_end(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "__exit__" and "maintained" in str(frame.f_locals.get("self")):
            sys.settrace(None)
            raise KeyboardInterrupt

    try:
        with tracing(at_the_end):
            database.query("p(x, y)", NO_RULES)
    except KeyboardInterrupt as interrupt:
        interrupts.append(interrupt)
    assert interrupts
    update = Epoch.run

    def letting_go(*arguments: Any, **named: Any) -> None:
        update(*arguments, **named)
        interrupts.clear()
        gc.collect()

    monkeypatch.setattr(Epoch, "run", letting_go)
    assert set(database.commit(Change(1, {}, {"e": [("c", "d")]}))) == {"e", "p", "n"}
    assert len(database.rows("p")) == 6


def test_a_long_journal_becomes_a_snapshot(
    database: Maintained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flintlog.incremental.durable.store.LEAST_JOURNAL", 100)
    for epoch in range(1, 60):
        database.commit(Change(epoch, {}, {"e": [(f"{epoch} of many " * 50, "to")]}))
    snapshots = [path.name for path in (tmp_path / "db").glob("snapshot-*")]
    assert len(snapshots) == 1
    assert snapshots != ["snapshot-0"]
    assert opened(tmp_path / "db").epoch == 59
    assert len(opened(tmp_path / "db").rows("e")) == 61


def test_what_took_long_is_not_done_again(
    database: Maintained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flintlog.incremental.maintained.COMPACT_AFTER_SECONDS", 0.0)
    monkeypatch.setattr("flintlog.incremental.maintained.COMPACT_AFTER_TIMES", 0.0)
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    database.close()
    assert (tmp_path / "db" / "snapshot-1").is_dir()
    assert len(opened(tmp_path / "db").rows("p")) == 6


def test_a_database_stays_where_it_is_when_the_process_moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
        monkeypatch.chdir(folder)
        database = Maintained(Store(Path("db")))
        database.create(PATHS, {"e": [(folder.name, "x")]}, word_size=64, budget=0.2)
        database.close()
    monkeypatch.chdir(folders[0])
    database = opened(Path("db"), writes=True)
    monkeypatch.chdir(folders[1])
    database.commit(Change(1, {}, {"e": [("x", "y")]}))
    database.compact()
    database.close()
    rows = [sorted(opened(folder / "db").rows("e")) for folder in folders]
    assert rows == [[("one", "x"), ("x", "y")], [("two", "x")]]


def test_a_closed_database_answers_nothing(database: Maintained) -> None:
    database.close()
    for question in (lambda: database.rows("p"), lambda: database.query("p(x, y)", NO_RULES), database.check):
        with pytest.raises(FlintlogError) as caught:
            question()
        assert code_of(caught) == "E947"


def test_what_cannot_be_read_again_is_closed(database: Maintained, monkeypatch: pytest.MonkeyPatch) -> None:
    """An update runs out of memory, and so does reading everything anew after it: nothing of that may be committed."""
    database.commit(Change(1, {}, {"e": [("c", "d")]}))

    def no_room(*arguments: object, **named: object) -> None:
        raise FlintlogError([Diagnostic("E803", "no room")])

    with monkeypatch.context() as patch:
        patch.setattr(Epoch, "run", no_room)
        with pytest.raises(FlintlogError):
            database.commit(Change(2, {}, {"e": [("d", "e")]}))
    with pytest.raises(FlintlogError) as caught:
        database.commit(Change(2, {}, {"e": [("d", "e")]}))
    assert code_of(caught) == "E947"
    again = opened(database._store.folder, writes=True)
    assert len(again.rows("p")) == 6
    again.close()


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    folder.mkdir()
    (folder / "journal-2023.txt").write_text("mine")
    (folder / "snapshot-photos").mkdir()
    (folder / "snapshot-3").mkdir()
    with pytest.raises(FlintlogError, match="snapshot-3") as caught:
        Maintained(Store(folder)).create(PATHS, {"e": EDGES}, word_size=64, budget=0.2)
    assert code_of(caught) == "E949"
    (folder / "lock").touch()  # as a process leaves it that was killed while it made a database
    database = Maintained(Store(folder))
    database.create(PATHS, {"e": EDGES}, word_size=64, budget=0.2)
    database.close()
    ours = {"lock", "manifest.json", "snapshot-0", "journal-0"}
    assert {path.name for path in folder.iterdir()} == ours | {"journal-2023.txt", "snapshot-photos"}
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(FlintlogError) as caught:
        Maintained(Store(file)).create(PATHS, {}, word_size=64, budget=0.2)
    assert code_of(caught) == "E949"


def test_directories_that_are_none_of_ours(database: Maintained, tmp_path: Path) -> None:
    with pytest.raises(FlintlogError) as caught:
        opened(tmp_path / "nowhere", writes=True)
    assert code_of(caught) == "E940"
    assert not (tmp_path / "nowhere").exists()
    database.close()
    with pytest.raises(FlintlogError) as caught:
        Maintained(Store(tmp_path / "db")).create(PATHS, {}, word_size=64, budget=0.2)
    assert code_of(caught) == "E944"
    manifest = tmp_path / "db" / "manifest.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "format": 99}))
    with pytest.raises(FlintlogError) as caught:
        opened(tmp_path / "db")
    assert code_of(caught) == "E943"


def test_values_of_all_kinds_come_back(tmp_path: Path) -> None:
    text = """
        .type Pair = [a: float, b: symbol]
        .type Shape = Dot {} | Box { p: Pair, n: unsigned }
        .decl v(f: float, u: unsigned, s: symbol, p: Pair, t: Shape)
        .decl w(p: Pair)
        .decl b()
        w(p) :- v(_, _, _, p, _).
        b() :- w(nil).
    """
    rows = [
        (1.5, 2**64 - 1, "a\tb\n\udc80ü", (0.1, "x"), Adt("Box", ((float("inf"), ""), 7))),
        (NEGATIVE_NAN, 0, "", None, Adt("Dot", ())),
    ]
    database = Maintained(Store(tmp_path / "db"))
    database.create(text, {"v": rows[:1]}, word_size=64, budget=0.2)
    database.commit(Change(1, {}, {"v": rows[1:]}))
    assert list(database.rows("b")) == [()]
    database.close()
    again = opened(tmp_path / "db", writes=True)
    assert sorted(map(repr, again.rows("v"))) == sorted(map(repr, rows))
    again.compact()
    again.close()
    assert sorted(map(repr, opened(tmp_path / "db").rows("v"))) == sorted(map(repr, rows))


@pytest.mark.parametrize(
    "text",
    [
        ".decl d(x: number, c: number) .decl s(x: number) d(x, MIN(9)) :- s(x).",
        ".decl d(x: number, c: number) .decl s(x: number) d(x, 9) :- s(x). d(x, c) <= d(x, a) :- a < c.",
        ".decl d(x: number, c: number) .decl s(x: number) d(x, MIN(max(c, 2))) :- d(_, c), s(x).",
    ],
    ids=["best", "subsumption", "computed again"],
)
def test_facts_that_others_took_the_place_of_are_kept(tmp_path: Path, text: str) -> None:
    database = Maintained(Store(tmp_path / "db"))
    database.create(text, {"d": [(1, 3), (1, 5)]}, word_size=64, budget=0.2)
    assert list(database.rows("d")) == [(1, 3)]
    database.close()
    again = opened(tmp_path / "db", writes=True)
    again.commit(Change(1, {"d": [(1, 3)]}))
    assert list(again.rows("d")) == [(1, 5)]
    again.close()


def test_a_forked_process_does_not_write(database: Maintained) -> None:
    """It has its parent's lock, and would write over what that writes."""
    if not (child := os.fork()):
        try:
            database.commit(Change(1, {}, {"e": [("c", "d")]}))
        except FlintlogError as problem:
            os._exit(3 if problem.diagnostics[0].code == "E947" else 4)
        os._exit(5)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    database.commit(Change(1, {}, {"e": [("c", "d")]}))
    assert database.check() == []


def test_a_closed_database_is_free_though_a_forked_process_lives(database: Maintained, tmp_path: Path) -> None:
    until, end = os.pipe()
    if not (child := os.fork()):
        os.close(end)
        os.read(until, 1)
        os._exit(0)
    os.close(until)
    try:
        database.close()
        opened(tmp_path / "db", writes=True).close()
    finally:
        os.close(end)
        os.waitpid(child, 0)


def test_a_forked_process_that_closes_does_not_unlock(database: Maintained, tmp_path: Path) -> None:
    if not (child := os.fork()):
        database.close()
        os._exit(0)
    os.waitpid(child, 0)
    with pytest.raises(FlintlogError) as caught:
        opened(tmp_path / "db", writes=True)
    assert code_of(caught) == "E941"


def test_halves_of_characters_stay_halves(tmp_path: Path) -> None:
    """A pair of them is another text than the character that it would be elsewhere."""
    rows = {("\ud83d\ude00",), ("\U0001f600",), ("\ud83d",)}
    nested = {(row,) for row in rows}
    program = fl.Program(".type R = [x: symbol] .decl s(x: symbol) .decl r(x: R)")
    with fl.Database.create(tmp_path / "db", program, s=rows, r=nested) as database:
        with database.transaction() as change:
            change.delete("s", rows)
        with database.transaction() as change:
            change.insert("s", rows)
    for _ in range(2):
        with fl.Database.open(tmp_path / "db") as database:
            assert (set(database["s"]), set(database["r"])) == (rows, nested)
            assert (len(database["s"]), database.check()) == (3, [])
            database.compact()
