"""The model of the turn bench, in a process of its own so that it costs ours nothing.

A message with the word "file" is answered with a call of read_file, then with text;
any other with text. Both wire formats listen; their addresses are printed.
"""

from __future__ import annotations

import asyncio
from typing import Any

from tests.providers.wire.anthropic_server import AnthropicServer
from tests.providers.wire.openai_server import OpenAIServer
from tests.providers.wire.reply import Call, Reply
from tests.providers.wire.server import WireServer

TEXT = "The boiler was serviced on 3 March, and everything is in order."


def answer(server: WireServer, body: dict[str, Any]) -> Reply:
    """Return the reply to one request."""
    words = server.last_words(body)
    names = [
        tool.get("name") or tool.get("function", {}).get("name")
        for tool in body.get("tools", ())
    ]
    if words.endswith("file") and "read_file" in names:
        return Reply(
            calls=(Call("read_file", {"path": "/memory/MEMORY.md"}, "call_1"),)
        )
    return Reply(text=TEXT)


async def main() -> None:
    """Serve until the process is ended."""
    for made in (AnthropicServer(), OpenAIServer()):
        made.answer = lambda body, server=made: answer(server, body)  # type: ignore[misc]
        await made.start()
        print(made.url, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
