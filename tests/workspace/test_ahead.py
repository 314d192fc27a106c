"""Reading ahead saves a look at the disk, and never shows yesterday's text."""

from __future__ import annotations

from .conftest import ALICE, BOB, House


def test_what_was_read_ahead_is_given_from_memory(house: House) -> None:
    file = house.put("/memory/boiler.md", "# Boiler\n\nserviced in March\n")
    view = house.view()
    view.read_ahead("when was the boiler serviced?")
    reads: list[object] = []
    tree = house.space.tree
    read = tree.read
    tree.read = lambda *a, **k: reads.append(a) or read(*a, **k)  # type: ignore[method-assign, func-returns-value]
    assert "March" in view.read("/memory/boiler.md").text
    assert not reads
    file.write_text("# Boiler\n\nserviced in April\n")
    assert "April" in view.read("/memory/boiler.md").text
    file.unlink()
    assert not house.view().search("boiler serviced")


def test_nobody_reads_ahead_for_somebody_else(house: House) -> None:
    house.put("/memory/users/alice/MEMORY.md", "# Alice\n\nthe secret boiler\n")
    view = house.view(BOB)
    view.read_ahead("secret boiler")
    assert not view._ahead._kept
    own = house.view(ALICE)
    own.read_ahead("secret boiler")
    assert own._ahead._kept
