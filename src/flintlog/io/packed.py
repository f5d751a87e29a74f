"""Gzip files, which are told by their first bytes, whatever they are called."""

from __future__ import annotations


class DamagedFile(ValueError):
    """A gzip file that cannot be unpacked."""


def unpacked(data: bytes) -> bytes:
    """What a gzip file holds; other data as it is."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    import gzip
    import zlib

    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DamagedFile(str(error)) from error
