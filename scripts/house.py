"""How the source is laid out, in figures: `python scripts/house.py [TREE…]`, a column a tree, to compare revisions.

A tree is a checkout, or what `git archive` or `git worktree` makes of a revision; without one, this checkout.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from statistics import median

LONG, MANY = 60, 8
# A string that names a module of the package may stand here: lazy public names, and the table of engines.
_NAMED_BY_STRING = {"__init__.py", "engines/protocol.py"}
_MODULE = re.compile(r"flintlog(\.\w+)+")

Figures = dict[str, str]
Function = ast.FunctionDef | ast.AsyncFunctionDef


class House:
    """The modules of a checkout, parsed."""

    def __init__(self, tree: Path) -> None:
        self.root = tree / "src" / "flintlog"
        self.texts = {file.relative_to(self.root): file.read_text() for file in sorted(self.root.rglob("*.py"))}
        self.trees = {file: ast.parse(text) for file, text in self.texts.items()}

    def figures(self) -> Figures:
        lines = {file: len(text.splitlines()) for file, text in self.texts.items()}
        rooms: dict[Path, int] = defaultdict(int)
        for file in self.texts:
            rooms[file.parent] += file.name != "__init__.py"
        largest = sorted(((count, str(room)) for room, count in rooms.items()), reverse=True)
        imports = sum(self._import_lines(tree) for tree in self.trees.values())
        crowded, long = list(self.crowded()), list(self.long())
        return {
            "files": str(len(lines)),
            "source lines": f"{sum(lines.values()):,}",
            "median lines a file": f"{median(lines.values()):g}",
            "files over 400 lines": _listed([str(file) for file, count in lines.items() if count > 400]),
            "modules in the largest rooms": ", ".join(f"{room} {count}" for count, room in largest[:5]),
            "rooms over 15 modules": str(sum(count > 15 for count, _ in largest)),
            "lines of imports": f"{imports:,} ({100 * imports / sum(lines.values()):.1f} %)",
            f"functions over {LONG} lines": _listed(long),
            f"functions with more than {MANY} parameters": _listed(crowded),
            "basenames twice where the two meet": _listed(list(self.namesakes())),
            "strings that name a module": _listed(list(self.named_by_string())),
        }

    @staticmethod
    def _import_lines(tree: ast.Module) -> int:
        nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
        return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in nodes)

    def _functions(self) -> Iterator[tuple[Path, Function]]:
        for file, tree in self.trees.items():
            yield from ((file, node) for node in ast.walk(tree) if isinstance(node, Function))

    def long(self) -> Iterator[str]:
        for file, function in self._functions():
            length = (function.end_lineno or function.lineno) - function.lineno + 1
            if length > LONG:
                yield f"{file}: {function.name} ({length})"

    def crowded(self) -> Iterator[str]:
        """Keyword arguments of public entry points are left out: nobody has to know their order."""
        for file, function in self._functions():
            arguments = function.args
            names = [a.arg for a in (*arguments.posonlyargs, *arguments.args) if a.arg not in ("self", "cls")]
            is_entry = file.parts[0] == "api" and not function.name.startswith("_")
            count = len(names) + (0 if is_entry else len(arguments.kwonlyargs))
            if count > MANY:
                yield f"{file}: {function.name} ({count})"

    def named_by_string(self) -> Iterator[str]:
        for file, tree in self.trees.items():
            if str(file) in _NAMED_BY_STRING:
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE.fullmatch(node.value):
                    yield f"{file}:{node.lineno} {node.value}"
            for node in ast.walk(tree):
                if isinstance(node, ast.JoinedStr) and ast.unparse(node).startswith(("f'flintlog.", 'f"flintlog.')):
                    yield f"{file}:{node.lineno} {ast.unparse(node)}"

    def namesakes(self) -> Iterator[str]:
        """Two modules of one name meet if one imports the other, a third imports both, or one stands in a room that
        contains the other's."""
        uses = {file: self._uses(file) for file in self.trees}
        named: dict[str, list[Path]] = defaultdict(list)
        for file in self.trees:
            if file.name != "__init__.py":
                named[file.name].append(file)
        for files in named.values():
            for one, other in combinations(files, 2):
                nested = one.parent in other.parents or other.parent in one.parents
                known = one in uses[other] or other in uses[one]
                if nested or known or any({one, other} <= used for used in uses.values()):
                    yield f"{one} ~ {other}"

    def _uses(self, file: Path) -> set[Path]:
        used = set()
        for node in ast.walk(self.trees[file]):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("flintlog."):
                names = (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
                used |= {Path(*name.split(".")[1:]).with_suffix(".py") for name in names}
        return used & self.trees.keys()


def _listed(found: list[str]) -> str:
    return "\n".join([str(len(found)), *(f"  {one}" for one in found)])


def main(trees: list[str]) -> None:
    for tree in trees or [str(Path(__file__).parent.parent)]:
        if len(trees) > 1:
            print(f"== {tree}")
        for name, figure in House(Path(tree)).figures().items():
            print(f"{name}: {figure}")


if __name__ == "__main__":
    main(sys.argv[1:])
