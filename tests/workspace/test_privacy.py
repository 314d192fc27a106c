"""One person's text is seen by nobody else: not by tools, prompts, snippets or sessions."""

from __future__ import annotations

import pytest

from custom_components.mimiclaw.workspace.errors import PathRefused, WorkspaceError
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD, Speaker
from custom_components.mimiclaw.workspace.workspace import View

from .conftest import ALICE, BOB, House

SECRET = "xylophone"


@pytest.fixture
def shared(house: House) -> House:
    """A household in which Alice wrote one word everywhere she can."""
    view = house.view(ALICE)
    view.append_note(f"secret {SECRET}", "Alice", private=True)
    view.append_under("/memory/users/alice/MEMORY.md", "Gifts", f"a {SECRET} for Bob")
    view.write(
        "/memory/users/alice/gift-ideas-for-bob.md", f"# {SECRET} ideas\n\n{SECRET}\n"
    )
    view.read("/memory/users/alice/gift-ideas-for-bob.md")
    view.write("/memory/users/alice/gift-ideas-for-bob.md", "# x\n")
    view.write("/memory/users/alice/more-ideas-for-bob.md", f"# {SECRET} ideas\n")
    house.space.sessions.append("telegram", "1", "user", SECRET, person="alice")
    house.space.sessions.append("assist", "k", "user", SECRET, person="alice")
    house.space.sessions.append("assist", "k", "user", "lights", person=None)
    return house


def everything(view: View, folder: str = "/") -> str:
    """Collect all that a view shows: listings, files, sections, notes, search."""
    seen: list[str] = []
    for query in (SECRET, f"{SECRET} ideas", "gift bob", "secret", SECRET[:5]):
        for path in (
            None,
            "/memory",
            "/memory/users",
            "/memory/users/alice",
            "/sessions",
        ):
            try:
                seen.append(repr(view.search(query, path)))
            except WorkspaceError as err:
                seen.append(str(err))
    seen.append(repr(view.recent_notes(30)))
    stack = [folder, "/.trash", "/.trash/users", "/memory/users"]
    while stack:
        try:
            entries = view.list(stack.pop())
        except WorkspaceError as err:
            seen.append(str(err))
            continue
        for entry in entries:
            seen.append(repr(entry))
            if entry.is_dir:
                stack.append(entry.path)
                continue
            for use in (view.read, view.prompt_text, view.sections):
                try:
                    seen.append(repr(use(entry.path)))
                except WorkspaceError as err:
                    seen.append(str(err))
    return "\n".join(seen)


@pytest.mark.parametrize("speaker", [BOB, HOUSEHOLD], ids=["bob", "household"])
def test_nothing_of_alice_is_shown_to_others(shared: House, speaker: Speaker) -> None:
    seen = everything(shared.view(speaker))
    assert SECRET not in seen
    assert "gift-ideas" not in seen
    assert "lights" in seen


def test_alice_sees_her_own(shared: House) -> None:
    seen = everything(shared.view(ALICE))
    assert seen.count(SECRET) > 10
    hits = shared.view(ALICE).search(SECRET)
    assert {hit.path for hit in hits} == {
        "/memory/users/alice/2026-12-01.md",
        "/memory/users/alice/MEMORY.md",
        "/memory/users/alice/more-ideas-for-bob.md",
    }


def test_the_index_file_of_a_folder_names_no_private_file(shared: House) -> None:
    for number in range(60):
        shared.put(f"/memory/topic-number-{number}.md", f"# Topic {number}\n")
    text = shared.view(BOB).read("/memory/INDEX.md").text
    assert "topic-number-59.md" in text
    assert "gift" not in text


def test_private_notes_are_in_their_owner_s_prompt_only(shared: House) -> None:
    own = shared.view(ALICE).recent_notes()
    assert [(note.path, note.private) for note in own] == [
        ("/memory/users/alice/2026-12-01.md", True)
    ]
    assert shared.view(BOB).recent_notes() == []


def test_history_leaves_out_other_persons(shared: House) -> None:
    shared.space.sessions.append("assist", "k", "user", "bob speaks", person="bob")
    last = shared.space.sessions.last("assist", "k", speaker=BOB)
    assert [message.content for message in last] == ["lights", "bob speaks"]


@pytest.mark.parametrize(
    "person", ["", "..", "Alice", "a/b", "a b", "алиса", "a.b", "x" * 65, "a\0", "a\n"]
)
def test_a_person_s_name_cannot_be_a_path(person: str) -> None:
    with pytest.raises(ValueError, match="path name"):
        Speaker(person, "x")


def test_a_private_note_of_the_household_is_the_household_s(house: House) -> None:
    said = house.view(HOUSEHOLD).append_note("milk", private=True)
    assert "/memory/2026-12-01.md" in said


def test_writing_to_another_person_is_refused(house: House) -> None:
    for path in ("/memory/users/bob/MEMORY.md", "/memory/users/carol/MEMORY.md"):
        with pytest.raises(PathRefused):
            house.view(ALICE).append_under(path, "x", "y")
        with pytest.raises(PathRefused):
            house.view(HOUSEHOLD).write(path, "y")
    assert not (house.root / "memory/users/carol").exists()
