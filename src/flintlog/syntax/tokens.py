"""What the lexer makes of text: tokens, and the words that mean something to the grammar."""

from __future__ import annotations

from typing import NamedTuple

from flintlog.source import SourceFile, Span

IDENT, NUMBER, UNSIGNED, FLOAT, STRING = "IDENT", "NUMBER", "UNSIGNED", "FLOAT", "STRING"
DIRECTIVE = "DIRECTIVE"  # .decl and its like, written as one word
PLACE = "PLACE"  # __FILE__, __LINE__, __INCL__: the preprocessor turns them into literals
HASH = "HASH"  # a whole preprocessor line; never reaches the parser
ERROR = "ERROR"  # text that made no token; the lexer has reported it already
END = "END"

# The rest of the kinds are the texts themselves: a reserved word or a punctuation mark is its own kind.

AGGREGATES = frozenset({"count", "sum", "min", "max", "mean"})
FUNCTORS = frozenset({"cat", "ord", "range", "strlen", "substr", "to_float", "to_number", "to_string", "to_unsigned"})
QUALIFIERS = frozenset(
    "input output printsize overridable inline no_inline magic no_magic brie btree btree_delete eqrel".split()
)
INFIX_WORDS = frozenset("band bor bxor bshl bshr bshru land lor lxor".split())

RESERVED = (
    AGGREGATES
    | FUNCTORS
    | QUALIFIERS
    | INFIX_WORDS
    | frozenset("autoinc bnot lnot match contains stateful as nil true false choice-domain _".split())
)

# Conversions of older programs and words of newer versions: names like any other, except right before a parenthesis.
LEGACY_CONVERSIONS = frozenset("itou itof utoi utof ftoi ftou".split())
ITERATION_WORDS = frozenset({"__ITERATION__", "recursive_iteration_cnt"})

DIRECTIVES = frozenset(
    "decl functor input output printsize limitsize type comp init number_type symbol_type override pragma plan lattice"
    " include once".split()
)


class Token(NamedTuple):
    """A word of the program: `text` is what it says, [start, end) of `file` is where it was written.

    The two differ for a token that a macro brought in: it stands where the macro was used. `hide` names the macros
    whose expansion it comes from, which therefore do not expand it again.
    """

    kind: str
    text: str
    file: SourceFile
    start: int
    end: int
    hide: frozenset[str] = frozenset()

    @property
    def span(self) -> Span:
        return Span(self.file, self.start, self.end)

    @property
    def column(self) -> int:
        return self.file.position(self.start)[1]

    @property
    def is_first_on_line(self) -> bool:
        text = self.file.text
        return not text[text.rfind("\n", 0, self.start) + 1 : self.start].strip()

    def has_gap_after(self, before: Token) -> bool:
        """Whether something stands between `before` and this token. Never so for two tokens of one macro."""
        return self.file is not before.file or self.start > before.end

    def describe(self) -> str:
        """The token in the words of an error message."""
        if self.kind == END:
            return "the end of the file"
        if self.kind in RESERVED and self.kind != "_":
            return f"the reserved word `{self.text}`"
        shown = self.text if len(self.text) <= 40 else self.text[:37] + "..."
        return "`" + shown.split("\n", 1)[0] + "`"
