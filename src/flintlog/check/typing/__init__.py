"""Types of a program: declarations -> a lattice of types; clauses -> the kind of every argument."""

from flintlog.check.typing.collect import Context
from flintlog.check.typing.declared import declare_types
from flintlog.check.typing.infer import infer_kinds
from flintlog.check.typing.lattice import TypeEnv

__all__ = ["Context", "TypeEnv", "declare_types", "infer_kinds"]
