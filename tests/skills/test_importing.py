"""Skills from elsewhere: what is taken, what is refused, and the mark they keep."""

from __future__ import annotations

from io import BytesIO
import zipfile

import pytest

from custom_components.mimiclaw.skill_library.errors import SkillRefused
from custom_components.mimiclaw.skill_library.importing import (
    Imported,
    Package,
    from_upload,
    origin_of,
    store,
)
from custom_components.mimiclaw.skill_library.limits import IMPORT_BYTES, IMPORT_FILES
from custom_components.mimiclaw.tools.skills import shapes
from custom_components.mimiclaw.workspace.errors import WorkspaceError
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD

from .conftest import Desk

PAGE = "# Bread\n\nBake the household's bread.\n\n1. `get_current_time()`\n"
FOLDER = (
    "---\nname: bread\ndescription: Bake bread.\n---\n\n# Bread\n\nSee REFERENCE.md.\n"
)


def zipped(files: dict[str, bytes | str]) -> bytes:
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def bring(desk: Desk, package: Package, **how: object) -> Imported:
    return store(desk.space, package, shapes(desk.tools()), **how)  # type: ignore[arg-type]


def test_a_pasted_text(desk: Desk) -> None:
    done = bring(desk, Package(PAGE), origin="Ben's page")
    assert (done.path, done.title, done.warnings) == ("/skills/bread.md", "Bread", ())
    assert desk.text(done.path) == PAGE, "what is shared on is what came"
    (skill,) = desk.space.skills.catalogue().skills
    assert skill.origin == "Ben's page"


def test_a_folder_with_further_files(desk: Desk) -> None:
    data = zipped(
        {
            "bread/SKILL.md": FOLDER,
            "bread/REFERENCE.md": "# Reference\n\nFlour.\n",
            "bread/parts/oven.md": "# Oven\n\nHot.\n",
            "bread/picture.png": b"\x89PNG\0\0",
            "__MACOSX/bread/._SKILL.md": b"\0",
            "bread/.DS_Store": b"\0",
        }
    )
    done = bring(desk, from_upload("bread.zip", data), category="Kitchen")
    assert done.path == "/skills/kitchen/bread/SKILL.md"
    assert sorted(done.written) == [
        "/skills/kitchen/bread/REFERENCE.md",
        "/skills/kitchen/bread/SKILL.md",
        "/skills/kitchen/bread/parts/oven.md",
    ]
    assert done.warnings == ("picture.png is not text and was left out.",)
    (skill,) = desk.space.skills.catalogue().skills
    assert (skill.description, skill.origin) == ("Bake bread.", "elsewhere")
    view = desk.space.view(HOUSEHOLD)
    assert "Hot." in view.read("/skills/kitchen/bread/parts/oven.md").text


def test_an_uploaded_page(desk: Desk) -> None:
    done = bring(desk, from_upload("Sourdough bread.md", PAGE.encode()))
    assert done.path == "/skills/sourdough-bread.md"


def test_what_is_there_is_not_replaced_unasked(desk: Desk) -> None:
    desk.put("/skills/bread.md", "# Mine\n\nMine.\n")
    with pytest.raises(SkillRefused, match="is there already"):
        bring(desk, Package(PAGE))
    assert "Mine" in desk.text("/skills/bread.md")
    bring(desk, Package(PAGE), replace=True)
    assert desk.text("/skills/bread.md") == PAGE
    kept = [
        one.read_text() for one in (desk.root / ".trash").rglob("*") if one.is_file()
    ]
    assert "# Mine\n\nMine.\n" in kept


@pytest.mark.parametrize(
    ("package", "told"),
    [
        (Package(""), "empty"),
        (Package("words"), "no title"),
        (Package("---\nname: [\n---\n# T\n\nD.\n"), "front matter"),
        (Package(PAGE + "key: sk-abcdefghijklmnopqrstuv\n"), "API key"),
        (Package(PAGE, "x", {"a.md": "token: Abc123def"}), r"a\.md, line 1"),
        (Package(PAGE, "x", {"../../evil.md": "# E"}), "leaves the tree"),
        (Package(PAGE, "x", {".hidden": "# E"}), "hidden"),
        (Package(PAGE, "x", {"big.md": "x" * 300_000}), "over 256 KB"),
    ],
)
def test_what_is_refused_leaves_nothing(
    desk: Desk, package: Package, told: str
) -> None:
    with pytest.raises((SkillRefused, WorkspaceError), match=told):
        bring(desk, package)
    assert [
        one.name for one in (desk.root / "skills").rglob("*") if one.is_file()
    ] == []


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("skill.exe", b"MZ", "neither a Markdown file nor a zip"),
        ("a.md", b"\xff\xfe\x00", "not UTF-8"),
        ("a.md", b"# T\n" * 100_000, "over 256 KB"),
        ("a.zip", b"PK\x03\x04 broken", "damaged"),
        ("a.zip", zipped({"a.txt": "x"}), r"no SKILL\.md"),
        ("a.zip", zipped({"a/SKILL.md": "x", "b/SKILL.md": "y"}), "several skills"),
        (
            "a.zip",
            zipped({f"{n}.md": "x" for n in range(IMPORT_FILES + 1)}),
            "over 50 files",
        ),
        (
            "a.zip",
            zipped({"SKILL.md": b"\0" * (IMPORT_BYTES + 1)}),
            "holds over 1024 KB",
        ),
        ("a.zip", zipped({"SKILL.md": b"\xff\xfe\xff"}), "not UTF-8"),
    ],
)
def test_uploads_that_are_refused(name: str, data: bytes, told: str) -> None:
    with pytest.raises(SkillRefused, match=told):
        from_upload(name, data)


def test_a_zip_that_points_outside_stays_inside(desk: Desk) -> None:
    data = zipped({"SKILL.md": FOLDER, "../../../evil.md": "# Evil\n"})
    with pytest.raises((SkillRefused, WorkspaceError)):
        bring(desk, from_upload("x.zip", data), name="bread")
    assert not list(desk.root.parent.rglob("evil.md"))


@pytest.mark.parametrize("claim", ["", "  ", "owner", "Shipped", "OWNER\n"])
def test_an_import_cannot_call_itself_our_own(desk: Desk, claim: str) -> None:
    assert origin_of(claim) == "elsewhere"
    done = bring(desk, Package(f"---\norigin: shipped\n---\n{PAGE}"), origin=claim)
    (skill,) = desk.space.skills.catalogue().skills
    assert (done.origin, skill.origin) == ("elsewhere", "elsewhere")


def test_an_origin_is_one_short_line() -> None:
    assert origin_of("a\n- b\0" + "c" * 200).startswith("a - b c")
    assert len(origin_of("c" * 200)) == 80


def test_a_mark_goes_with_its_file(desk: Desk) -> None:
    bring(desk, Package(PAGE))
    (desk.root / "skills" / "bread.md").unlink()
    bring(desk, Package(PAGE.replace("Bread", "Cake")))
    assert "bread" not in (desk.root / "skills" / ".imported.json").read_text()


def test_foreign_tools_are_told(desk: Desk) -> None:
    done = bring(desk, Package(PAGE + 'Use `browser_open(url="x")`.\n'))
    assert any("browser_open" in told for told in done.warnings)
