"""The rules of the house: who may import whom."""

from __future__ import annotations

import ast
from pathlib import Path
import subprocess
import sys

import pytest

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "custom_components" / "mimiclaw"
PLAIN = ("workspace", "agent", "providers", "fast_path")

#: What each room may use of the others. `tools` stands between agent and the rooms whose
#: work it offers; its base (what a tool is) is all that the agent knows of it.
MAY_IMPORT = {
    "workspace": set(),
    "fast_path": set(),
    "providers": set(),
    "agent": {"providers", "workspace", "tools.base"},
    "satellite": {"fast_path"},
    "skill_library": {"workspace"},
    "tools": {"providers", "workspace", "satellite", "schedule", "skill_library"},
    "channels": {"agent", "workspace", "providers", "satellite", "fast_path"},
    "schedule": {"agent", "workspace", "providers", "satellite"},
}
#: Modules beside the rooms that hold no logic of their own and may be used anywhere.
SHARED = {"const", "phrases", "people", "areas", "message", "reply", "line_log"}


def _imports(file: Path) -> set[str]:
    """Return the absolute names of everything a module imports."""
    package = ["mimiclaw", *file.relative_to(HOUSE).parent.parts]
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            found.update(f"{prefix}.{alias.name}" for alias in node.names)
    return found


def _modules(room: str) -> list[Path]:
    return sorted((HOUSE / room).rglob("*.py"))


@pytest.mark.parametrize("room", PLAIN)
def test_plain_rooms_import_nothing_of_home_assistant(room: str) -> None:
    files = _modules(room)
    assert files
    for file in files:
        for name in _imports(file):
            assert not name.startswith(("homeassistant", "voluptuous", "probatio")), (
                file,
                name,
            )


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_imports_point_one_way(room: str) -> None:
    allowed = {room, *MAY_IMPORT[room], *SHARED}
    for file in _modules(room):
        for name in _imports(file):
            if not name.startswith("mimiclaw."):
                continue
            inside = name.removeprefix("mimiclaw.")
            assert any(
                inside == one or inside.startswith(f"{one}.") for one in allowed
            ), f"{file.relative_to(HOUSE)} imports {inside}"


def test_no_module_is_two_things() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "*.py", "*.h", "*.cpp"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert tracked
    long = {
        name: lines
        for name in tracked
        if (ROOT / name).exists()
        and (lines := len((ROOT / name).read_text(encoding="utf-8").splitlines())) > 400
    }
    assert not long


def test_plain_rooms_load_without_home_assistant() -> None:
    code = """
import importlib, pathlib, sys
import tests.bare
house = pathlib.Path("custom_components/mimiclaw")
for room in sys.argv[1:]:
    for file in sorted((house / room).rglob("*.py")):
        name = ".".join(file.with_suffix("").parts)
        importlib.import_module(name.removesuffix(".__init__"))
assert not [name for name in sys.modules if name.partition(".")[0] == "homeassistant"]
"""
    done = subprocess.run(
        [sys.executable, "-c", code, *PLAIN],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
