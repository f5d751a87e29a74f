"""The names that items which cannot be read would have declared."""

from __future__ import annotations

from collections.abc import Sequence

from flintlog.syntax import ast
from flintlog.syntax.tokens import DIRECTIVE, IDENT, RESERVED, Token

_DECLARING = frozenset({".decl", ".type", ".number_type", ".symbol_type", ".lattice", ".functor", ".comp", ".init"})


class Lost:
    """Collects what is lost with the items that cannot be read."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._is_any = False
        self._anything = False

    def add(self, *names: str) -> None:
        """Something is lost, and these names with it."""
        self._is_any = True
        self._names.update(names)

    def add_anything(self) -> None:
        """Something is lost, and nobody knows what it declares."""
        self._is_any = self._anything = True

    def add_item(self, tokens: Sequence[Token], *, declares: bool) -> None:
        """The text of an item. `declares` says that it declares something though its first word does not tell."""
        self.add()
        if declares:
            self._add_declared(tokens, 0)
        for position, token in enumerate(tokens):
            if token.kind == DIRECTIVE and token.text in _DECLARING:
                self._add_declared(tokens, position + 1)
                if token.text == ".type":
                    self.add("$")
            elif token.kind == IDENT and [t.kind for t in tokens[position + 1 : position + 4]] == ["(", IDENT, ":"]:
                self.add(token.text)  # attributes follow: a declaration that has lost its first word

    def _add_declared(self, tokens: Sequence[Token], position: int) -> None:
        """The names, with commas between them, that begin at `position`."""
        names: list[str] = []
        while position < len(tokens) and (tokens[position].kind == IDENT or tokens[position].kind in RESERVED):
            names.append(tokens[position].text)
            position += 1
            if position == len(tokens) or tokens[position].kind != ",":
                break
            position += 1
        self.add(*names)
        if not names:
            self._anything = True

    def unread(self) -> ast.Unread | None:
        return ast.Unread(frozenset(self._names), self._anything) if self._is_any else None
