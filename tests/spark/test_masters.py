"""A master that cannot be is refused before Spark spends minutes on it."""

from __future__ import annotations

import socket
import time
from contextlib import closing

import pytest

from flintlog.diagnostics import FlintlogError
from flintlog.engines.spark.sessions.masters import check_master, is_local, is_on_this_machine, slots


def problem(master: str) -> str:
    with pytest.raises(FlintlogError) as caught:
        check_master(master)
    return str(caught.value)


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local[*, 3]", "local-cluster[2,1,1024]"])
def test_masters_of_this_machine(master: str):
    check_master(master)
    assert is_on_this_machine(master)


@pytest.mark.parametrize("master", ["loacl[2]", "local[two]", "local[2", "spark:/host:7077", "", "host:7077", "YARN"])
def test_a_misspelt_master(master: str):
    assert f"error[E922]: `{master}` is not a master of Spark's" in problem(master)


def test_a_guess_at_what_was_meant():
    assert "did you mean `local[4]`?" in problem("loacl[4]")
    assert "did you mean `yarn`?" in problem("yran")


def test_a_port_that_is_none():
    assert "error[E922]" in problem("spark://127.0.0.1:port")


def test_nobody_answers():
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        port = taken.getsockname()[1]
        started = time.perf_counter()
        for master in (f"spark://127.0.0.1:{port}", f"sc://127.0.0.1:{port}", f"k8s://https://127.0.0.1:{port}"):
            assert f"error[E923]: the master `{master}` cannot be reached: 127.0.0.1:{port}" in problem(master)
        assert time.perf_counter() - started < 5


def test_one_of_several_masters_is_enough():
    with closing(socket.socket()) as taken, closing(socket.create_server(("127.0.0.1", 0))) as master:
        taken.bind(("127.0.0.1", 0))
        ports = taken.getsockname()[1], master.getsockname()[1]
        check_master(f"spark://127.0.0.1:{ports[0]},127.0.0.1:{ports[1]}")


def test_yarn_without_its_configuration(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    assert "HADOOP_CONF_DIR" in problem("yarn")
    monkeypatch.setenv("YARN_CONF_DIR", "/etc/yarn")
    check_master("yarn")


def test_what_spark_may_have_learnt_is_left_to_it():
    check_master("armada://host:50051")


def test_how_near_a_master_is():
    assert is_local("local[2]")
    assert not is_local("local-cluster[1,1,1024]")
    assert is_on_this_machine("spark://localhost:7077")
    assert not is_on_this_machine("spark://localhost:7077,elsewhere:7077")
    assert not is_on_this_machine("yarn")


def test_slots():
    assert (slots("local[3, 2]"), slots("spark://h:1")) == (3, None)
    assert (slots("local[*]") or 0) >= 1
