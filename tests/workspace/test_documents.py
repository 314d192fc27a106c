"""Long documents: section lists, reading by section, splitting, and folder indexes."""

from __future__ import annotations

import re

import pytest

from custom_components.mimiclaw.workspace.errors import (
    NotFound,
    TreeFull,
    WorkspaceError,
)
from custom_components.mimiclaw.workspace.sections import sections_of

from .conftest import House

FILLER = "This sentence fills the page and says nothing of use. " * 6


def manual(pages: int) -> str:
    """Return a manual: a chapter every ten pages, a section each page."""
    rows = ["# Boiler HX-200 manual", "", "For the owner.", ""]
    for page in range(1, pages + 1):
        if page % 10 == 1:
            rows += [f"## Chapter {page // 10 + 1}: Part {page // 10 + 1}", ""]
        rows += [
            f"### Procedure {page}",
            "",
            f"How to do procedure {page}. {FILLER}",
            "",
        ]
        rows += [FILLER * 5, ""]
        if page == 137:
            rows += ["If code E137 shows, turn the green valve by a quarter.", ""]
    return "\n".join(rows)


def test_a_long_document_gets_a_section_list_as_soon_as_it_appears(
    house: House,
) -> None:
    house.put("/docs/manual.md", manual(30))
    names = [entry.name for entry in house.view().list("/docs")]
    assert names == ["manual.md", "manual.toc.md"]
    toc = house.view().read("/docs/manual.toc.md").text
    row = r"^    3\. Procedure 1 — How to do procedure 1\. \(lines 7-\d+\)$"
    assert re.search(row, toc, re.MULTILINE)


def test_the_lines_of_the_list_are_the_lines_of_the_section(house: House) -> None:
    house.put("/docs/manual.md", manual(30))
    view = house.view()
    part = view.read_section("/docs/manual.md", "Procedure 17")
    again = view.read(
        "/docs/manual.md", part.start_line, part.end_line - part.start_line + 1
    )
    assert part.text.startswith("### Procedure 17\n")
    assert again.text == part.text
    assert f"(lines {part.start_line}-{part.end_line})" in house.text(
        "/docs/manual.toc.md"
    )


def test_the_list_follows_the_document(house: House) -> None:
    real = house.put("/docs/manual.md", manual(30))
    house.view().list("/docs")
    house.put("/docs/manual.md", manual(30).replace("Procedure 17", "Renamed 17"))
    assert "Renamed 17" in house.view().read("/docs/manual.toc.md").text
    house.put("/docs/manual.md", "# Short\n")
    assert [entry.name for entry in house.view().list("/docs")] == ["manual.md"]
    house.put("/docs/manual.md", manual(30))
    house.view().list("/docs")
    real.unlink()
    assert house.view().list("/docs") == []


def test_an_owner_s_own_section_list_is_left_alone(house: House) -> None:
    house.put("/docs/manual.md", manual(30))
    house.put("/docs/manual.toc.md", "# My own list\n")
    house.view().list("/docs")
    assert house.text("/docs/manual.toc.md") == "# My own list\n"


def test_a_manual_of_200_pages_is_answered_within_three_calls(house: House) -> None:
    text = manual(200)
    assert len(text.encode()) > 300_000
    house.put("/docs/boiler-manual.md", text)
    view = house.view()
    hit = view.search("what to do at code E137", "/docs/boiler-manual.md")[0]
    section = view.read_section("/docs/boiler-manual.md", hit.heading)
    assert "turn the green valve by a quarter" in section.text
    # Or by the line of the hit alone.
    near = view.read("/docs/boiler-manual.md", hit.line, 5)
    assert "turn the green valve" in near.text


@pytest.mark.parametrize(
    ("wanted", "heading"),
    [
        ("Procedure 3", "### Procedure 3"),
        ("### Procedure 3", "### Procedure 3"),
        ("procedure 30", "### Procedure 30"),
        ("5", "### Procedure 3"),
        ("Chapter 2", "## Chapter 2: Part 2"),
        ("part 3", "## Chapter 3: Part 3"),
        ("7-11", "### Procedure 1"),
    ],
)
def test_a_section_is_named_in_several_ways(
    house: House, wanted: str, heading: str
) -> None:
    house.put("/docs/manual.md", manual(30))
    part = house.view().read_section("/docs/manual.md", wanted)
    assert part.text.split("\n")[0] == heading


def test_a_chapter_comes_with_its_sections_and_says_how_to_go_on(house: House) -> None:
    house.put("/docs/manual.md", manual(30))
    part = house.view().read_section("/docs/manual.md", "Chapter 2")
    assert len(part.text.encode()) < 8192
    assert part.truncated
    assert part.next_offset == part.end_line + 1


@pytest.mark.parametrize("wanted", ["", "Procedure", "no such thing", "999", "30-10x"])
def test_a_section_that_is_not_one_lists_what_there_is(
    house: House, wanted: str
) -> None:
    house.put("/docs/manual.md", manual(30))
    with pytest.raises(NotFound, match=r"1\. Boiler|Procedure 1"):
        house.view().read_section("/docs/manual.md", wanted)


def test_text_without_headings_is_cut_at_paragraphs(house: House) -> None:
    paragraphs = [f"Paragraph {n} begins here and goes on. {FILLER}" for n in range(60)]
    house.put("/docs/plain-old-text.txt", "\n\n".join(paragraphs))
    view = house.view()
    sections = view.sections("/docs/plain-old-text.txt")
    assert len(sections) > 5
    assert sections[0].heading.startswith("Paragraph 0 begins here")
    last = view.read_section("/docs/plain-old-text.txt", str(len(sections)))
    assert last.text.endswith(paragraphs[-1])
    assert "Paragraph 0 begins" in view.read("/docs/plain-old-text.toc.md").text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        "text\n",
        "# A\n## B\ntext\n# C\n",
        "intro\n\n# A\ntext\n",
        "Title\n=====\n\ntext\n\nSub\n---\nmore\n",
        "# A\n```\n# not a heading\n```\ntext\n## B\n~~~~\n## no\n~~~\n~~~~\n# C\n",
        "---\nname: x\n# no heading\n---\n# A\ntext\n",
        "para\n\n" * 500,
        "x" * 20000,
        "#no heading\n#\n# \n####### seven\n# yes #\n",
    ],
)
def test_sections_cover_a_text_wholly_and_once(text: str) -> None:
    lines = text.split("\n")
    covered: list[int] = []
    for section in sections_of(text):
        assert section.start <= section.end
        covered += range(section.start, section.end + 1)
    assert covered == sorted(set(covered))
    missing = set(range(1, len(lines) + 1)) - set(covered)
    assert all(not lines[number - 1].strip() for number in missing)


def test_headings_in_code_and_front_matter_are_none() -> None:
    text = "---\nname: x\n# no\n---\n# A\n```\n# no\n```\n## B #\nSub\n---\n"
    found = [(part.heading, part.level) for part in sections_of(text)]
    assert [entry for entry in found if entry[1]] == [("A", 1), ("B", 2), ("Sub", 2)]


def test_a_document_is_split_into_a_file_a_section(house: House) -> None:
    house.put("/docs/manual.md", manual(30))
    made = house.view().split("/docs/manual.md")
    # A chapter that is a heading alone goes with its first section.
    assert len(made) == 31
    assert made[0].startswith("/docs/manual/01-boiler-hx-200-manual")
    texts = [house.text(path) for path in made]
    assert all(text.startswith("# ") for text in texts)
    whole = "".join("".join(text.split()) for text in texts)
    for page in range(1, 31):
        assert f"Howtodoprocedure{page}." in whole
    assert house.text("/docs/manual.md") == manual(30)
    with pytest.raises(TreeFull, match="there already"):
        house.view().split("/docs/manual.md")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/docs/one-section-only.md", "# One\n\ntext\n"),
        ("/memory/not-a-document.md", "# A\n\n# B\n"),
        ("/docs/too-many-sections.md", "# A\n\ntext\n\n" * 500),
    ],
)
def test_what_cannot_be_split_is_a_sentence(house: House, path: str, text: str) -> None:
    house.put(path, text)
    with pytest.raises(WorkspaceError):
        house.view().split(path)
    folder = house.root / path[1:].removesuffix(".md")
    assert not folder.exists()


def test_a_folder_of_many_files_gets_an_index(house: House) -> None:
    for number in range(51):
        house.put(f"/memory/topic-of-day-{number:02d}.md", f"# Topic {number}\n")
    for day in range(1, 31):
        house.put(f"/memory/2026-11-{day:02d}.md", "# Notes\n")
    text = house.view().read("/memory/INDEX.md").text
    assert "- topic-of-day-07.md — Topic 7" in text
    assert "- 2026-11: 30 days" in text
    house.put("/memory/topic-of-day-07.md", "# Another title\n")
    assert "Another title" in house.view().read("/memory/INDEX.md").text
    for number in range(51):
        (house.root / f"memory/topic-of-day-{number:02d}.md").unlink()
    house.view().list("/memory")
    assert not (house.root / "memory/INDEX.md").exists()


def test_indexes_and_section_lists_are_there_before_anybody_asks(house: House) -> None:
    for number in range(51):
        house.put(f"/docs/recipes/dish-number-{number:02d}.md", f"# Dish {number}\n")
    house.put("/docs/manual.md", manual(30))
    assert house.space.build_index() == 0
    assert "Dish 50" in house.text("/docs/recipes/INDEX.md")
    assert "Procedure 30" in house.text("/docs/manual.toc.md")


def test_an_owner_s_own_index_is_left_alone(house: House) -> None:
    for number in range(60):
        house.put(f"/memory/topic-of-day-{number:02d}.md", "# x\n")
    house.put("/memory/INDEX.md", "# Mine\n")
    assert house.view().read("/memory/INDEX.md").text == "# Mine"


def test_a_folder_of_few_files_has_no_index(house: House) -> None:
    house.view().list("/memory")
    with pytest.raises(NotFound):
        house.view().read("/memory/INDEX.md")


def test_titles_are_listed_in_small_and_large_folders(house: House) -> None:
    house.put("/memory/garden-plan-for-spring.md", "# Spring plan\n")
    small = {entry.name: entry.title for entry in house.view().list("/memory")}
    for number in range(60):
        house.put(f"/memory/topic-of-day-{number:02d}.md", f"# Topic {number}\n")
    large = {entry.name: entry.title for entry in house.view().list("/memory")}
    assert small["garden-plan-for-spring.md"] == "Spring plan"
    assert large["garden-plan-for-spring.md"] == "Spring plan"
    assert large["topic-of-day-59.md"] == "Topic 59"
