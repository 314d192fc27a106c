"""OpenAI and everything compatible, through the official SDK."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.parse import urlsplit

from .errors import MalformedAnswerError
from .openai_chat import ChatFormat
from .openai_responses import ResponsesFormat
from .protocol import Event, Request, Usage, UserMessage
from .tool_schemas import ToolShelf
from .wire import WireProvider, wire_events

type _Format = ChatFormat | ResponsesFormat


class OpenAIProvider(WireProvider):
    """GPT, or a server that speaks one of OpenAI's two formats.

    OpenAI itself is asked in the Responses format first, others in chat completions;
    a server that does not know the path is asked in the other one, from then on.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        shelf = ToolShelf()
        host = urlsplit(self.config.base_url).hostname or "api.openai.com"
        own = host == "openai.com" or host.endswith(".openai.com")
        chat = ChatFormat(self.config, shelf, modern=own)
        responses = ResponsesFormat(self.config, shelf)
        orders: dict[str, list[_Format]] = {
            "chat": [chat],
            "responses": [responses],
            "auto": [responses, chat] if own else [chat, responses],
        }
        self._formats = orders[self.config.wire]

    async def _answer(self, request: Request) -> AsyncGenerator[Event]:
        first: Exception | None = None
        for chosen in tuple(self._formats):
            delivered = False
            answer = self._one_answer(chosen, request)
            try:
                async for event in answer:
                    delivered = True
                    yield event
            except Exception as err:
                if delivered or not self._other_path(err):
                    raise
                first = first or err
            else:
                if chosen is not self._formats[0]:
                    self._formats.remove(chosen)
                    self._formats.insert(0, chosen)
                return
            finally:
                await answer.aclose()
        if first is not None:
            raise first

    async def _one_answer(
        self, chosen: _Format, request: Request
    ) -> AsyncGenerator[Event]:
        reply = chosen.reply()
        timeout = self._timeout(request)
        if any(isinstance(m, UserMessage) and m.images for m in request.messages):
            # Pictures are megabytes to encode.
            body = await asyncio.to_thread(chosen.body, request)
        else:
            body = chosen.body(request)
        events = wire_events(
            lambda: chosen.open(self._client, body, timeout),
            request,
            reply,
        )
        try:
            async for event in events:
                for piece in reply.take(event):
                    yield piece
        except Exception:
            if not reply.complete:
                if reply.usage != Usage():
                    yield reply.usage
                raise
            # Everything was said; only the good-bye is missing.
        finally:
            await events.aclose()
        if not reply.complete:
            raise MalformedAnswerError("the stream ended in the middle of the answer")
        if reply.usage != Usage():
            yield reply.usage
        for piece in reply.end():
            yield piece

    def _other_path(self, error: Exception) -> bool:
        """Return whether the server does not know this path, rather than the model."""
        status = getattr(error, "status_code", None)
        words = str(error)
        if "v1/responses" in words or "not a chat model" in words:
            return True
        if status == 404:
            body = getattr(error, "body", None)
            code = body.get("code") if isinstance(body, Mapping) else None
            return code != "model_not_found" and self.config.model not in words
        return status in (405, 501)
