"""Conversations: whole lines, read from the end, nobody else's."""

from __future__ import annotations

import json
import os

import pytest

from custom_components.mimiclaw.workspace.errors import PathRefused, WorkspaceError
from custom_components.mimiclaw.workspace.sessions import session_name
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD

from .conftest import ALICE, BOB, House


def test_the_original_firmware_s_file_is_read(house: House) -> None:
    house.put(
        "/sessions/tg_4711.jsonl",
        '{"role":"user","content":"hi","ts":1760000000}\n'
        '{"role":"assistant","content":"hello","ts":1760000002}\n',
    )
    last = house.space.sessions.last("telegram", "4711")
    assert [(m.role, m.content, m.ts) for m in last] == [
        ("user", "hi", 1760000000.0),
        ("assistant", "hello", 1760000002.0),
    ]


def test_a_line_is_what_the_original_reads(house: House) -> None:
    house.space.sessions.append(
        "telegram", "4711", "user", "水泵开", ts=5, person="alice", lang="zh"
    )
    record = json.loads(house.text("/sessions/tg_4711.jsonl"))
    assert record == {
        "role": "user",
        "content": "水泵开",
        "ts": 5,
        "person": "alice",
        "lang": "zh",
    }


def test_one_channel_cannot_claim_another_s_conversation() -> None:
    names = {
        session_name(channel, conversation)
        for channel, conversation in [
            ("telegram", "1"),
            ("assist", "1"),
            ("gateway", "1"),
            ("gateway", "tg_1"),
            ("assist", "telegram_1"),
            ("a", "b_c"),
            ("a_b", "c"),
            ("assist", "../tg_1"),
            ("assist", "/sessions/tg_1"),
            ("tele/gram", "1"),
            ("", "1"),
        ]
    }
    assert len(names) == 11


@pytest.mark.parametrize(
    "conversation",
    [
        "../../etc/passwd",
        "a/b",
        "x" * 400,
        "",
        ".",
        "..",
        "A",
        "a\0b",
        "水",
        "a b",
        "CON",
    ],
)
def test_any_id_gives_a_safe_file_name(house: House, conversation: str) -> None:
    path = session_name("assist", conversation)
    assert path.count("/") == 2
    house.space.sessions.append("assist", conversation, "user", "x")
    assert [m.content for m in house.space.sessions.last("assist", conversation)] == [
        "x"
    ]
    assert [p.name for p in (house.root / "sessions").iterdir()] == [
        path.rsplit("/", 1)[1]
    ]


def test_ids_that_differ_in_case_are_different_files() -> None:
    names = {session_name("assist", one).casefold() for one in ("abc", "ABC", "Abc")}
    assert len(names) == 3


def test_broken_lines_are_skipped_and_left(house: House) -> None:
    text = (
        '{"role":"user","content":"one","ts":1}\n'
        '{"role":"user","conte\n'
        "not json at all\n"
        "[1,2]\n"
        '{"role":5,"content":"x"}\n'
        '{"role":"assistant","content":"two","ts":"soon"}\n'
    )
    house.put("/sessions/assist_a.jsonl", text.encode() + b"\xff\xfe\n")
    assert [m.content for m in house.space.sessions.last("assist", "a")] == [
        "one",
        "two",
    ]
    house.space.sessions.append("assist", "a", "user", "three")
    assert house.text_bytes("/sessions/assist_a.jsonl").startswith(text.encode())


def test_a_torn_last_line_does_not_eat_the_next(house: House) -> None:
    house.put(
        "/sessions/assist_a.jsonl",
        '{"role":"user","content":"one","ts":1}\n{"role":"assistant","conte',
    )
    house.space.sessions.append("assist", "a", "user", "two")
    assert [m.content for m in house.space.sessions.last("assist", "a")] == [
        "one",
        "two",
    ]


def test_long_lines_and_long_histories_are_kept(house: House) -> None:
    sessions = house.space.sessions
    long = "水" * 100_000
    sessions.append("assist", "a", "user", long)
    for number in range(300):
        sessions.append("assist", "a", "assistant", f"answer {number} " + "x" * 500)
    last = sessions.last("assist", "a", 301)
    assert last[0].content == long
    assert len(last) == 301
    assert last[-1].content.startswith("answer 299")


def test_the_last_messages_are_read_from_the_end(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = json.dumps({"role": "user", "content": "x" * 1000, "ts": 1}) + "\n"
    house.put("/sessions/assist_a.jsonl", line * 20_000)
    read = 0
    real = os.read

    def counting(fd: int, count: int) -> bytes:
        nonlocal read
        data = real(fd, count)
        read += len(data)
        return data

    monkeypatch.setattr(os, "read", counting)
    assert len(house.space.sessions.last("assist", "a", 20)) == 20
    assert read < 1_000_000


def test_half_a_character_is_stored_as_a_whole_one(house: House) -> None:
    house.space.sessions.append("assist", "a", "user", "half \ud83d")
    assert house.space.sessions.last("assist", "a")[0].content == "half ?"


def test_a_summary_stands_for_the_older_part(house: House) -> None:
    sessions = house.space.sessions
    for number in range(10):
        sessions.append("assist", "a", "user", f"m{number}")
    sessions.compact("assist", "a", "ten messages about the pump", keep=3)
    for number in range(10, 12):
        sessions.append("assist", "a", "user", f"m{number}")
    last = sessions.last("assist", "a", 20)
    assert [m.content for m in last] == [
        "ten messages about the pump",
        "m7",
        "m8",
        "m9",
        "m10",
        "m11",
    ]
    assert last[0].role == "summary"
    short = sessions.last("assist", "a", 2)
    assert [m.content for m in short] == ["ten messages about the pump", "m10", "m11"]
    text = house.text("/sessions/assist_a.jsonl")
    assert all(f'"m{number}"' in text for number in range(12))


def test_the_newest_summary_counts(house: House) -> None:
    sessions = house.space.sessions
    for number in range(6):
        sessions.append("assist", "a", "user", f"m{number}")
        sessions.compact("assist", "a", f"until {number}", keep=1)
    assert [m.content for m in sessions.last("assist", "a")] == ["until 5", "m5"]


def test_tool_lines_are_kept_but_are_no_speech(house: House) -> None:
    sessions = house.space.sessions
    sessions.append("assist", "a", "user", "q")
    sessions.append("assist", "a", "tool", "r", tool="read_file")
    assert [m.role for m in sessions.last("assist", "a")] == ["user"]
    both = sessions.last("assist", "a", roles=("user", "tool"))
    assert both[1].extra == {"tool": "read_file"}


def test_a_session_is_its_speaker_s(house: House) -> None:
    sessions = house.space.sessions
    sessions.append("telegram", "1", "user", "my secret", person="alice")
    sessions.append("assist", "k", "user", "light on", person=None)
    own = session_name("telegram", "1")
    assert "my secret" in house.view(ALICE).read(own).text
    for other in (BOB, HOUSEHOLD):
        with pytest.raises(PathRefused):
            house.view(other).read(own)
        assert [e.name for e in house.view(other).list("/sessions")] == [
            "assist_k.jsonl"
        ]
        assert sessions.last("telegram", "1", speaker=other) == []
    assert "light on" in house.view(BOB).read(session_name("assist", "k")).text


def test_lines_without_an_owner_are_seen_in_their_own_conversation_only(
    house: House,
) -> None:
    house.put("/sessions/tg_9.jsonl", '{"role":"user","content":"old","ts":1}\n')
    own = session_name("telegram", "9")
    assert "old" in house.view(ALICE, session=own).read(own).text
    with pytest.raises(PathRefused):
        house.view(ALICE).read(own)


def test_a_shared_conversation_shows_each_person_their_own_lines(
    house: House,
) -> None:
    sessions = house.space.sessions
    sessions.append("assist", "k", "user", "from alice", person="alice")
    sessions.append("assist", "k", "user", "from bob", person="bob")
    text = house.view(BOB).read(session_name("assist", "k")).text
    assert "from bob" in text
    assert "alice" not in text


def test_a_session_deleted_or_spoiled_while_running_stops_nothing(
    house: House,
) -> None:
    sessions = house.space.sessions
    sessions.append("assist", "a", "user", "one")
    (house.root / "sessions/assist_a.jsonl").unlink()
    assert sessions.last("assist", "a") == []
    sessions.append("assist", "a", "user", "two")
    assert [m.content for m in sessions.last("assist", "a")] == ["two"]
    house.put("/sessions/assist_a.jsonl", b"\0" * 5000)
    assert sessions.last("assist", "a") == []
    sessions.append("assist", "a", "user", "three")
    assert [m.content for m in sessions.last("assist", "a")] == ["three"]
    (house.root / "sessions/assist_b.jsonl").mkdir()
    with pytest.raises(WorkspaceError):
        sessions.append("assist", "b", "user", "x")
