"""The release: its zip, laid into an empty configuration as HACS does, brings the skills."""

from __future__ import annotations

import json
import os
from pathlib import Path
import subprocess
import sys
import zipfile

import pytest

from scripts.house.package import build, install

from .conftest import LIBRARY

LOOK = """
import json, sys
from pathlib import Path
from custom_components.mimiclaw import runtime
from custom_components.mimiclaw.agent.profile import FRONTIER
from custom_components.mimiclaw.agent.prompt import Prompt
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD
config = Path(sys.argv[1])
assert Path(runtime.__file__).is_relative_to(config), runtime.__file__
workspace, report = runtime.open_workspace(config / "mimiclaw")
catalogue = workspace.skills.catalogue()
parts = Prompt(workspace, FRONTIER).assemble(workspace.view(HOUSEHOLD))
print(json.dumps({
    "library": str(runtime.library()),
    "skills": {one.path: one.origin for one in catalogue.skills},
    "problems": [one.detail for one in catalogue.problems],
    "prompt": "".join(part.text for part in parts),
}))
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """An empty configuration with the release in it."""
    archive = build(tmp_path / "dist" / "mimiclaw.zip")
    install(tmp_path / "config", archive)
    return tmp_path / "config"


def look(config: Path) -> dict[str, object]:
    """Open the workspace with the installed release, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(config)],
        cwd=config,
        env={**os.environ, "PYTHONPATH": str(config)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_an_installed_release_has_the_library_in_its_list(config: Path) -> None:
    found = look(config)
    assert found["library"] == str(config / "custom_components" / "mimiclaw" / "skills")
    assert found["skills"] == {
        f"/skills/{page.name}": "shipped" for page in LIBRARY.glob("*.md")
    }
    assert found["problems"] == []
    for page in LIBRARY.glob("*.md"):
        assert f"(/skills/{page.name})" in str(found["prompt"])


def test_an_update_keeps_what_the_owner_wrote(config: Path, tmp_path: Path) -> None:
    look(config)
    mine = config / "mimiclaw" / "skills" / "weather.md"
    mine.write_text("# My weather\n\nMine.\n", encoding="utf-8")
    own = config / "mimiclaw" / "skills" / "own.md"
    own.write_text("# Own\n\nOwn.\n", encoding="utf-8")
    (config / "mimiclaw" / "skills" / "watering.md").unlink()
    install(config, tmp_path / "dist" / "mimiclaw.zip")
    found = look(config)
    skills = found["skills"]
    assert isinstance(skills, dict)
    assert skills["/skills/weather.md"] == "owner"
    assert skills["/skills/own.md"] == "owner"
    assert "/skills/watering.md" not in skills


def test_the_archive_holds_the_library_and_no_leftovers(tmp_path: Path) -> None:
    archive = build(tmp_path / "mimiclaw.zip")
    with zipfile.ZipFile(archive) as release:
        names = release.namelist()
        assert release.testzip() is None
        for page in LIBRARY.rglob("*.md"):
            inside = f"skills/{page.relative_to(LIBRARY).as_posix()}"
            assert release.read(inside) == page.read_bytes()
    assert "manifest.json" in names
    assert not [name for name in names if "__pycache__" in name or name.startswith("/")]
    again = build(tmp_path / "again.zip")
    assert again.read_bytes() == archive.read_bytes()
