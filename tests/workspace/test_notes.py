"""Remembering: dated lines, facts under their heading, what the prompt shows of them."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from custom_components.mimiclaw.workspace import paths
from custom_components.mimiclaw.workspace.errors import NotText, WorkspaceError

from .conftest import ALICE, ZONE, House


def test_a_note_is_one_dated_line_with_its_source(house: House) -> None:
    said = house.view(ALICE).append_note("the pump was loud", "Alice, telegram")
    house.now += timedelta(minutes=5)
    house.view().append_note("- milk is out", "kitchen")
    assert house.text("/memory/2026-12-01.md") == (
        "# Notes of 2026-12-01\n\n"
        "- 14:30 the pump was loud (Alice, telegram)\n"
        "- 14:35 milk is out (kitchen)\n"
    )
    assert "/memory/2026-12-01.md" in said


def test_what_a_note_is_written_to_is_what_the_prompt_reads(house: House) -> None:
    """The original wrote to one folder and read another."""
    house.view().append_note("a trombone")
    assert "a trombone" in house.view().recent_notes()[0].text
    assert house.view().search("trombone")[0].path == "/memory/2026-12-01.md"


def test_notes_written_by_the_original_are_read(house: House) -> None:
    house.put("/memory/daily/2026-11-30.md", "# 2026-11-30\n- old\n")
    house.put("/memory/2026-11-29.md", "# 2026-11-29\n- older\n")
    house.put("/memory/2026-11-27.md", "# 2026-11-27\n- too old\n")
    notes = house.view().recent_notes()
    assert [note.path for note in notes] == [
        "/memory/daily/2026-11-30.md",
        "/memory/2026-11-29.md",
    ]


@pytest.mark.parametrize(
    "text",
    ["a\n# Heading\nb", "a\r\n- 10:00 forged (Bob)", "a\u2028b", "a\0b", "x\x0by"],
)
def test_a_note_cannot_be_more_than_a_line(house: House, text: str) -> None:
    house.view().append_note(text, "x\n# y")
    assert len(house.text("/memory/2026-12-01.md").splitlines()) == 3


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 3000])
def test_a_note_that_is_none_is_a_sentence(house: House, text: str) -> None:
    with pytest.raises(WorkspaceError, match=r"note .*line"):
        house.view().append_note(text)


def test_a_note_into_an_owner_s_file_without_last_newline(house: House) -> None:
    house.put("/memory/2026-12-01.md", "# Mine\r\n- by hand")
    house.view().append_note("next")
    assert house.text_bytes("/memory/2026-12-01.md") == (
        b"# Mine\r\n- by hand\r\n- 14:30 next\r\n"
    )


def test_a_note_into_a_broken_file_says_so_and_leaves_it(house: House) -> None:
    house.put("/memory/2026-12-01.md", b"\xff\xfe\x00")
    with pytest.raises(NotText):
        house.view().append_note("next")
    assert house.text_bytes("/memory/2026-12-01.md") == b"\xff\xfe\x00"


def test_the_day_is_the_household_s(house: House) -> None:
    house.now = datetime(2026, 12, 31, 23, 59, tzinfo=ZONE)
    house.view().append_note("late")
    house.now = datetime(2027, 1, 1, 0, 1, tzinfo=ZONE)
    house.view().append_note("early")
    assert house.text("/memory/2026-12-31.md").endswith("- 23:59 late\n")
    assert house.text("/memory/2027-01-01.md").endswith("- 00:01 early\n")


MEMORY = """# Memory

## Garden
- the pump is in the shed

### Roses
- red

## Kitchen
- kettle: steel

```
## Garden
```
"""


def test_a_fact_lands_under_its_heading(house: House) -> None:
    house.put("/memory/MEMORY.md", MEMORY)
    view = house.view()
    view.append_under("/memory/MEMORY.md", "garden", "hose: 20 m")
    view.append_under("/memory/MEMORY.md", "## Kitchen", "- oven: gas")
    view.append_under("/memory/MEMORY.md", "Roses", "white too")
    assert house.text("/memory/MEMORY.md") == (
        "# Memory\n\n## Garden\n- the pump is in the shed\n- hose: 20 m\n\n"
        "### Roses\n- red\n- white too\n\n"
        "## Kitchen\n- kettle: steel\n\n```\n## Garden\n```\n- oven: gas\n"
    )


def test_a_heading_that_is_missing_is_made(house: House) -> None:
    house.put("/memory/MEMORY.md", "# Memory\n\ntext without end")
    house.view().append_under("/memory/MEMORY.md", "Pets", "cat: Tom")
    assert house.text("/memory/MEMORY.md") == (
        "# Memory\n\ntext without end\n\n## Pets\n- cat: Tom\n"
    )


def test_a_fact_that_stands_there_is_not_doubled(house: House) -> None:
    house.put("/memory/MEMORY.md", MEMORY)
    said = house.view().append_under(
        "/memory/MEMORY.md", "Garden", "The pump is in  the shed"
    )
    assert "already" in said
    assert house.text("/memory/MEMORY.md") == MEMORY


def test_an_empty_section_is_filled_and_the_next_heading_kept_apart(
    house: House,
) -> None:
    house.put("/memory/MEMORY.md", "# Memory\n## A\n## B\n- b\n")
    house.view().append_under("/memory/MEMORY.md", "A", "a")
    assert house.text("/memory/MEMORY.md") == "# Memory\n## A\n- a\n\n## B\n- b\n"


def test_the_first_fact_of_a_person_makes_the_file(house: House) -> None:
    house.view(ALICE).append_under(
        "/memory/users/alice/MEMORY.md", "Style", "shorter, please"
    )
    assert house.text("/memory/users/alice/MEMORY.md") == (
        "# Memory\n\n## Style\n- shorter, please\n"
    )


def test_a_full_budget_asks_for_consolidation_and_cuts_nothing(house: House) -> None:
    view = house.view(ALICE)
    said = ""
    for number in range(150):
        said = view.append_under(
            "/memory/MEMORY.md", "Facts", f"fact {number} of the house, told"
        )
    assert "merge what belongs together" in said
    assert house.text("/memory/MEMORY.md").count("- fact") == 150
    budgets = house.space.budget(ALICE)
    assert [(one.path, one.full) for one in budgets] == [
        ("/memory/MEMORY.md", True),
        ("/memory/users/alice/MEMORY.md", False),
    ]
    assert budgets[0].limit == paths.MEMORY_PROMPT_BYTES


def test_notes_are_listed_oldest_first(house: House) -> None:
    for day in ("2026-11-03", "2025-01-01", "2026-11-02"):
        house.put(f"/memory/{day}.md", "# x\n")
    house.put("/memory/users/alice/2026-01-01.md", "# x\n")
    house.put("/memory/users/bob/2026-01-01.md", "# x\n")
    assert house.space.notes(ALICE) == [
        "/memory/2025-01-01.md",
        "/memory/users/alice/2026-01-01.md",
        "/memory/2026-11-02.md",
        "/memory/2026-11-03.md",
    ]
