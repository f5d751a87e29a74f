"""The kernels' own source as plain Python, with every access to memory checked and arithmetic of 64 bits."""

from __future__ import annotations

import ast
import builtins
import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any

import pytest
from tests.kernels.memory import BadAccess, Memory
from tests.kernels.words import divided, shifted_left, shifted_right, words_over, wrapped

from flintlog.engines.local import kernels
from flintlog.engines.local.kernels import library
from flintlog.engines.local.storage.block import Block

_ROOM = f"{kernels.__name__}.source"
_FOLDER = Path(kernels.__path__[0]) / "source"

# Changes the text of a module, given its name in the room.
Edit = Callable[[str, str], str]


class _Arithmetic(ast.NodeTransformer):
    """Operators whose results may leave 64 bits, or that processors do not define for all words, become calls."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        match node.op:
            case ast.Add() | ast.Sub() | ast.Mult():
                return _call(node, "_wrapped", node)
            case ast.LShift():
                return _call(node, "_shifted_left", node.left, node.right)
            case ast.RShift():
                return _call(node, "_shifted_right", node.left, node.right)
            case ast.FloorDiv():
                return _call(node, "_divided", node.left, node.right)
        assert isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor), ast.unparse(node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        assert isinstance(node.target, ast.Name)
        known = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        changed = ast.copy_location(ast.BinOp(known, node.op, node.value), node)
        return ast.copy_location(ast.Assign([node.target], self.visit_BinOp(changed)), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return _call(node, "_wrapped", node) if isinstance(node.op, ast.USub) else node


def _call(node: ast.expr, name: str, *arguments: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(arguments), []), node)


class _Room:
    """The modules of the room, executed over other words. Python's own table of modules never sees them."""

    def __init__(self, words: SimpleNamespace, edit: Edit) -> None:
        self._modules: dict[str, Any] = {f"{_ROOM}.words": words}
        self._edit = edit

    def module(self, name: str) -> Any:
        if name not in self._modules:
            path = _FOLDER.joinpath(*name.removeprefix(_ROOM).split(".")[1:])
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            module = self._modules[name] = ModuleType(name)
            vars(module).update(
                __builtins__={**vars(builtins), "__import__": self._import},
                _wrapped=wrapped,
                _shifted_left=shifted_left,
                _shifted_right=shifted_right,
                _divided=divided,
            )
            exec(_checked(self._edit(name.removeprefix(f"{_ROOM}."), file.read_text()), file), vars(module))
        return self._modules[name]

    def _import(self, name: str, _globals: Any, _locals: Any, names: tuple[str, ...], level: int) -> Any:
        if not name.startswith(_ROOM):
            return __import__(name, _globals, _locals, names, level)
        module = self.module(name)
        for part in names:
            if not hasattr(module, part):
                setattr(module, part, self.module(f"{name}.{part}"))
        return module


@cache
def _checked(text: str, file: Path) -> CodeType:
    """The code of a module, with other operators in its functions; constants are computed as Numba finds them."""
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            _Arithmetic().visit(node)
    return compile(ast.fix_missing_locations(tree), file, "exec")


class CheckedKernels:
    """The functions by name, as `library.Kernels` has them."""

    def __init__(self, memory: Memory, edit: Edit = lambda name, text: text) -> None:
        self.memory = memory
        self.used: set[str] = set()
        self._functions = _Room(words_over(memory), edit).module(_ROOM).KERNELS

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name not in self._functions:
            raise AttributeError(name)
        function = self._functions[name]

        @wraps(function)
        def call(*arguments: int) -> int:
            assert all(type(word) in (int, bool) and wrapped(word) == word for word in arguments), (name, arguments)
            self.used.add(name)
            self.memory.calls += 1
            try:
                return int(function(*arguments))
            except BadAccess as error:
                raise BadAccess(f"{name}{arguments}: {error}") from error

        setattr(self, name, call)
        return call


@contextmanager
def checked_kernels(edit: Edit = lambda name, text: text) -> Iterator[CheckedKernels]:
    """Within it, all engines run checked kernels, on what was made within it."""
    memory = Memory()
    found = CheckedKernels(memory, edit)
    made = Block.__new__

    def char_at(array: Any) -> Any:
        memory.register(array)
        return ctypes.c_char.from_buffer(array)

    def block(cls: type[Block], *arguments: Any) -> Block:
        result = made(cls, *arguments)
        memory.register(result)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "_loaded", [found])
        patch.setattr(library, "_char_at", char_at)
        patch.setattr(Block, "__new__", staticmethod(block))
        yield found
