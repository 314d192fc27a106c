"""Run in a fresh process: makes providers, asks once, and prints who imported what.

Takes the kind of provider, so that one SDK cannot warm the other up.

Prints one JSON object: modules the main thread loaded while providers were made, and
modules anybody loaded during the first requests.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from typing import Any

import aiohttp

from custom_components.mimiclaw.providers.factory import create
from custom_components.mimiclaw.providers.protocol import (
    ProviderConfig,
    Request,
    SystemPart,
    ToolSpec,
    UserMessage,
)
from tests.providers.wire.anthropic_server import AnthropicServer
from tests.providers.wire.openai_server import OpenAIServer
from tests.providers.wire.reply import Call, Reply

TOOL = ToolSpec("look", "Looks.", {"type": "object", "properties": {"a": {}}})


class Witness:
    """A finder that finds nothing and remembers who asked."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bool]] = []

    def find_spec(self, name: str, *_: Any) -> None:
        on_main = threading.current_thread() is threading.main_thread()
        self.seen.append((name, on_main))


async def main() -> None:
    made: list[str] = []
    asked: list[str] = []
    witness = Witness()
    # The worker threads' own module belongs to nobody.
    await asyncio.to_thread(int)
    for kind, wire, server in (
        ("anthropic", "auto", AnthropicServer()),
        ("openai", "chat", OpenAIServer()),
        ("openai", "responses", OpenAIServer()),
    ):
        if kind != sys.argv[1]:
            continue
        server.script.append(Reply(text="Hello", calls=(Call("look", {"a": 1}),)))
        async with server, aiohttp.ClientSession() as session:
            # The server's own first request is not what is looked at.
            await (await session.get(f"{server.url}/v1/models")).read()
            base = server.url if kind == "anthropic" else f"{server.url}/v1"
            config = ProviderConfig(kind, "T", "m", "sk-0123456789", base, wire=wire)  # type: ignore[arg-type]
            sys.meta_path.insert(0, witness)
            provider = await create(config)
            made += [name for name, on_main in witness.seen if on_main]
            witness.seen.clear()
            before = set(sys.modules)
            request = Request((SystemPart("Be."),), (UserMessage("Hi"),), (TOOL,))
            events = [event async for event in provider.stream(request)]
            assert len(events) > 3
            asked += sorted(set(sys.modules) - before)
            sys.meta_path.remove(witness)
            await provider.aclose()
    print(json.dumps({"made": made, "asked": asked}))


asyncio.run(main())
