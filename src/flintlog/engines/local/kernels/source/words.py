"""Loads and stores of words at addresses, and the operations of processors that Python has no name for.

`tests/kernels/words.py` has the same names in plain Python, with every access checked."""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

WORD = ir.IntType(64)
HALF = ir.IntType(32)


def _pointer(builder, base, index, kind):
    return builder.gep(builder.inttoptr(base, kind.as_pointer()), [index])


@intrinsic
def load(context, base, index):
    """The word at an index of the array at an address."""

    def generate(context, builder, signature, arguments):
        return builder.load(_pointer(builder, *arguments, WORD))

    return types.int64(types.int64, types.int64), generate


@intrinsic
def load_shared(context, base, index):
    """The same, of a word that another thread may be about to change."""

    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_pointer(builder, *arguments, WORD), "monotonic", 8)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def store(context, base, index, value):
    def generate(context, builder, signature, arguments):
        base, index, value = arguments
        builder.store(value, _pointer(builder, base, index, WORD))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), generate


@intrinsic
def load_half(context, base, index):
    """The unsigned 32-bit number at an index of an array of 32-bit numbers."""

    def generate(context, builder, signature, arguments):
        return builder.zext(builder.load(_pointer(builder, *arguments, HALF)), WORD)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def load_half_shared(context, base, index):
    def generate(context, builder, signature, arguments):
        return builder.zext(builder.load_atomic(_pointer(builder, *arguments, HALF), "monotonic", 4), WORD)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def store_half(context, base, index, value):
    def generate(context, builder, signature, arguments):
        base, index, value = arguments
        builder.store(builder.trunc(value, HALF), _pointer(builder, base, index, HALF))
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.int64), generate


@intrinsic
def swap_if(context, base, index, expected, value):
    """Writes the value if the word is the expected one, in one go; returns the word there was."""

    def generate(context, builder, signature, arguments):
        base, index, expected, value = arguments
        pair = builder.cmpxchg(_pointer(builder, base, index, WORD), expected, value, "acq_rel", "acquire")
        return builder.extract_value(pair, 0)

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def swap_half_if(context, base, index, expected, value):
    """The same for a 32-bit number."""

    def generate(context, builder, signature, arguments):
        base, index, expected, value = arguments
        place = _pointer(builder, base, index, HALF)
        pair = builder.cmpxchg(place, builder.trunc(expected, HALF), builder.trunc(value, HALF), "acq_rel", "acquire")
        return builder.zext(builder.extract_value(pair, 0), WORD)

    return types.int64(types.int64, types.int64, types.int64, types.int64), generate


def _atomic(operation):
    def change(context, base, index, value):
        def generate(context, builder, signature, arguments):
            base, index, value = arguments
            return builder.atomic_rmw(operation, _pointer(builder, base, index, WORD), value, "acq_rel")

        return types.int64(types.int64, types.int64, types.int64), generate

    return change


fetch_add = intrinsic(_atomic("add"))
fetch_or = intrinsic(_atomic("or"))


@intrinsic
def prefetch(context, address):
    """Asks for the memory at an address, to be read and written soon."""

    def generate(context, builder, signature, arguments):
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, HALF, HALF, HALF])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        builder.call(function, [builder.inttoptr(arguments[0], pointer), HALF(1), HALF(3), HALF(1)])
        return context.get_dummy_value()

    return types.none(types.int64), generate


@intrinsic
def shift_right(context, value, places):
    """Fills up with zeros."""

    def generate(context, builder, signature, arguments):
        return builder.lshr(*arguments)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def below(context, a, b):
    """Whether a is smaller, both taken as unsigned."""

    def generate(context, builder, signature, arguments):
        return builder.icmp_unsigned("<", *arguments)

    return types.boolean(types.int64, types.int64), generate


inlined = njit(nogil=True, error_model="numpy", inline="always")
function = njit(nogil=True, error_model="numpy")
