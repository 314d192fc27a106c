"""Sixty questions over a household of 500 notes."""

from __future__ import annotations

from .conftest import House
from .household import Fact, facts, notes


def missed(house: House, asked: list[tuple[Fact, str]], most: int = 5) -> list[str]:
    """Return the questions whose note is not among the first files found."""
    view = house.view()
    return [
        question
        for fact, question in asked
        if fact.path
        not in list(dict.fromkeys(hit.path for hit in view.search(question)))[:most]
    ]


def test_what_stands_in_a_note_is_found(house: House) -> None:
    for path, text in notes().items():
        house.put(path, text)
    asked = [(fact, fact.question) for fact in facts()]
    assert len(asked) == 60
    assert len(missed(house, asked)) <= 3
