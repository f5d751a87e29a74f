"""One Spark session for all tests of this room, made as a run makes one.

It is on two slots of this process, unless FLINTLOG_TEST_MASTER names another: tests/spark/clusters.py starts some.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from flintlog.engines.spark.sessions.session import end_session, open_session
from flintlog.engines.spark_options import SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            # What Spark warns of is its own affair; sockets that a session keeps open are found when it has gone.
            item.add_marker(pytest.mark.filterwarnings("ignore:::pyspark", "ignore:::py4j", "ignore::ResourceWarning"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session that all tests share; none may change its configuration for good."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("SPARK_DRIVER_MEMORY", os.environ.get("SPARK_DRIVER_MEMORY", "1g"))
        # Jobs of tests are over before a second compilation would pay.
        patch.setenv(
            "SPARK_SUBMIT_OPTS", os.environ.get("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        )
        session, _ = open_session(SparkOptions(master=os.environ.get("FLINTLOG_TEST_MASTER", "local[2]")), "tests")
    yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        end_session()
