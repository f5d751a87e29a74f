"""Masters as users name them: how they are spelt, whether a host answers there, and which machine runs the tasks."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flintlog.diagnostics import Diagnostic, FlintlogError, did_you_mean

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 5.0  # seconds until a host that says nothing counts as absent

_SPELLINGS = re.compile(
    r"""local (\[ \s*([0-9]+|\*)\s* (,\s*[0-9]+\s*)? \])?
      | local-cluster\[ \s*[0-9]+\s* , \s*[0-9]+\s* , \s*[0-9]+\s* \]
      | spark://[^/\s]+
      | yarn
      | k8s://\S+
      | sc://\S+""",
    re.VERBOSE,
)
_EXAMPLES = ("local[*]", "local[4]", "spark://host:7077", "yarn", "k8s://https://host:6443", "sc://host:15002")
_DEFAULT_PORTS = {"spark": 7077, "sc": 15002, "https": 443, "http": 80}


def check_master(master: str) -> None:
    """Raises what is wrong with a master, before Spark spends minutes on finding out."""
    other_manager = re.fullmatch(r"[a-z][a-z0-9+.-]*://\S+", master)  # Spark can be taught others
    if not _SPELLINGS.fullmatch(master) and not other_manager:
        note = did_you_mean(master, _EXAMPLES) or f"a master looks like {', '.join(_EXAMPLES)}"
        raise FlintlogError([Diagnostic("E922", f"`{master}` is not a master of Spark's", note=note)])
    if master == "yarn" and not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
        note = "let HADOOP_CONF_DIR or YARN_CONF_DIR name the directory of its configuration"
        raise FlintlogError([Diagnostic("E923", "nothing says where YARN is", note=note)])
    addresses = list(_addresses(master))
    failures = [problem for host, port in addresses if (problem := _unreachable(host, port))]
    if addresses and len(failures) == len(addresses):
        message = f"the master `{master}` cannot be reached: {'; '.join(failures)}"
        raise FlintlogError([Diagnostic("E923", message, note="is it running, and are host and port right?")])


def is_connect(session: SparkSession) -> bool:
    """Whether the session is a client of Spark Connect: there is no context, no RDD and no Java then."""
    return type(session).__module__.startswith("pyspark.sql.connect")


def is_local(master: str) -> bool:
    """Whether everything happens in one process of Java's on this machine."""
    return master == "local" or master.startswith("local[")


def is_on_this_machine(master: str) -> bool:
    """Whether tasks find this interpreter where it is."""
    if is_local(master) or master.startswith("local-cluster["):
        return True
    here = {"localhost", "127.0.0.1", "[::1]", "::1", socket.gethostname()}
    return master.startswith("spark://") and all(host in here for host, _ in _addresses(master))


def slots(master: str) -> int | None:
    """How many tasks run at once, where the master's name says so.

    >>> slots("local"), slots("local[3]"), slots("local-cluster[2,3,1024]"), slots("yarn")
    (1, 3, 6, None)
    """
    numbers = [int(number) for number in re.findall(r"\d+", master)]
    if master == "local":
        return 1
    if master.startswith("local["):
        return numbers[0] if numbers and not master.startswith("local[*") else _processors()
    return numbers[0] * numbers[1] if master.startswith("local-cluster[") else None


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def _addresses(master: str) -> Iterator[tuple[str, int]]:
    """The addresses of which one must answer."""
    scheme, _, rest = master.partition("://")
    if scheme == "spark":
        for address in rest.split(","):
            yield _address(f"spark://{address}", "spark")
    elif scheme == "sc":
        yield _address(master, "sc")
    elif scheme == "k8s":
        yield _address(rest if "://" in rest else f"https://{rest}", "https")


def _address(url: str, scheme: str) -> tuple[str, int]:
    try:
        parts = urlsplit(url)
        return parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, _DEFAULT_PORTS[scheme])
    except ValueError as error:
        raise FlintlogError([Diagnostic("E922", f"`{url}` is not an address: {error}")]) from error


def _unreachable(host: str, port: int) -> str | None:
    try:
        socket.create_connection((host, port), PATIENCE).close()
    except TimeoutError:
        return f"{host}:{port} does not answer"
    except OSError as error:
        return f"{host}:{port}: {error.strerror or error}"
    return None
