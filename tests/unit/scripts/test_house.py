"""The source keeps the figures of a house in which a reader finds the way."""

import importlib.util
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[3]


def house() -> ModuleType:
    spec = importlib.util.spec_from_file_location("house", ROOT / "scripts" / "house.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_source_keeps_its_figures() -> None:
    found = house().House(ROOT)
    assert list(found.crowded()) == []
    assert list(found.namesakes()) == []
    assert list(found.named_by_string()) == []
    assert len(list(found.long())) <= 4
    rooms = [file.parent for file in found.texts if file.name != "__init__.py"]
    assert {str(room) for room in rooms if rooms.count(room) > 15} <= {"engines/spark/exchange"}


def test_mistakes_are_found(tmp_path: Path) -> None:
    room = tmp_path / "src" / "flintlog" / "engines"
    (room / "inner").mkdir(parents=True)
    arguments = ", ".join(f"a{i}" for i in range(9))
    (room / "one.py").write_text(f"from flintlog.engines.inner import one\ndef f({arguments}): ...\n")
    (room / "inner" / "one.py").write_text('NAME = "flintlog.engines.one"\ndef g():\n' + "    x = 1\n" * 60)
    found = house().House(tmp_path)
    assert list(found.crowded()) == ["engines/one.py: f (9)"]
    assert list(found.namesakes()) == ["engines/inner/one.py ~ engines/one.py"]
    assert list(found.named_by_string()) == ["engines/inner/one.py:1 flintlog.engines.one"]
    assert list(found.long()) == ["engines/inner/one.py: g (61)"]
