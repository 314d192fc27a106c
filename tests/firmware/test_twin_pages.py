"""A satellite with forty channels describes itself in pages that fit a message."""

from __future__ import annotations

import json

from scripts.house.twin import Twin, build_twin

from .conftest import NODES, Client

# The plain-text and the encrypted frame both end at 64 KB; a page keeps well below.
FRAME_BYTES = 32 * 1024


async def test_forty_channels_in_pages(loopback: None) -> None:
    program = build_twin(NODES / "many.yaml", log=lambda _: None)
    with Twin(program) as twin:
        client = await Client(twin).connect()
        first = await client.action("mimiclaw_describe")
        assert first["page"] == 0
        assert first["pages"] > 1
        found = list(first["channels"])
        for page in range(1, first["pages"]):
            answer = await client.action("mimiclaw_describe_page", page=page)
            assert len(json.dumps(answer, ensure_ascii=False).encode()) < FRAME_BYTES
            found += answer["channels"]
        assert [channel["id"] for channel in found] == [f"relay_{i}" for i in range(40)]
        assert await client.action("mimiclaw_describe_page", page=0) == first
        for page in (-1, first["pages"], 2**31 - 1):
            assert (await client.action("mimiclaw_describe_page", page=page))[
                "channels"
            ] == []
        assert (await client.write("relay_39", "on"))["state"] is True
        assert twin.control("read relay_39")["on"]
        await client.close()
