"""Compiles the kernels' source with Numba to one object file."""

from __future__ import annotations

import inspect
from typing import Any


def compile_kernels() -> tuple[bytes, dict[str, int]]:
    """The machine code for this processor, and how many words each function of it takes."""
    import llvmlite.binding as llvm

    from flintlog.engines.local.kernels.source import KERNELS

    parts = [_compiled(name, function) for name, function in KERNELS.items()]
    module = llvm.parse_assembly(parts[0])
    for part in parts[1:]:
        module.link_in(llvm.parse_assembly(part))
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        jit=True,
    )
    return machine.emit_object(module), {name: _arity(function) for name, function in KERNELS.items()}


def _arity(function: Any) -> int:
    return len(inspect.signature(function).parameters)


def _compiled(name: str, function: Any) -> str:
    """The optimised code of a function of words, with an entry under its plain name."""
    from numba.core import compiler, types
    from numba.core.registry import cpu_target

    flags: Any = compiler.Flags()
    flags.nrt = False
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    arity = _arity(function)
    result = compiler.compile_extra(
        cpu_target.typing_context,
        cpu_target.target_context,
        function,
        (types.int64,) * arity,
        types.int64,
        flags,
        {},
    )
    symbol = result.fndesc.llvm_func_name
    parameters = ", ".join(f"i64 %a{i}" for i in range(arity))
    entry = f"""
define i64 @flintlog_{name}({parameters}) {{
  %result = alloca i64
  %problem = alloca ptr
  %status = call i32 @{symbol}(ptr %result, ptr %problem{"".join(f", i64 %a{i}" for i in range(arity))})
  %value = load i64, ptr %result
  ret i64 %value
}}
"""
    return str(result.library.get_llvm_str()) + entry
