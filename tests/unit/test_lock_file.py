"""Each lock file covers its part of pyproject.toml and names no address (docs/decisions/0001)."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = PROJECT["dependency-groups"]
SPARK = PROJECT["project"]["optional-dependencies"]["spark"]
NEEDED = {
    "requirements.lock": PROJECT["project"]["dependencies"] + SPARK + GROUPS["dev"],
    "tests/spark/oldest.lock": PROJECT["project"]["dependencies"] + SPARK + GROUPS["dev"] + GROUPS["oldest-spark"],
    "benchmarks/requirements.lock": GROUPS["bench"],
}
LOCKS = {name: (ROOT / name).read_text(encoding="utf-8") for name in NEEDED}


def pins(lock):
    """(name, version); a name comes twice where two Python versions need two releases."""
    return re.findall(r"^([a-z0-9.-]+)==([^ ;]+)", LOCKS[lock], flags=re.MULTILINE)


@pytest.mark.parametrize(("lock", "text"), [(lock, text) for lock, texts in NEEDED.items() for text in texts])
def test_direct_dependency_is_pinned_within_its_range(lock, text):
    requirement = Requirement(text)
    versions = [version for name, version in pins(lock) if name == canonicalize_name(requirement.name)]
    assert versions, "run `make lock`"
    assert all(version in requirement.specifier for version in versions), "run `make lock`"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_a_hash(lock):
    blocks = re.split(r"^(?=[a-z0-9])", LOCKS[lock], flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pins(lock))
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_address(lock):
    assert "://" not in LOCKS[lock]
    assert not re.search(r"^\s*(-i|-f|--index-url|--extra-index-url|--find-links)\b", LOCKS[lock], flags=re.MULTILINE)
