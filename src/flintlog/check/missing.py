"""Names of which nothing is known, since what would declare them is wrong itself."""

from __future__ import annotations

from flintlog.syntax import ast


class Missing:
    """The names to say nothing about: that they are unknown only follows from a mistake that is reported elsewhere.
    Ask for a name after the search for its declaration has failed.

    >>> missing = Missing(ast.Unread(frozenset({"edge", "net"})))
    >>> ["edge" in missing, "net.link" in missing, "path" in missing]
    [True, True, False]
    """

    def __init__(self, unread: ast.Unread | None = None) -> None:
        self._names: set[str] = set() if unread is None else set(unread.names)
        self._anything = unread is not None and unread.anything
        self.is_program_whole = unread is None

    def add(self, name: str) -> None:
        self._names.add(name)

    def __contains__(self, name: str) -> bool:
        # What an instance lacks is missing in it under the instance's name, and an instance with all it has.
        return self._anything or not self._names.isdisjoint(name.split("."))
