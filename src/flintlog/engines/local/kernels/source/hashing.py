"""Hashes of words. The upper bits choose the slot: a larger table has its entries in nearly the same order."""

from __future__ import annotations

from flintlog.engines.local.kernels.source.words import inlined, shift_right

FIRST = -0x61C8864680B583EB  # the golden ratio's 64 bits, as a signed number
SECOND = -0x40A7B892E31B1A47


@inlined
def mixed(key):
    """A number whose upper bits depend on all bits of the key."""
    h = key * FIRST
    h = (h ^ shift_right(h, 29)) * SECOND
    return h ^ shift_right(h, 32)


@inlined
def slot_of(hashed, bits):
    return shift_right(hashed, 64 - bits)


@inlined
def combined(hashed, word):
    """The hash of several words, one after the other."""
    return mixed(hashed ^ word) + FIRST


@inlined
def shuffled(key, width):
    """Another number of so many bits for every number of so many bits."""
    mask = (1 << width) - 1
    half = (width + 1) >> 1
    h = (key * FIRST) & mask
    h = ((h ^ shift_right(h, half)) * SECOND) & mask
    return h ^ shift_right(h, half)


# A slot that holds a number also holds some bits of the hash, so that most other keys are refused without a look.
NUMBER_BITS = 40
NUMBER_MASK = (1 << NUMBER_BITS) - 1
TAG_MASK = ((1 << 62) - 1) ^ NUMBER_MASK


@inlined
def tagged(hashed, number):
    """The entry of a number; an empty slot is 0."""
    return ((hashed << NUMBER_BITS) & TAG_MASK) | (number + 1)


@inlined
def may_be(entry, hashed):
    """Whether an entry has the tag of a hash."""
    return (entry & TAG_MASK) == ((hashed << NUMBER_BITS) & TAG_MASK)


@inlined
def number_in(entry):
    """The number of an entry, -1 of an empty slot."""
    return (entry & NUMBER_MASK) - 1
