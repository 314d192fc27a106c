"""Searching by meaning: what it adds, whose text it sees, and what happens when it is down."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import pairwise

import pytest

from custom_components.mimiclaw.tools.search import render
from custom_components.mimiclaw.workspace.chunks import (
    OVERLAP,
    TOKENS,
    chunks_of,
    tokens_of,
)
from custom_components.mimiclaw.workspace.index_db import Row
from custom_components.mimiclaw.workspace.vector_db import Near
from custom_components.mimiclaw.workspace.vectors import SemanticSearch, combined

from .conftest import ALICE, BOB, House

# A tiny sense of meaning: words of one line are the same thing.
MEANINGS = (
    ("cat", "kitten", "minka", "pet"),
    ("car", "vehicle", "tyres", "automobile"),
    ("pump", "water", "hose"),
    ("birthday", "gift", "present"),
)


class Endpoint:
    """Stands in for an embeddings server: counts the meanings in a text."""

    def __init__(self) -> None:
        self.calls: list[int] = []
        self.down = False
        self.slow = False

    async def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        if self.slow:
            await asyncio.sleep(60)
        if self.down:
            raise ConnectionError("refused")
        self.calls.append(len(texts))
        return [
            [
                float(sum(text.lower().count(word) for word in words)) + 0.01
                for words in MEANINGS
            ]
            for text in texts
        ]


@pytest.fixture
def endpoint() -> Endpoint:
    return Endpoint()


@pytest.fixture
def semantic(house: House, endpoint: Endpoint) -> SemanticSearch:
    house.put("/memory/minka-and-her-food.md", "# Minka\n\nEats at six.\n")
    house.put("/memory/winter-tyres-change.md", "# Tyres\n\nIn October.\n")
    house.put("/memory/hose-in-the-shed.md", "# Hose\n\nThe hose is green.\n")
    house.put("/memory/users/alice/gift-for-bob.md", "# Gift\n\nA present: a book.\n")
    return SemanticSearch(house.space, endpoint, "test", deadline_s=0.2)


async def test_other_words_of_the_same_meaning_find_a_note(
    house: House, semantic: SemanticSearch
) -> None:
    view = house.view()
    assert not view.search("automobile")
    assert await semantic.update() == 0
    hits = await semantic.search(view, "automobile")
    assert hits[0].path == "/memory/winter-tyres-change.md"
    assert hits[0].snippet
    assert not hits.notice


async def test_the_words_themselves_still_count(
    house: House, semantic: SemanticSearch
) -> None:
    await semantic.update()
    house.put("/memory/serial-number-of-things.md", "# Serial\n\nXK-4471-B\n")
    hits = await semantic.search(house.view(), "XK-4471-B")
    assert hits[0].path == "/memory/serial-number-of-things.md"


async def test_only_the_speaker_s_vectors_are_looked_at(
    house: House, semantic: SemanticSearch
) -> None:
    await semantic.update()
    own = await semantic.search(house.view(ALICE), "birthday")
    assert own[0].path == "/memory/users/alice/gift-for-bob.md"
    for speaker in (BOB, None):
        view = house.view(speaker) if speaker else house.view()
        hits = await semantic.search(view, "birthday")
        assert all("alice" not in hit.path for hit in hits)
        assert "book" not in repr(hits)


async def test_a_folder_limits_both_kinds_of_search(
    house: House, semantic: SemanticSearch
) -> None:
    house.put("/docs/vehicle-manual.md", "# Vehicle\n\nManual.\n")
    await semantic.update()
    hits = await semantic.search(house.view(), "automobile", "/docs")
    assert [hit.path for hit in hits] == ["/docs/vehicle-manual.md"]


async def test_vectors_follow_the_files(
    house: House, semantic: SemanticSearch, endpoint: Endpoint
) -> None:
    await semantic.update()
    calls = len(endpoint.calls)
    assert await semantic.update() == 0
    assert len(endpoint.calls) == calls
    house.put("/memory/minka-and-her-food.md", "# Nothing\n\nof interest\n")
    (house.root / "memory/winter-tyres-change.md").unlink()
    await semantic.update()
    assert sum(endpoint.calls[calls:]) == 1
    paths = [hit.path for hit in await semantic.search(house.view(), "vehicle")]
    assert "/memory/winter-tyres-change.md" not in paths


async def test_a_file_changed_since_its_vectors_shows_its_new_text(
    house: House, semantic: SemanticSearch
) -> None:
    await semantic.update()
    house.put("/memory/winter-tyres-change.md", "# Bread\n\nno longer of that\n")
    hits = await semantic.search(house.view(), "automobile")
    assert "October" not in repr(hits)


async def test_many_files_share_a_call(
    house: House, semantic: SemanticSearch, endpoint: Endpoint
) -> None:
    for number in range(100):
        house.put(f"/memory/topic-of-note-{number}.md", f"# Topic {number}\n")
    assert await semantic.update(most=10) > 90
    assert await semantic.update() == 0
    assert max(endpoint.calls) == 32
    assert len(endpoint.calls) <= 6


@pytest.mark.parametrize("trouble", ["down", "slow"])
async def test_an_endpoint_that_is_down_is_told_once(
    house: House, semantic: SemanticSearch, endpoint: Endpoint, trouble: str
) -> None:
    await semantic.update()
    setattr(endpoint, trouble, True)
    first = await semantic.search(house.view(), "hose")
    second = await semantic.search(house.view(), "hose")
    assert first[0].path == second[0].path == "/memory/hose-in-the-shed.md"
    assert "words only" in render(first, "hose", None)
    assert "words only" not in render(second, "hose", None)
    setattr(endpoint, trouble, False)
    assert (await semantic.search(house.view(), "automobile"))[
        0
    ].path == "/memory/winter-tyres-change.md"
    setattr(endpoint, trouble, True)
    assert "words only" in (await semantic.search(house.view(), "hose")).notice


async def test_damaged_vectors_are_made_anew(
    house: House, semantic: SemanticSearch
) -> None:
    await semantic.update()
    semantic.close()
    (house.root / ".index/vectors.sqlite").write_bytes(b"no database at all" * 100)
    hits = await semantic.search(house.view(), "hose")
    assert hits[0].path == "/memory/hose-in-the-shed.md"
    assert await semantic.update() == 0
    assert (await semantic.search(house.view(), "automobile"))[
        0
    ].path == "/memory/winter-tyres-change.md"


async def test_vectors_of_another_model_are_not_mixed(
    house: House, semantic: SemanticSearch, endpoint: Endpoint
) -> None:
    await semantic.update()

    async def longer(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, *vector] for vector in await endpoint(texts)]

    other = SemanticSearch(house.space, longer, "other")
    assert (await other.search(house.view(), "hose"))[
        0
    ].path == "/memory/hose-in-the-shed.md"
    await other.update()
    assert (await other.search(house.view(), "automobile"))[
        0
    ].path == "/memory/winter-tyres-change.md"


@pytest.mark.parametrize(
    "vector", [[], [0.0, 0.0, 0.0, 0.0], [float("nan")] * 4, [1.0]]
)
async def test_odd_answers_of_an_endpoint_leave_the_text_search(
    house: House, vector: list[float]
) -> None:
    async def odd(texts: Sequence[str]) -> list[list[float]]:
        return [vector for _ in texts]

    house.put("/memory/hose-in-the-shed.md", "# Hose\n\nThe hose is green.\n")
    semantic = SemanticSearch(house.space, odd, "odd")
    await semantic.update()
    assert (await semantic.search(house.view(), "hose"))[
        0
    ].path == "/memory/hose-in-the-shed.md"


def test_the_shares_are_seven_to_three() -> None:
    def row(path: str, score: float) -> Row:
        return Row(path, "", 1, 1, "", score, 0, 0)

    def near(path: str, cosine: float) -> Near:
        return Near(path, 1, 1, cosine, 0, 0)

    found = combined(
        [row("/both", 4.0), row("/text", 8.0)],
        [near("/meaning", 0.9), near("/both", 0.8), near("/none", 0.7)],
    )
    assert {one.path: round(one.score, 3) for one in found} == {
        "/meaning": 0.7,
        "/both": 0.5,
        "/text": 0.3,
        "/none": 0.0,
    }


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one line\n",
        "word " * 5000,
        "水泵" * 3000,
        "\n".join(f"line {number} of a long text" for number in range(800)),
        ("word " * 900 + "\n") * 5,
    ],
)
def test_chunks_are_of_the_stated_size_and_overlap(text: str) -> None:
    chunks = chunks_of(text)
    for chunk in chunks:
        assert tokens_of(chunk.text) <= TOKENS + 100
    for before, after in pairwise(chunks):
        assert after.start <= before.stop + 1
        assert after.stop >= before.stop
    whole = "".join(text.split())
    assert all("".join(chunk.text.split()) in whole for chunk in chunks)
    if len(chunks) > 1 and text.startswith("line"):
        shared = set(chunks[0].text.split("\n")) & set(chunks[1].text.split("\n"))
        assert OVERLAP // 2 <= tokens_of("\n".join(shared)) <= OVERLAP
    if chunks:
        assert chunks[-1].text.endswith(text.rstrip()[-20:].strip())
