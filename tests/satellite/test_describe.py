"""What a device says is believed only as far as it fits."""

from __future__ import annotations

from dataclasses import replace
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
import pytest

from custom_components.mimiclaw.satellite.describe import (
    dump_description,
    page_count,
    parse_description,
    parse_json,
    parse_outcome,
    parse_states,
)
from custom_components.mimiclaw.satellite.errors import LinkError, Trouble
from custom_components.mimiclaw.satellite.model import Channel, ChannelKind, Code

RELAY = {"id": "pump", "name": "Pump", "kind": "relay", "state": False}
CHANNEL = Channel("sub/pump", "sub", "House", "pump", "Pump", ChannelKind.RELAY)

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
    ),
    max_leaves=12,
)


def _described(**channel: Any) -> dict[str, Any]:
    return {"v": 1, "name": "node", "channels": [{**RELAY, **channel}]}


@given(st.dictionaries(st.text(), anything) | st.builds(_described, kind=anything))
def test_nonsense_is_an_error_and_never_a_crash(data: dict[str, Any]) -> None:
    troubles: list[Trouble] = []
    try:
        parse_description(data)
        page_count(data)
    except LinkError as err:
        troubles.append(err.trouble)
    assert set(troubles) <= {Trouble.VERSION, Trouble.BAD_ANSWER}
    parse_outcome(data, CHANNEL)


@given(
    st.dictionaries(
        st.sampled_from(
            ["names", "actors", "unit", "pin", "max_on_ms", "key", "confirm"]
        ),
        anything,
    )
)
def test_odd_details_do_not_lose_the_channel(details: dict[str, Any]) -> None:
    described = parse_description(_described(**details))
    channel = described.channels[0]
    assert channel.id == "pump"
    assert 0 <= channel.max_on_ms < 2**32
    again = parse_description(json.loads(json.dumps(dump_description(described))))
    assert again == described


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        ({"v": 2, "channels": []}, Trouble.VERSION),
        ({"v": 1, "channels": None}, Trouble.BAD_ANSWER),
        ({"v": 1, "channels": [RELAY, RELAY]}, Trouble.BAD_ANSWER),
        ({"v": 1, "channels": [{**RELAY, "id": "../pump"}]}, Trouble.BAD_ANSWER),
        ({"v": 1, "channels": [RELAY] * 65}, Trouble.BAD_ANSWER),
    ],
)
def test_what_cannot_be_used_is_refused(data: dict[str, Any], trouble: Trouble) -> None:
    with pytest.raises(LinkError) as caught:
        parse_description(data)
    assert caught.value.trouble is trouble


def test_only_an_ok_with_an_ok_code_is_a_success() -> None:
    assert parse_outcome({"ok": True, "code": "ok", "state": True}, CHANNEL).ok
    assert not parse_outcome({"ok": True, "code": "min_on"}, CHANNEL).ok
    assert not parse_outcome({"ok": True, "code": "quite new"}, CHANNEL).ok
    assert (
        parse_outcome({"ok": False, "code": "quite new"}, CHANNEL).code is Code.FAILED
    )
    assert not parse_outcome({}, CHANNEL).ok
    refused = {"ok": False, "code": "interlock", "other": "gate"}
    assert parse_outcome(refused, CHANNEL).other == "sub/gate"


def test_states_and_numbers() -> None:
    states = parse_states(
        {
            "channels": [
                {"id": "a", "state": True, "value": None},
                {"id": "b", "state": None, "value": 4},
                {"id": "c", "state": 1, "value": float("nan")},
                "d",
            ]
        }
    )
    assert (states["a"].state, states["a"].value) == (True, None)
    assert (states["b"].state, states["b"].value) == (None, 4.0)
    assert (states["c"].state, states["c"].value) == (None, None)


def test_json_that_is_none() -> None:
    for text in (b"", b"{", b"[]", b"null", b"\xff"):
        with pytest.raises(LinkError):
            parse_json(text)


def test_channels_compare_by_what_they_are() -> None:
    assert replace(CHANNEL, name="Other") != CHANNEL
