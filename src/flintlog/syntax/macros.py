"""Macros: their definitions and their expansion, as in C, over tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from flintlog.diagnostics import Label, Report
from flintlog.source import NOWHERE, SourceFile, Span
from flintlog.syntax.lexer import Lexer
from flintlog.syntax.literals import quote
from flintlog.syntax.tokens import ERROR, STRING, Token


@dataclass(frozen=True)
class Macro:
    """`params` is None for a macro without parentheses. The last parameter of a variadic one is `__VA_ARGS__`."""

    name: str
    params: tuple[str, ...] | None
    body: tuple[Token, ...]
    variadic: bool = False
    span: Span = field(default=NOWHERE, compare=False)


class _Stream:
    """Tokens that can be put back."""

    def __init__(self, source: Iterable[Token]) -> None:
        self._source = iter(source)
        self._back: list[Token] = []

    def next(self) -> Token | None:
        return self._back.pop() if self._back else next(self._source, None)

    def put_back(self, tokens: Sequence[Token]) -> None:
        self._back.extend(reversed(tokens))


class MacroTable:
    """The macros defined so far."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._macros: dict[str, Macro] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._macros

    def define(self, macro: Macro) -> None:
        known = self._macros.get(macro.name)
        if known is not None and _spelling(known) != _spelling(macro):
            labels = [Label(known.span, "first defined here")] if known.span is not NOWHERE else []
            message = f"the macro `{macro.name}` is defined a second time, and differently"
            note = f"the second one counts from here on; write `#undef {macro.name}` before it if that is meant"
            self._report.warning("W105", message, macro.span, note=note, labels=labels)
        self._macros[macro.name] = macro

    def define_text(self, name: str, value: str) -> None:
        """Defines a macro from outside the program, as the command line does."""
        body = tuple(Lexer(SourceFile(f"<{name}>", value), self._report, in_directive=True))
        self._macros[name] = Macro(name, None, body)

    def undefine(self, name: str) -> None:
        self._macros.pop(name, None)

    def expand(self, source: Iterable[Token]) -> Iterator[Token]:
        """The tokens with all macros expanded. The source is read lazily: a definition counts from where it stands."""
        stream = _Stream(source)
        macros = self._macros
        while (token := stream.next()) is not None:
            macro = macros.get(token.text)
            if macro is None or macro.name in token.hide:
                yield token
            elif macro.params is None:
                hide = token.hide | {macro.name}
                stream.put_back(self._substitute(macro, (), token.span, hide))
            else:
                call = self._call(macro, token, stream)
                if call is None:
                    yield token
                else:
                    stream.put_back(call)

    def _call(self, macro: Macro, name: Token, stream: _Stream) -> list[Token] | None:
        """What a use with arguments expands to; None if no parenthesis follows the name."""
        opening = stream.next()
        if opening is None or opening.text != "(":
            if opening is not None:
                stream.put_back([opening])
            return None
        arguments, closing = _read_arguments(macro, stream)
        if closing is None:
            message = f"the use of the macro `{macro.name}` does not end"
            self._report.error("E115", message, name.span, note="write `)` after its arguments")
            return [name._replace(kind=ERROR)]
        use = name.span.to(closing.span)
        assert macro.params is not None
        if not macro.params and arguments == [[]]:
            arguments = []
        if macro.variadic and len(arguments) == len(macro.params) - 1:
            arguments.append([])
        if len(arguments) != len(macro.params):
            message = f"the macro `{macro.name}` takes {_count(len(macro.params))}, not {len(arguments)}"
            labels = [Label(macro.span, "defined here")]
            note = "give one argument for each parameter, with commas between them"
            self._report.error("E115", message, use, note=note, labels=labels)
            return [Token(ERROR, macro.name, use.file, use.start, use.end)]
        return self._substitute(macro, arguments, use, (name.hide & closing.hide) | {macro.name})

    def _substitute(
        self, macro: Macro, arguments: Sequence[list[Token]], use: Span, hide: frozenset[str]
    ) -> list[Token]:
        given = dict(zip(macro.params or (), arguments, strict=True))
        body, out = macro.body, _Output(use, self._report)
        index = 0
        while index < len(body):
            token = body[index]
            following = body[index + 1] if index + 1 < len(body) else None
            if token.text == "##" and out.started and following is not None:
                out.paste_next()
            elif token.text == "#" and macro.params is not None and following is not None and following.text in given:
                text = quote(_spelled(given[following.text]))
                out.add([Token(STRING, text, use.file, use.start, use.end)])
                index += 1
            elif token.text in given:
                raw = out.pasting or (following is not None and following.text == "##")
                argument = given[token.text]
                out.add(argument if raw else list(self.expand(argument)))
            else:
                out.add([Token(token.kind, token.text, use.file, use.start, use.end, token.hide)])
            index += 1
        return [token._replace(hide=token.hide | hide) for token in out.tokens]


class _Output:
    """What a macro's body becomes, piece by piece; joins the pieces around `##`."""

    def __init__(self, use: Span, report: Report) -> None:
        self.tokens: list[Token] = []
        self.started = False
        self.pasting = False
        self._last_was_empty = False
        self._use = use
        self._report = report

    def paste_next(self) -> None:
        self.pasting = True

    def add(self, piece: list[Token]) -> None:
        join = self.pasting and not self._last_was_empty and bool(piece) and bool(self.tokens)
        if join:
            self.tokens[-1:] = self._join(self.tokens[-1], piece[0])
            self.tokens += piece[1:]
        else:
            self.tokens += piece
        self._last_was_empty = not piece and (self._last_was_empty or not self.pasting)
        self.pasting, self.started = False, True

    def _join(self, left: Token, right: Token) -> list[Token]:
        text = left.text + right.text
        joined = list(Lexer(SourceFile("<##>", text), Report(), in_directive=True))
        use = self._use
        if len(joined) == 1 and joined[0].kind != ERROR:
            return [Token(joined[0].kind, joined[0].text, use.file, use.start, use.end, left.hide & right.hide)]
        message = f"`##` joins `{left.text}` and `{right.text}` to `{text}`, which is no word of the language"
        self._report.error("E117", message, use, note="`##` makes one name or number of two pieces; leave it out")
        return [Token(ERROR, text, use.file, use.start, use.end)]


def _read_arguments(macro: Macro, stream: _Stream) -> tuple[list[list[Token]], Token | None]:
    """The arguments after an opening parenthesis, and the closing one; None in its place if there is none."""
    arguments: list[list[Token]] = [[]]
    most = len(macro.params or ()) if macro.variadic else None
    depth = 0
    while (token := stream.next()) is not None:
        if token.text == ")" and depth == 0:
            return arguments, token
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if token.text == "," and depth == 0 and (most is None or len(arguments) < most):
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments, None


def _spelled(tokens: Sequence[Token]) -> str:
    """The tokens as text, with one space where some white space stood."""
    parts: list[str] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if before is not None and (before.file is not token.file or before.end != token.start):
            parts.append(" ")
        parts.append(token.text)
    return "".join(parts)


def _spelling(macro: Macro) -> tuple[object, ...]:
    return macro.params, macro.variadic, [token.text for token in macro.body]


def _count(number: int) -> str:
    return "1 argument" if number == 1 else f"{number} arguments"
