"""The built-in operations and the kinds they work on."""

from __future__ import annotations

from dataclasses import dataclass

from flintlog.types import Kind

_N, _U, _F, _S = Kind.NUMBER, Kind.UNSIGNED, Kind.FLOAT, Kind.SYMBOL

# Where several overloads fit equally well, the first kind of the result in this order is taken.
PREFERENCE = {kind: rank for rank, kind in enumerate((_S, _N, _U, _F, Kind.RECORD, Kind.ADT))}


@dataclass(frozen=True)
class Overload:
    """One signature. A variadic one has a single parameter kind, which all arguments share."""

    params: tuple[Kind, ...]
    result: Kind
    variadic: bool = False

    def takes(self, count: int) -> bool:
        return self.variadic or len(self.params) == count

    def param(self, position: int) -> Kind:
        return self.params[0 if self.variadic else position]

    def __str__(self) -> str:
        dots = ", …" if self.variadic else ""
        return f"({', '.join(kind.value for kind in self.params)}{dots}) -> {self.result.value}"


def _same(arity: int, *kinds: Kind) -> tuple[Overload, ...]:
    return tuple(Overload((kind,) * arity, kind) for kind in kinds)


def _convert(result: Kind, *params: Kind) -> tuple[Overload, ...]:
    return tuple(Overload((kind,), result) for kind in params)


def _variadic(*kinds: Kind) -> tuple[Overload, ...]:
    return tuple(Overload((kind,), kind, variadic=True) for kind in kinds)


_INTEGRAL_OPERATORS = "% band bor bxor bshl bshr bshru land lor lxor".split()
INFIX = frozenset(["+", "-", "*", "/", "^", *_INTEGRAL_OPERATORS])

OVERLOADS: dict[str, tuple[Overload, ...]] = {
    "+": _same(2, _S, _N, _U, _F),
    **{op: _same(2, _N, _U, _F) for op in ("-", "*", "/", "^")},
    **{op: _same(2, _N, _U) for op in _INTEGRAL_OPERATORS},
    "neg": _same(1, _N, _F),
    "bnot": _same(1, _N, _U),
    "lnot": _same(1, _N, _U),
    "range": _same(2, _N, _U, _F) + _same(3, _N, _U, _F),
    "min": _variadic(_S, _N, _U, _F),
    "max": _variadic(_S, _N, _U, _F),
    "cat": _variadic(_S),
    "strlen": (Overload((_S,), _N),),
    "substr": (Overload((_S, _N, _N), _S),),
    # `ord` shows the raw value of anything.
    "ord": _convert(_N, *PREFERENCE),
    "to_string": _convert(_S, _S, _N, _U, _F),
    "to_number": _convert(_N, _S, _N, _U, _F),
    "to_unsigned": _convert(_U, _S, _N, _U, _F),
    "to_float": _convert(_F, _S, _N, _U, _F),
    "itou": _convert(_U, _N),
    "itof": _convert(_F, _N),
    "utoi": _convert(_N, _U),
    "utof": _convert(_F, _U),
    "ftoi": _convert(_N, _F),
    "ftou": _convert(_U, _F),
}


def preferred(candidates: list[Overload]) -> Overload:
    """The overload to take among several that fit."""
    return min(candidates, key=lambda o: (PREFERENCE[o.result], o.variadic, [PREFERENCE[kind] for kind in o.params]))
