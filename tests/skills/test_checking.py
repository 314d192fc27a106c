"""What a skill has to be before it is kept: title, description, size, tools, no secrets."""

from __future__ import annotations

import pytest

from custom_components.mimiclaw.skill_library.checking import judge, skill_path
from custom_components.mimiclaw.skill_library.errors import SkillRefused
from custom_components.mimiclaw.skill_library.references import (
    ToolShape,
    complaints,
    references,
)
from custom_components.mimiclaw.skill_library.secrets import secrets
from custom_components.mimiclaw.tools.skills import shapes
from custom_components.mimiclaw.workspace.skills import Catalogue

from .conftest import Desk

EMPTY = Catalogue((), ())
TOOLS = {
    "gpio_write": ToolShape(
        frozenset({"channel", "state", "duration_s", "pin"}),
        frozenset({"channel", "state"}),
    ),
    "get_current_time": ToolShape(),
    "cron_add": ToolShape(
        frozenset({"schedule_type"}),
        allowed={"schedule_type": frozenset({"every", "at"})},
    ),
}
GOOD = "# Turn the compost\n\nWhen somebody says turn the compost.\n\n## Steps\n\n1. Turn.\n"


def errors(text: str, path: str = "/skills/compost.md", **other: bool) -> str:
    return " ".join(judge(path, text, EMPTY, TOOLS, **other).errors)


def test_a_good_one_has_nothing_against_it() -> None:
    verdict = judge("/skills/compost.md", GOOD, EMPTY, TOOLS)
    assert (verdict.errors, verdict.warnings) == ((), ())
    assert verdict.skill is not None
    assert verdict.skill.description == "When somebody says turn the compost."


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("Turn it.\n", "no title"),
        ("# Compost\n\n## Steps\n\n", "no description"),
        ("---\nx: [\n---\n# T\n\nD.\n", "front matter"),
        (GOOD + "x" * 9000, "KB can be read at once"),
        (GOOD + '2. `gpio_burn(channel="x")`\n', "gpio_burn, which does not exist"),
        (GOOD + "2. Use `shell_exec` for it.\n", "shell_exec, which does not exist"),
        (GOOD + '2. `gpio_write(chanel="x")`\n', "no argument chanel"),
        (GOOD + '2. `cron_add(schedule_type="daily")`\n', "schedule_type is one of"),
        (GOOD + "2. Call intent__HassTurnOn.\n", "Home Assistant's own tools"),
        (f"---\nneeds: [shell_exec]\n---\n{GOOD}", "needs shell_exec"),
        (GOOD + "Password: Hunter2!\n", "Line 8 looks like a password"),
    ],
)
def test_what_is_refused(text: str, told: str) -> None:
    assert told in errors(text)


def test_what_is_only_advice() -> None:
    long = f"# Compost\n\n{'Words about compost. ' * 12}\n\n{'More. ' * 400}"
    verdict = judge("/skills/compost.md", long, EMPTY, TOOLS)
    assert verdict.errors == ()
    assert len(verdict.warnings) == 2


def test_tools_of_other_products_are_advice_in_an_import() -> None:
    text = GOOD + '2. Run `shell_exec(command="ls")`.\n'
    assert errors(text, foreign=True) == ""
    assert "shell_exec" in " ".join(
        judge("/skills/x.md", text, EMPTY, TOOLS, foreign=True).warnings
    )


def test_satellite_and_home_assistant_are_no_tools() -> None:
    text = f"---\nneeds: [satellite, home_assistant, gpio_write]\n---\n{GOOD}"
    assert errors(text) == ""


def test_a_name_that_is_taken(desk: Desk) -> None:
    desk.put("/skills/garden/heap.md", GOOD)
    catalogue = desk.space.skills.catalogue()
    verdict = judge("/skills/compost.md", GOOD, catalogue, TOOLS)
    assert "/skills/garden/heap.md has that name already" in " ".join(verdict.errors)
    assert judge("/skills/garden/heap.md", GOOD, catalogue, TOOLS).errors == ()


@pytest.mark.parametrize(
    ("name", "category", "path"),
    [
        ("Compost turning", "", "/skills/compost-turning.md"),
        ("compost.md", "Garden", "/skills/garden/compost.md"),
        ("浇花", "", "/skills/浇花.md"),
        ("../../etc/passwd", "", "/skills/etc-passwd.md"),
        (".hidden", "..", "/skills/hidden.md"),
    ],
)
def test_where_a_skill_goes(name: str, category: str, path: str) -> None:
    assert skill_path(name, category) == path


@pytest.mark.parametrize("name", ["", "...", "con", "x" * 61, "\0"])
def test_names_that_are_refused(name: str) -> None:
    with pytest.raises(SkillRefused):
        skill_path(name)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            '`gpio_write(channel="a)b", state="on")`',
            [("gpio_write", {"channel": "a)b", "state": "on"})],
        ),
        (
            "`gpio_write(channel, state)`",
            [("gpio_write", {"channel": None, "state": None})],
        ),
        ("`get_current_time()` gives it", [("get_current_time", {})]),
        ("with `gpio_write` and `duration_s=300`", [("gpio_write", {})]),
        ("`mimiclaw.run_skill` is an action", []),
        ("`not_home` is a state", []),
        ("`/memory/some_file.md`", []),
        ("gpio_write in prose", []),
        ("the tool `no_such`", [("no_such", {})]),
        ("use `gpio_write` with `duration_s`", [("gpio_write", {})]),
        ("`gpio_write(channel=<name>)`", [("gpio_write", {})]),
    ],
)
def test_what_counts_as_naming_a_tool(
    text: str, found: list[tuple[str, dict[str, object]]]
) -> None:
    assert [(one.tool, one.arguments) for one in references(text, TOOLS)] == found


def test_names_of_the_original_firmware_are_known(desk: Desk) -> None:
    known = shapes(desk.tools())
    page = (
        '`write_file(path="/spiffs/memory/a.md", content="x")` `list_dir(prefix="/")`'
    )
    told = [word for one in references(page, known) for word in complaints(one, known)]
    assert told == []


@pytest.mark.parametrize(
    "line",
    [
        "key sk-ant-api03-abcdefghijklmnop",
        "token 123456789:AAHk3jd9-kdjs83jdks93jdks93jdks93jdA",
        "-----BEGIN RSA PRIVATE KEY-----",
        "wifi key: Sommer2024!",
        "api_key = 9f8e7d6c5b4a",
        "Passwort ist Geheim123",
        "密码：abc12345",
        "PIN: 4711",
        "the door code is 123456",
        "https://anna:secret1@example.org/x",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    ],
)
def test_secrets_are_seen(line: str) -> None:
    found = list(secrets(f"# T\n\n{line}\n"))
    assert [number for number, _ in found][:1] == [3]
    assert all(line not in kind for _, kind in found)


@pytest.mark.parametrize(
    "line",
    [
        "Never passwords, PINs or card numbers.",
        "Password: ask the person for it.",
        "The API key is kept in the settings.",
        "token: unknown",
        "duration_s=300 at 07:30, 2026-12-01",
        "See https://example.org/path?x=1",
        "pin: garden pump",
    ],
)
def test_advice_about_secrets_is_none(line: str) -> None:
    assert list(secrets(line)) == []
