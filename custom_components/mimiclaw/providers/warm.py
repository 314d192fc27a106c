"""An SDK's first request, made in a worker thread against nobody.

The SDKs build their models of requests and events at first use, which takes a tenth of
a second or more: on the event loop that would be a stutter in the whole house in the
middle of somebody's first question.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from threading import Lock
from typing import Any, Final

_ANTHROPIC: Final = """\
event: message_start
data: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant",\
"model":"m","content":[],"stop_reason":null,"stop_sequence":null,\
"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,\
"content_block":{"type":"tool_use","id":"t","name":"n","input":{}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},\
"usage":{"output_tokens":1}}

event: message_stop
data: {"type":"message_stop"}

"""

_CHAT: Final = """\
data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":\
[{"index":0,"delta":{"content":"a","tool_calls":[{"index":0,"id":"t","type":"function",\
"function":{"name":"n","arguments":""}}]},"finish_reason":"stop"}],\
"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}

data: [DONE]

"""

_RESPONSES: Final = """\
event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"sequence_number":0,\
"item":{"type":"function_call","id":"f","call_id":"c","name":"n","arguments":""}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","item_id":"i","output_index":1,\
"content_index":0,"delta":"a","logprobs":[],"sequence_number":1}

event: response.completed
data: {"type":"response.completed","sequence_number":2,"response":{"id":"r",\
"object":"response","created_at":1,"status":"completed","model":"m","output":[],\
"tools":[],"tool_choice":"auto","parallel_tool_calls":true,"usage":{"input_tokens":1,\
"input_tokens_details":{"cached_tokens":0},"output_tokens":1,\
"output_tokens_details":{"reasoning_tokens":0},"total_tokens":2}}}

"""

_SCHEMA: Final = {"type": "object", "properties": {}}

_warmed: set[str] = set()
_lock = Lock()


def warm(kind: str, sdk: Any) -> None:
    """Let an SDK build what it builds at first use. Runs in a worker thread.

    A failure here costs a stutter later and nothing else, so it is not told.
    """
    with _lock:
        if kind in _warmed:
            return
        _warmed.add(kind)
        with contextlib.suppress(Exception):
            asyncio.run(_warm(kind, sdk))


async def _warm(kind: str, sdk: Any) -> None:
    # What a real connection loads, and one to nobody does not.
    import anyio.lowlevel

    await anyio.lowlevel.checkpoint()
    if kind == "anthropic":
        await _anthropic(sdk)
    else:
        await _openai(sdk)


def _answering(sdk: Any, factory: Any, stream: str) -> Any:
    """Return an SDK client whose every request is answered with this stream."""
    # The HTTP package the SDK runs on: httpx for some releases, httpx2 for others.
    base = next(
        c for c in sdk.DefaultAsyncHttpxClient.__mro__ if c.__name__ == "AsyncClient"
    )
    http = sys.modules[base.__module__.partition(".")[0]]

    def answer(_: Any) -> Any:
        headers = {"content-type": "text/event-stream"}
        return http.Response(200, headers=headers, content=stream.encode())

    return factory(
        api_key="none",
        base_url="http://localhost",
        http_client=http.AsyncClient(transport=http.MockTransport(answer)),
    )


async def _anthropic(sdk: Any) -> None:
    client = _answering(sdk, sdk.AsyncAnthropic, _ANTHROPIC)
    mark = {"type": "ephemeral"}
    text = {"type": "text", "text": "a", "cache_control": mark}
    call = {"type": "tool_use", "id": "t", "name": "n", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "a"}
    async with client:
        stream = await client.messages.create(
            model="m",
            max_tokens=1,
            stream=True,
            system=[text],
            messages=[
                {"role": "user", "content": [text]},
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [result]},
            ],
            tools=[{"name": "n", "description": "a", "input_schema": _SCHEMA}],
            tool_choice={"type": "auto"},
        )
        async for _ in stream:
            pass


async def _openai(sdk: Any) -> None:
    function = {"name": "n", "description": "a", "parameters": _SCHEMA}
    async with _answering(sdk, sdk.AsyncOpenAI, _CHAT) as client:
        stream = await client.chat.completions.create(
            model="m",
            max_tokens=1,
            stream=True,
            stream_options={"include_usage": True},
            prompt_cache_key="a",
            messages=[
                {"role": "system", "content": "a"},
                {"role": "user", "content": "a"},
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {
                            "id": "t",
                            "type": "function",
                            "function": {"name": "n", "arguments": "{}"},
                        }
                    ],
                },
                {"role": "tool", "tool_call_id": "t", "content": "a"},
            ],
            tools=[{"type": "function", "function": function}],
        )
        async for _ in stream:
            pass
    async with _answering(sdk, sdk.AsyncOpenAI, _RESPONSES) as client:
        stream = await client.responses.create(
            model="m",
            max_output_tokens=16,
            stream=True,
            store=False,
            include=["reasoning.encrypted_content"],
            instructions="a",
            input=[
                {"role": "user", "content": [{"type": "input_text", "text": "a"}]},
                {
                    "type": "function_call",
                    "call_id": "c",
                    "name": "n",
                    "arguments": "{}",
                },
                {"type": "function_call_output", "call_id": "c", "output": "a"},
            ],
            tools=[{"type": "function", **function, "strict": False}],
            tool_choice="auto",
        )
        async for _ in stream:
            pass
