"""Read what a device says, believing no more of it than fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
import json
import math
import re
from typing import Any

from .errors import LinkError, Trouble
from .limits import MAX_CHANNELS, MAX_LANGUAGES, MAX_NAME_CHARS, MAX_NAMES
from .model import Channel, ChannelKind, ChannelState, Code, Description, Outcome

#: The description's version this code reads.
VERSION = 1

_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_CODES = {code.value: code for code in Code}
#: The widest number the firmware has, in milliseconds.
_MOST_MS = 2**32 - 1


def parse_json(text: bytes | str) -> Mapping[str, Any]:
    """Return a JSON object; raises LinkError when the text is none."""
    try:
        data = json.loads(text)
    except ValueError as err:
        raise LinkError(Trouble.BAD_ANSWER, "an answer is not JSON") from err
    if not isinstance(data, dict):
        raise LinkError(Trouble.BAD_ANSWER, "an answer is not a JSON object")
    return data


def join_pages(pages: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one description from its pages; raises LinkError if one is odd."""
    channels: list[Any] = []
    for page in pages:
        listed = page.get("channels")
        if not isinstance(listed, list):
            raise LinkError(Trouble.BAD_ANSWER, "no list of channels")
        channels += listed
    return {**pages[0], "channels": channels}


def page_count(data: Mapping[str, Any]) -> int:
    """Return how many pages the description has; a page holds a channel at least."""
    pages = data.get("pages", 1)
    if not isinstance(pages, int) or not 1 <= pages <= MAX_CHANNELS:
        raise LinkError(Trouble.BAD_ANSWER, f"{pages!r:.20} pages")
    return pages


def parse_description(data: Mapping[str, Any]) -> Description:
    """Return the device's description; raises LinkError when it cannot be used."""
    version = data.get("v")
    if version != VERSION:
        raise LinkError(Trouble.VERSION, f"description version {version!r}")
    raw = data.get("channels")
    if not isinstance(raw, list) or len(raw) > MAX_CHANNELS:
        raise LinkError(Trouble.BAD_ANSWER, "no list of channels")
    channels = tuple(_channel(item) for item in raw)
    if len({channel.id for channel in channels}) != len(channels):
        raise LinkError(Trouble.BAD_ANSWER, "two channels of one id")
    node = _text(data.get("name"))
    return Description(
        node=node,
        friendly_name=_text(data.get("friendly_name")) or node,
        project=_text(data.get("project")),
        version=_text(data.get("version")),
        mac=_text(data.get("mac")).lower(),
        link_timeout_ms=_ms(data.get("link_timeout_ms")),
        channels=channels,
        link_keep=data.get("link_loss") == "keep",
    )


def dump_description(description: Description) -> dict[str, Any]:
    """Return it in the device's own form, so that it can be kept and parsed again."""
    return {
        "v": VERSION,
        "name": description.node,
        "friendly_name": description.friendly_name,
        "project": description.project,
        "version": description.version,
        "mac": description.mac,
        "link_timeout_ms": description.link_timeout_ms,
        "link_loss": "keep" if description.link_keep else "safe",
        "channels": [_dump_channel(channel) for channel in description.channels],
    }


def parse_states(data: Mapping[str, Any]) -> dict[str, ChannelState]:
    """Return the state of each channel as a description carries it."""
    return {
        item["id"]: _state(item)
        for item in data.get("channels", ())
        if isinstance(item, dict) and isinstance(item.get("id"), str)
    }


def parse_outcome(data: Mapping[str, Any], channel: Channel) -> Outcome:
    """Return what an answer means; an unknown reason is a failure, never a success."""
    code = _CODES.get(str(data.get("code")), Code.FAILED)
    known = _state(data)
    other = _text(data.get("other"))
    return Outcome(
        ok=data.get("ok") is True and code is Code.OK,
        code=code,
        channel=channel.key,
        state=known.state,
        value=known.value,
        wait_ms=_ms(data.get("wait_ms")),
        limit_ms=_ms(data.get("limit_ms")),
        other=f"{channel.satellite}/{other}" if other else "",
        deadline_ms=_ms(data.get("deadline_ms")),
    )


def placed(channel: Channel, subentry_id: str, satellite_name: str) -> Channel:
    """Return the channel as one of this satellite's."""
    return replace(
        channel,
        key=f"{subentry_id}/{channel.id}",
        satellite=subentry_id,
        satellite_name=satellite_name,
    )


def _channel(item: object) -> Channel:
    if not isinstance(item, dict):
        raise LinkError(Trouble.BAD_ANSWER, "a channel is not an object")
    channel_id = item.get("id")
    if not isinstance(channel_id, str) or not _ID.fullmatch(channel_id):
        raise LinkError(Trouble.BAD_ANSWER, f"channel id {channel_id!r:.80}")
    try:
        kind = ChannelKind(str(item.get("kind")))
    except ValueError as err:
        raise LinkError(Trouble.BAD_ANSWER, f"channel {channel_id}: kind") from err
    actors = item.get("actors")
    return Channel(
        key=channel_id,
        satellite="",
        satellite_name="",
        id=channel_id,
        name=_text(item.get("name")) or channel_id,
        kind=kind,
        names=_names(item.get("names")),
        momentary_ms=_ms(item.get("momentary_ms")),
        max_on_ms=_ms(item.get("max_on_ms")),
        min_on_ms=_ms(item.get("min_on_ms")),
        min_off_ms=_ms(item.get("min_off_ms")),
        interlock=_text(item.get("interlock")),
        actors=frozenset(map(_text, actors))
        if isinstance(actors, list)
        else frozenset(),
        confirm=item.get("confirm") is True,
        safe=item.get("safe") is True,
        restore=item.get("restore") is True,
        unit=_text(item.get("unit")) or None,
        device_class=_text(item.get("device_class")) or None,
        pin=_int(item.get("pin")),
        entity_key=_int(item.get("key")),
    )


def _dump_channel(channel: Channel) -> dict[str, Any]:
    return {
        "id": channel.id,
        "name": channel.name,
        "kind": channel.kind.value,
        "names": {code: list(names) for code, names in channel.names.items()},
        "momentary_ms": channel.momentary_ms,
        "max_on_ms": channel.max_on_ms,
        "min_on_ms": channel.min_on_ms,
        "min_off_ms": channel.min_off_ms,
        "interlock": channel.interlock,
        "actors": sorted(channel.actors),
        "confirm": channel.confirm,
        "safe": channel.safe,
        "restore": channel.restore,
        "unit": channel.unit,
        "device_class": channel.device_class,
        "pin": channel.pin,
        "key": channel.entity_key,
    }


def _names(raw: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(raw, dict):
        return {}
    names: dict[str, tuple[str, ...]] = {}
    for language, listed in list(raw.items())[:MAX_LANGUAGES]:
        if not isinstance(listed, list):
            continue
        texts = tuple(text for text in map(_text, listed[:MAX_NAMES]) if text)
        if texts:
            names[_text(language)] = texts
    return names


def _state(item: Mapping[str, Any]) -> ChannelState:
    state = item.get("state")
    value = item.get("value")
    number = (
        float(value)
        if isinstance(value, int | float) and not isinstance(value, bool)
        else None
    )
    return ChannelState(
        state=state if isinstance(state, bool) else None,
        value=number if number is not None and math.isfinite(number) else None,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return "".join(c for c in value if c.isprintable()).strip()[:MAX_NAME_CHARS]


def _int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _ms(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return min(max(value, 0), _MOST_MS)
