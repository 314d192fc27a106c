"""The web, for models whose provider does not search it."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest

from custom_components.mimiclaw.providers import web_search
from custom_components.mimiclaw.providers.protocol import (
    ErrorKind,
    Native,
    ProviderError,
    ToolCall,
    ToolSpec,
)
from custom_components.mimiclaw.providers.web_search import SearchConfig, WebSearch

from .conftest import KEY, WEATHER, Maker, ask, collect, text_of
from .wire.reply import Reply
from .wire.search_server import SearchServer

FOUND = [
    (
        "Boiler <b>care</b>",
        "https://a.example/1",
        "Every &amp; <strong>year</strong>\n  or so",
    ),
    ("Odd", "javascript:alert(1)", "x"),
    *[
        (f"More {number}", f"https://a.example/{number}", "y" * 2000)
        for number in range(9)
    ],
]

ENGINES = pytest.mark.parametrize("kind", ["brave", "tavily", "searxng"])


async def find(
    server: SearchServer, kind: Any, query: str = "boiler", key: str = KEY
) -> str:
    async with aiohttp.ClientSession() as session:
        search = WebSearch(SearchConfig(kind, key, server.url), session)
        return await search.search(query, "de-AT")


@ENGINES
async def test_what_is_found(kind: str) -> None:
    async with SearchServer(FOUND, key=KEY) as server:
        text = await find(server, kind)
    assert "1. Boiler care\nhttps://a.example/1\nEvery & year or so" in text
    assert "javascript" not in text
    assert "5. " in text
    assert "6. " not in text
    assert len(text) < 8000
    assert text.startswith("Found on the web")


@ENGINES
async def test_nothing_is_found(kind: str) -> None:
    async with SearchServer(key=KEY) as server:
        assert "found nothing for 'boiler'" in await find(server, kind)
        assert "found nothing" in await find(server, kind, "  ")
    assert len(server.seen) == 1


@ENGINES
async def test_what_is_asked(kind: str) -> None:
    async with SearchServer(key=KEY) as server:
        await find(server, kind, " a\n b " + "c" * 1000)
    (asked,) = server.seen
    query = asked.get("q") or asked["query"]
    assert query.startswith("a b ccc")
    assert len(query) == 400
    if kind == "searxng":
        assert asked["language"] == "de"


@pytest.mark.parametrize(
    ("status", "error"),
    [(402, ErrorKind.QUOTA), (429, ErrorKind.RATE), (500, ErrorKind.OVERLOAD)],
)
@ENGINES
async def test_refusals(kind: str, status: int, error: ErrorKind) -> None:
    async with SearchServer(
        key=KEY, status=status, body=f"no {KEY}".encode()
    ) as server:
        with pytest.raises(ProviderError) as caught:
            await find(server, kind)
    assert caught.value.kind is error
    assert caught.value.status == status
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("kind", ["brave", "tavily"])
async def test_a_wrong_key_is_told_without_it(kind: str) -> None:
    async with SearchServer(key=KEY) as server:
        with pytest.raises(ProviderError) as caught:
            await find(server, kind, key="tvly-0123456789")
    assert caught.value.kind is ErrorKind.KEY
    assert "0123456789" not in str(caught.value)


async def test_searxng_without_json_says_what_to_do() -> None:
    async with SearchServer(key=KEY, status=403) as server:
        with pytest.raises(ProviderError) as caught:
            await find(server, "searxng")
    assert caught.value.kind is ErrorKind.BAD_REQUEST
    assert "search.formats" in caught.value.detail


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b'{"web": 3, "results": 3}', b"x" * 1_000_001]
)
@ENGINES
async def test_answers_that_are_none(kind: str, body: bytes) -> None:
    async with SearchServer(key=KEY, body=body) as server:
        with pytest.raises(ProviderError) as caught:
            await find(server, kind)
    assert caught.value.kind is ErrorKind.MALFORMED


@ENGINES
async def test_nobody_answers(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_search, "_DEADLINE_S", 0.1)
    async with SearchServer(hang=True) as server:
        with pytest.raises(ProviderError) as caught:
            await find(server, kind)
        assert caught.value.kind is ErrorKind.TIMEOUT
    with pytest.raises(ProviderError) as caught:
        await find(server, kind)
    assert caught.value.kind is ErrorKind.NETWORK


def test_a_repr_has_no_key() -> None:
    assert KEY not in repr(SearchConfig("brave", KEY))


OWN = ToolSpec("web_search", "Searches.", {"type": "object", "properties": {}})


async def test_the_providers_own_search_replaces_ours(make: Maker) -> None:
    for wire in ("anthropic", "responses"):
        server, provider = await make(wire, config={"web_search": True})
        await collect(provider, ask(tools=(OWN, WEATHER)))
        tools = server.asked[-1]["tools"]
        assert [tool["type"] for tool in tools if "web_search" in tool.get("type", "")]
        assert not [
            tool
            for tool in tools
            if tool.get("name") == "web_search"
            and "web_search" not in tool.get("type", "")
        ]


async def test_ours_comes_back_where_the_model_has_none(make: Maker) -> None:
    refusal = Reply(
        status=400, error=("invalid_request_error", "web_search is not supported")
    )
    for wire in ("anthropic", "responses"):
        server, provider = await make(wire, refusal, config={"web_search": True})
        await collect(provider, ask(tools=(OWN, WEATHER)))
        names = [tool.get("name") for tool in server.asked[-1]["tools"]]
        assert names == ["web_search", "get_weather"]


async def test_a_search_of_the_providers_own_goes_back_to_it(make: Maker) -> None:
    """The pause in the middle is taken up again, and no call of ours is made of it."""
    search = [
        {
            "type": "content_block_start",
            "index": 5,
            "content_block": {
                "type": "server_tool_use",
                "id": "srvtoolu_1",
                "name": "web_search",
                "input": {},
            },
        },
        {
            "type": "content_block_delta",
            "index": 5,
            "delta": {
                "type": "input_json_delta",
                "partial_json": '{"query": "boiler"}',
            },
        },
        {"type": "content_block_stop", "index": 5},
        {
            "type": "content_block_start",
            "index": 6,
            "content_block": {
                "type": "web_search_tool_result",
                "tool_use_id": "srvtoolu_1",
                "content": [
                    {
                        "type": "web_search_result",
                        "url": "https://a.example",
                        "title": "A",
                        "encrypted_content": "sealed==",
                        "page_age": None,
                    }
                ],
            },
        },
        {"type": "content_block_stop", "index": 6},
    ]
    server, provider = await make(
        "anthropic",
        Reply(text="I look it up. ", extra=tuple(search), stop="pause_turn"),
        Reply(text="Every year."),
        config={"web_search": True},
    )
    events = await collect(provider, ask(tools=(WEATHER,)))
    assert text_of(events) == "I look it up. Every year."
    assert not [event for event in events if isinstance(event, ToolCall)]
    (native,) = [event for event in events if isinstance(event, Native)]
    kinds = [block["type"] for block in native.blocks]
    assert kinds == ["text", "server_tool_use", "web_search_tool_result", "text"]
    assert native.blocks[1]["input"] == {"query": "boiler"}
    sent = server.asked[1]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant"]
    assert sent[1]["content"][2]["content"][0]["encrypted_content"] == "sealed=="
