from flintlog.types import Adt

BOTTOM, TOP = Adt("Bottom", ()), Adt("Top", ())


def lub(a, b):
    if a == b or b == BOTTOM:
        return a
    return b if a == BOTTOM else TOP


def glb(a, b):
    if a == b or b == TOP:
        return a
    return b if a == TOP else BOTTOM


def plus(a, b):
    if BOTTOM in (a, b):
        return BOTTOM
    if a == b:
        return a
    if Adt("Zero", ()) in (a, b):
        return b if a == Adt("Zero", ()) else a
    return TOP
