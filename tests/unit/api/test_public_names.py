"""The names of the package: loaded when first used, all of them there, and no others."""

from __future__ import annotations

import pytest

import flintlog as fl


def test_every_public_name_is_there() -> None:
    for name in fl.__all__:
        assert getattr(fl, name).__name__ == name


def test_there_are_no_other_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Progam'"):
        fl.Progam  # type: ignore[attr-defined]  # noqa: B018
