"""An answer is read from what engines print, and compared in full."""

from benchmarks.answer import digest_of, read_answer, wrong_parts
from benchmarks.definition import DataSet

BLOCK = "---------------\nCheck\n===============\n42\n43\n===============\n"


def test_sizes_and_blocks_are_read():
    assert read_answer("A\t1\n" + BLOCK + "B\t2\n") == {"A": "1", "Check": "42\n43", "B": "2"}


def test_column_names_in_a_block_are_skipped():
    assert read_answer("---------------\nCheck\ns\tt\n===============\n1\t2\n===============\n") == {"Check": "1\t2"}


def test_a_block_without_end_is_no_endless_loop():
    assert read_answer("---------------\nCheck\n===============\n42") == {"Check": "42"}
    assert read_answer("---------------\nCheck") == {"Check": ""}


def test_a_right_answer_has_no_wrong_parts():
    assert wrong_parts(DataSet("d", {"A": "1"}), "A\t1\nUnasked\t5\n", None) == []


def test_wrong_and_missing_sizes_are_told_apart():
    wrong = wrong_parts(DataSet("d", {"A": "1", "B": "2"}), "A\t3\n", None)
    assert wrong == ["A is 3, expected 1", "B was not printed"]


def test_files_are_compared_whatever_the_order_of_their_lines(tmp_path):
    (tmp_path / "r.csv").write_text("b\na\n")
    (tmp_path / "sorted.csv").write_text("a\nb\n")
    digest = digest_of(tmp_path / "sorted.csv")
    assert digest is not None
    assert wrong_parts(DataSet("d", {}, files={"r.csv": digest}), "", tmp_path) == []
    assert wrong_parts(DataSet("d", {}, files={"none.csv": digest}), "", tmp_path) == ["none.csv was not written"]
    assert "expected 00" in wrong_parts(DataSet("d", {}, files={"r.csv": "00"}), "", tmp_path)[0]
