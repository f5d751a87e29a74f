"""Data sets are found as folders or archives."""

import tarfile

import pytest
from benchmarks.facts import Facts, NoData, from_environment, stage


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "source" / "tiny"
    made.mkdir(parents=True)
    (made / "edges.tsv").write_text("1\t2\n")
    return made


def test_a_folder_is_used_as_it_stands(tmp_path, folder):
    assert Facts(folder.parent, tmp_path / "unpacked").folder("tiny") == folder


def test_an_archive_is_unpacked_once(tmp_path, folder):
    packed = tmp_path / "packed" / "data"
    packed.mkdir(parents=True)
    with tarfile.open(packed / "tiny.tar.xz", "w:xz") as tar:
        tar.add(folder, "tiny")
    facts = Facts(packed.parent, tmp_path / "unpacked")
    found = facts.folder("tiny")
    assert (found / "edges.tsv").read_text() == "1\t2\n"
    (packed / "tiny.tar.xz").unlink()
    assert facts.folder("tiny") == found
    assert [path.name for path in (tmp_path / "unpacked").iterdir()] == ["tiny"]


def test_what_is_not_there_is_said(tmp_path, folder, monkeypatch):
    with pytest.raises(NoData, match=r"no huge/ and no huge\.tar\.xz"):
        Facts(folder.parent, tmp_path).folder("huge")
    with pytest.raises(NoData, match="no directory"):
        Facts(tmp_path / "nowhere", tmp_path)
    monkeypatch.delenv("FLINTLOG_BENCH_DATA", raising=False)
    with pytest.raises(NoData, match="FLINTLOG_BENCH_DATA"):
        from_environment(None)


def test_files_get_the_names_a_program_reads(tmp_path, folder):
    staged = stage(folder, {"Arc.facts": "edges.tsv"}, tmp_path / "staged")
    assert (staged / "Arc.facts").read_text() == "1\t2\n"
    assert stage(folder, {}, tmp_path / "unused") == folder
