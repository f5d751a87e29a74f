"""Checks that a program of the IR is well formed. Passes and engines rely on it; tests run it after every pass."""

from flintlog.ir.verify.verify import verify

__all__ = ["verify"]
