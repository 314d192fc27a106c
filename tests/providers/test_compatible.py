"""Servers that know only a part of an API, or have their own idea of it."""

from __future__ import annotations

from typing import Any

import pytest

from custom_components.mimiclaw.providers.protocol import (
    AssistantMessage,
    ErrorKind,
    Image,
    ProviderError,
    Stop,
    StopReason,
    SystemPart,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

from .conftest import WEATHER, Maker, ask, collect, text_of
from .wire.reply import Reply
from .wire.server import sse


@pytest.mark.parametrize(
    ("wire", "fields"),
    [
        ("chat", ["prompt_cache_key"]),
        ("chat", ["stream_options"]),
        ("chat", ["prompt_cache_key", "stream_options", "reasoning_effort"]),
        ("responses", ["include", "store", "reasoning", "prompt_cache_key"]),
        ("anthropic", ["thinking"]),
        ("anthropic", ["thinking", "output_config"]),
    ],
)
async def test_what_a_server_does_not_know_is_left_out_for_good(
    make: Maker, wire: str, fields: list[str]
) -> None:
    server, provider = await make(wire, refuses=fields, config={"thinking": "low"})
    assert text_of(await collect(provider, ask())) == "You said: Hello"
    tried = len(server.asked)
    assert tried > 1
    await collect(provider, ask("Again"))
    assert len(server.asked) == tried + 1
    assert not set(fields) & server.asked[-1].keys()


async def test_the_name_of_the_limit_follows_the_server(make: Maker) -> None:
    refusal = Reply(
        status=400,
        error=(
            "unsupported_parameter",
            "'max_tokens' is not supported here. Use 'max_completion_tokens' instead.",
        ),
    )
    server, provider = await make("chat", refusal)
    await collect(provider, ask(max_output_tokens=77))
    await collect(provider, ask(max_output_tokens=78))
    assert server.asked[0]["max_tokens"] == 77
    assert server.asked[1]["max_completion_tokens"] == 77
    assert server.asked[2]["max_completion_tokens"] == 78
    assert "max_tokens" not in server.asked[2]


async def test_older_models_think_in_the_older_way(make: Maker) -> None:
    refusal = Reply(
        status=400,
        error=("invalid_request_error", "thinking.type: adaptive is not supported"),
    )
    server, provider = await make("anthropic", refusal, config={"thinking": "low"})
    await collect(provider, ask(max_output_tokens=100))
    assert server.asked[0]["thinking"]["type"] == "adaptive"
    assert server.asked[1]["thinking"] == {"type": "enabled", "budget_tokens": 1024}
    assert server.asked[1]["max_tokens"] > 1024


async def test_the_path_follows_the_server(make: Maker) -> None:
    """A server with both is asked in chat completions; one without, in Responses."""
    server, provider = await make("both")
    await collect(provider, ask())
    assert server.requests[-1].path == "/v1/chat/completions"
    server, provider = await make("responses")
    for _ in range(2):
        assert text_of(await collect(provider, ask())) == "You said: Hello"
    assert [seen.path for seen in server.requests] == [
        "/v1/chat/completions",
        "/v1/responses",
        "/v1/responses",
    ]


async def test_a_path_can_be_chosen(make: Maker) -> None:
    server, provider = await make("both", config={"wire": "responses"})
    await collect(provider, ask())
    assert [seen.path for seen in server.requests] == ["/v1/responses"]


async def test_a_model_only_for_the_other_path(make: Maker) -> None:
    refusal = Reply(
        status=404,
        error=(
            "invalid_request_error",
            "This model is only supported in v1/responses.",
        ),
    )
    server, provider = await make("both", refusal, Reply(text="Yes."))
    assert text_of(await collect(provider, ask())) == "Yes."
    assert server.requests[-1].path == "/v1/responses"


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    return sse({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def stream(*chunks: bytes) -> Reply:
    page = b"".join(chunks) + b"data: [DONE]\n\n"
    return Reply(page=page, content_type="text/event-stream")


def call(**fields: Any) -> dict[str, Any]:
    return {"tool_calls": [fields]}


@pytest.mark.parametrize(
    "deltas",
    [
        # At once, without id and index, arguments as an object.
        [call(function={"name": "get_weather", "arguments": {"city": "Bonn"}})],
        # The name with every piece.
        [
            call(
                index=0, id="1", function={"name": "get_weather", "arguments": '{"ci'}
            ),
            call(
                index=0, function={"name": "get_weather", "arguments": 'ty": "Bonn"}'}
            ),
        ],
        # The name in pieces.
        [
            call(index=0, id="1", function={"name": "get_", "arguments": ""}),
            call(
                index=0, function={"name": "weather", "arguments": '{"city": "Bonn"}'}
            ),
        ],
        # JSON in a JSON string.
        [
            call(
                index=0,
                id="1",
                function={
                    "name": "get_weather",
                    "arguments": '"{\\"city\\": \\"Bonn\\"}"',
                },
            )
        ],
        # Pieces of the arguments that say nothing but themselves.
        [
            call(index=0, id="1", type="function", function={"name": "get_weather"}),
            call(index=0, function={"arguments": '{"city": '}),
            call(index=0, id="", function={"arguments": '"Bonn"}'}),
        ],
    ],
)
async def test_dialects_of_a_tool_call(make: Maker, deltas: list[Any]) -> None:
    chunks = [chunk(delta) for delta in deltas]
    _, provider = await make("chat", stream(*chunks, chunk({}, "tool_calls")))
    events = await collect(provider, ask(tools=(WEATHER,)))
    (found,) = [event for event in events if isinstance(event, ToolCall)]
    assert found.name == "get_weather"
    assert found.arguments == {"city": "Bonn"}
    assert found.call_id


async def test_two_calls_that_share_a_number(make: Maker) -> None:
    function = {"name": "get_weather", "arguments": "{}"}
    _, provider = await make(
        "chat",
        stream(
            chunk(call(index=0, id="a", function=function)),
            chunk(call(index=0, id="b", function=function)),
            chunk({}, "stop"),
        ),
    )
    events = await collect(provider, ask(tools=(WEATHER,)))
    assert [e.call_id for e in events if isinstance(e, ToolCall)] == ["a", "b"]


async def test_two_calls_without_ids_get_different_ones(make: Maker) -> None:
    function = {"name": "get_weather", "arguments": "{}"}
    both = {"tool_calls": [{"function": function}, {"function": function}]}
    _, provider = await make("chat", stream(chunk(both), chunk({}, "tool_calls")))
    events = await collect(provider, ask(tools=(WEATHER,)))
    ids = [event.call_id for event in events if isinstance(event, ToolCall)]
    assert len(set(ids)) == 2


@pytest.mark.parametrize("size", [1, 2, 5, 100])
async def test_printed_thoughts_are_not_spoken(make: Maker, size: int) -> None:
    text = "\n<think>The <b> user\nwants </ it.</think>\n\nIt is <think> 12 °C."
    _, provider = await make("chat", Reply(text=text, piece=size))
    events = await collect(provider, ask())
    thoughts = "".join(e.text for e in events if isinstance(e, ThinkingDelta))
    assert thoughts == "The <b> user\nwants </ it."
    assert text_of(events) == "It is <think> 12 °C."


@pytest.mark.parametrize("text", ["<", "<th", "<thin air", " ", "<think>never ended"])
async def test_text_that_only_looks_like_thoughts(make: Maker, text: str) -> None:
    _, provider = await make("chat", Reply(text=text, piece=2))
    events = await collect(provider, ask())
    said = "".join(
        event.text for event in events if isinstance(event, TextDelta | ThinkingDelta)
    )
    assert said == text.removeprefix("<think>")


async def test_a_character_in_two_halves(make: Maker, wire: str) -> None:
    _, provider = await make(wire, Reply(text="a \ud83e\udd80 b \ud83e c", piece=1))
    events = await collect(provider, ask())
    assert text_of(events) == "a 🦀 b � c"
    for event in events:
        if isinstance(event, TextDelta):
            event.text.encode()


async def test_no_usage_no_figures(make: Maker) -> None:
    _, provider = await make("chat", Reply(text="Hi", no_usage=True))
    events = await collect(provider, ask())
    assert events == [TextDelta("Hi"), Stop(StopReason.END)]


@pytest.mark.parametrize("text", ["What is this?", ""])
async def test_pictures(make: Maker, wire: str, text: str) -> None:
    server, provider = await make(wire)
    picture = Image("image/png", b"\x89PNG")
    await collect(provider, ask(messages=(UserMessage(text, (picture,)),)))
    assert b"iVBORw==" in server.requests[-1].raw


async def test_no_tools_but_calls_in_the_history(make: Maker, wire: str) -> None:
    _, provider = await make(wire, Reply(text="Rain."))
    messages = (
        UserMessage("Weather?"),
        AssistantMessage("", (ToolCall("c1", "get_weather", None, "{broken"),)),
        ToolResultMessage("c1", "get_weather", "The arguments are not JSON.", True),
    )
    assert text_of(await collect(provider, ask(messages=messages))) == "Rain."


async def test_tools_switched_off(make: Maker, wire: str) -> None:
    server, provider = await make(wire)
    await collect(provider, ask(tools=(WEATHER,), tool_choice="none"))
    choice = server.asked[-1]["tool_choice"]
    assert choice in ("none", {"type": "none"})
    assert server.asked[-1]["tools"]


async def test_the_environment_changes_nothing(
    make: Maker, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Address and key of a configuration belong together."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "another-0123456789")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "another-0123456789")
    monkeypatch.setenv("OPENAI_API_KEY", "another-0123456789")
    monkeypatch.setenv("OPENAI_ORG_ID", "another-0123456789")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "another-0123456789")
    server, provider = await make(wire, config={"api_key": ""})
    await collect(provider, ask())
    assert "another" not in repr(server.requests[-1].headers)


@pytest.mark.parametrize(
    "words",
    [
        "registry.ollama.ai/library/gemma2:2b does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser',
        "No endpoints found that support tool use. Try another model.",
    ],
)
async def test_a_model_without_tools_can_still_talk(
    make: Maker, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    status = 404 if "endpoints" in words else 400
    refusal = Reply(status=status, error=("invalid_request_error", words))
    server, provider = await make("both", refusal, config={"wire": "chat"})
    for choice in ("auto", "none"):
        request = ask(tools=(WEATHER,), tool_choice=choice)
        assert text_of(await collect(provider, request)) == "You said: Hello"
    assert not {"tools", "tool_choice"} & server.asked[-1].keys()
    assert "cannot call tools" in caplog.text
    assert len(server.asked) == 3


@pytest.mark.parametrize("images", [(), (Image("image/png", b"x"),)])
async def test_a_template_without_a_system_role(
    make: Maker, images: tuple[Image, ...]
) -> None:
    refusal = Reply(status=400, error=("BadRequestError", "System role not supported"))
    server, provider = await make("chat", refusal)
    system = (SystemPart("Rules."),)
    messages = (UserMessage("Hello", images),)
    await collect(provider, ask(system=system, messages=messages))
    (only,) = server.asked[-1]["messages"]
    assert only["role"] == "user"
    assert "Rules." in str(only["content"])
    assert "Hello" in str(only["content"])


@pytest.mark.parametrize(
    "words",
    [
        "messages include more pictures than the model can store; reasoning is fine",
        "The prompt is about thinking, and too odd",
    ],
)
async def test_a_word_is_not_a_field(make: Maker, wire: str, words: str) -> None:
    """An error that only uses such a word costs no field and no second request."""
    refusal = Reply(status=400, error=("invalid_request_error", words))
    server, provider = await make(wire, refusal, config={"thinking": "low"})
    with pytest.raises(ProviderError):
        await collect(provider, ask())
    assert len(server.asked) == 1


async def test_an_answer_a_router_gives_up(make: Maker) -> None:
    page = stream(chunk({"content": "So"}), chunk({}, "error"))
    _, provider = await make("chat", page)
    with pytest.raises(ProviderError) as caught:
        await collect(provider, ask())
    assert caught.value.kind is ErrorKind.MALFORMED


async def test_a_routers_error_with_a_number(make: Maker) -> None:
    error = sse({"error": {"code": 502, "message": "Provider returned error"}})
    _, provider = await make("chat", stream(error))
    with pytest.raises(ProviderError) as caught:
        await collect(provider, ask())
    assert (caught.value.kind, caught.value.status) == (ErrorKind.OVERLOAD, 502)
