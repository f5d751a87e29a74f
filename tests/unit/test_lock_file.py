"""The lock file covers pyproject.toml and names no address (docs/decisions/0001)."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
DIRECT = PROJECT["project"]["dependencies"] + PROJECT["dependency-groups"]["dev"]
# (name, version); a name comes twice where two Python versions need two releases
PINS = re.findall(r"^([a-z0-9.-]+)==([^ ;]+)", LOCK, flags=re.MULTILINE)


@pytest.mark.parametrize("text", DIRECT)
def test_direct_dependency_is_pinned_within_its_range(text):
    requirement = Requirement(text)
    versions = [version for name, version in PINS if name == canonicalize_name(requirement.name)]
    assert versions, "run `make lock`"
    assert all(version in requirement.specifier for version in versions), "run `make lock`"


def test_every_pin_has_a_hash():
    blocks = re.split(r"^(?=[a-z0-9])", LOCK, flags=re.MULTILINE)[1:]
    assert len(blocks) == len(PINS)
    assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_no_address():
    assert "://" not in LOCK
    assert not re.search(r"^\s*(-i|-f|--index-url|--extra-index-url|--find-links)\b", LOCK, flags=re.MULTILINE)
