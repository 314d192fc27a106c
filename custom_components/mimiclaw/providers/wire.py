"""What every provider with a wire shares: deadlines, caps, retries, one kind of error."""

from __future__ import annotations

from abc import ABC, abstractmethod
import asyncio
import contextlib
import json
import logging
import random
import re
from typing import TYPE_CHECKING, Any, Final, Protocol

from .errors import AnswerTooLongError, MalformedAnswerError, translate
from .limits import (
    CHECK_TOKENS,
    CLOSE_S,
    CONNECT_S,
    DRAIN_S,
    GOODBYE_S,
    MAX_EVENT_BYTES,
    MAX_RETRY_AFTER_S,
    RETRY_BASE_S,
    TEXT_CHARS_PER_TOKEN,
    WIRE_BYTES_FLOOR,
    WIRE_BYTES_PER_TOKEN,
)
from .protocol import (
    ErrorKind,
    Event,
    ProviderConfig,
    ProviderError,
    Request,
    Stop,
    StopReason,
    TextDelta,
    ThinkingDelta,
    Usage,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import (
        AsyncGenerator,
        AsyncIterator,
        Awaitable,
        Callable,
        Iterable,
        Mapping,
    )

_LOGGER = logging.getLogger(__name__)

#: A second try may go better at these.
_RETRY_KINDS: Final = frozenset(
    {ErrorKind.RATE, ErrorKind.OVERLOAD, ErrorKind.NETWORK, ErrorKind.MALFORMED}
)

#: What ends a stream of chat completions.
_LAST_WORDS: Final = b"data: [DONE]"


class WireProvider(ABC):
    """A provider behind one of the SDKs. Subclasses know one wire format each.

    `client` is the SDK's client (its own retries off), `timeout` its Timeout class.
    `owns_client` says that closing the connections is ours to do.
    """

    def __init__(
        self,
        config: ProviderConfig,
        client: Any,
        timeout: Callable[..., Any],
        *,
        owns_client: bool,
    ) -> None:
        self.config = config
        self._client = client
        self._timeout_class = timeout
        self._owns_client = owns_client

    @abstractmethod
    def _answer(self, request: Request) -> AsyncGenerator[Event]:
        """Yield one answer's events; raises whatever the SDK raises."""

    async def stream(self, request: Request) -> AsyncGenerator[Event]:
        """Yield the events of one answer; closing the generator ends the request.

        Raises ProviderError, and nothing else but CancelledError.
        """
        self._require_key()
        if not self.config.model:
            raise self._no_model("no model is chosen")
        tries = 0
        while True:
            delivered = False
            failure: ProviderError
            answer = self._capped(request)
            try:
                async for event in answer:
                    # What a failed try has cost is reported, and is no answer yet.
                    delivered = delivered or not isinstance(event, Usage)
                    yield event
            except Exception as err:  # noqa: BLE001 - one error family leaves the room
                failure = translate(err, self.config)
            else:
                return
            finally:
                await answer.aclose()
            pause = self._pause(failure, tries)
            if delivered or pause is None or tries >= request.retries:
                _LOGGER.warning("%s", failure)
                # Raised out here, so that no exception with a request inside is
                # chained to it.
                raise failure
            tries += 1
            _LOGGER.info("%s; try %d in %.1f s", failure, tries + 1, pause)
            await asyncio.sleep(pause)

    def _no_model(self, detail: str) -> ProviderError:
        return ProviderError(ErrorKind.NOT_FOUND, self.config.name, detail)

    def _require_key(self) -> None:
        """Raise the ProviderError of a key that cannot work."""
        config = self.config
        if not config.api_key and not config.base_url:
            raise ProviderError(ErrorKind.KEY, config.name, "no key is set")
        if not config.api_key.isascii() or not config.api_key.isprintable():
            # Stopped here: the HTTP library would write it to its log in full.
            raise ProviderError(
                ErrorKind.KEY,
                config.name,
                "the key has characters that no key can have",
            )

    @staticmethod
    def _pause(failure: ProviderError, tries: int) -> float | None:
        """Return the seconds to wait before another try, None for no other try."""
        answered_late = failure.kind is ErrorKind.TIMEOUT and failure.status is not None
        if failure.kind not in _RETRY_KINDS and not answered_late:
            return None
        if failure.retry_after_s is not None:
            wait = failure.retry_after_s
            return wait if wait <= MAX_RETRY_AFTER_S else None
        # Spread out, so that a house full of assistants does not knock in step.
        return float(RETRY_BASE_S * 2**tries * random.uniform(0.5, 1.0))  # noqa: S311

    async def _capped(self, request: Request) -> AsyncGenerator[Event]:
        """Pass events on until somebody talks without end."""
        room = request.max_output_tokens * TEXT_CHARS_PER_TOKEN
        answer = self._answer(request)
        try:
            async for event in answer:
                if isinstance(event, TextDelta | ThinkingDelta):
                    room -= len(event.text)
                yield event
                if room < 0:
                    break
            else:
                return
        except AnswerTooLongError:
            pass
        finally:
            await answer.aclose()
        _LOGGER.warning("%s: endless answer cut", self.config.name)
        yield Stop(StopReason.LENGTH)

    def _timeout(self, request: Request) -> Any:
        return self._timeout_class(
            request.deadline_s, connect=min(CONNECT_S, request.deadline_s)
        )

    async def check(self) -> None:
        """Ask the provider whether key, address and model are good.

        Raises ProviderError.
        """
        self._require_key()
        if not self.config.model:
            raise self._no_model(await self._with_models("no model is chosen"))
        if not self.config.base_url and await self._model_is_listed():
            return
        # Catalogues of compatible servers are often open to everybody or empty: only
        # an answer proves the key.
        question = Request(
            system=(),
            messages=(UserMessage("Hello"),),
            max_output_tokens=CHECK_TOKENS,
            retries=0,
        )
        stream = self.stream(question)
        failure: ProviderError | None = None
        try:
            await anext(stream)
        except ProviderError as err:
            failure = err
        finally:
            await stream.aclose()
        if failure is None:
            return
        if failure.kind is ErrorKind.NOT_FOUND:
            failure.detail = await self._with_models(failure.detail)
        raise failure

    async def _model_is_listed(self) -> bool:
        """Return whether the catalogue knows the model; False if it cannot be asked."""
        failure: ProviderError
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._client.models.retrieve(self.config.model)
        except Exception as err:  # noqa: BLE001 - one error family leaves the room
            failure = translate(err, self.config)
        else:
            return True
        # A key may be allowed to ask for answers and not for the catalogue.
        if failure.status in (403, 404, 405, 501):
            return False
        raise failure

    async def _with_models(self, detail: str) -> str:
        """Add the models there are to the words about one there is not."""
        try:
            async with asyncio.timeout(CONNECT_S):
                page = await self._client.models.list()
                names = [str(model.id) for model in page.data]
        except Exception:  # noqa: BLE001 - only a courtesy
            return detail
        if not names or self.config.model in names:
            return detail
        return f"{detail} (there are: {', '.join(sorted(names)[:8])})"

    async def aclose(self) -> None:
        """Give up connections."""
        if self._owns_client:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(CLOSE_S):
                    await self._client.close()


class Reply(Protocol):
    """What takes an answer's events in."""

    @property
    def complete(self) -> bool:
        """Whether the answer is whole, though its figures may be missing."""
        ...

    @property
    def done(self) -> bool:
        """Whether the last event was seen."""
        ...


async def wire_events(
    open_stream: Callable[[], Awaitable[Any]], request: Request, reply: Reply
) -> AsyncGenerator[Any]:
    """Yield an SDK stream's raw events, each within the deadline, and close it.

    Once the `reply` is complete, the rest of the stream is waited for shortly.

    Raises TimeoutError, AnswerTooLongError, MalformedAnswerError for an answer that is
    no event stream at all, and what the SDK raises.
    """
    async with asyncio.timeout(request.deadline_s):
        stream = await open_stream()
    _watch(stream.response, request)
    iterator: AsyncIterator[Any] = aiter(stream)
    empty = True
    try:
        while True:
            wait = request.deadline_s
            if reply.complete:
                wait = min(wait, DRAIN_S if reply.done else GOODBYE_S)
            async with asyncio.timeout(wait):
                try:
                    event = await anext(iterator)
                except StopAsyncIteration:
                    break
            empty = False
            yield event
    finally:
        with contextlib.suppress(Exception):
            async with asyncio.timeout(CLOSE_S):
                await stream.close()
    if empty:
        kind = stream.response.headers.get("content-type", "nothing")
        raise MalformedAnswerError(f"no stream of events but {kind}")


def _watch(response: Any, request: Request) -> None:
    """Bound what may come in, and read to the end what has one.

    Set on this one response, not on the client: Home Assistant shares that one.
    """
    read = response.aiter_bytes
    limit = WIRE_BYTES_FLOOR + request.max_output_tokens * WIRE_BYTES_PER_TOKEN

    async def watched(chunk_size: int | None = None) -> AsyncGenerator[bytes]:
        total = line = 0
        source = read(chunk_size)
        async for chunk in source:
            total += len(chunk)
            end = chunk.rfind(b"\n")
            line = line + len(chunk) if end < 0 else len(chunk) - end - 1
            if total > limit or line > MAX_EVENT_BYTES:
                raise AnswerTooLongError
            if chunk.rstrip().endswith(_LAST_WORDS):
                # The SDK leaves here, one empty read before the end of the body, and
                # that costs the connection.
                with contextlib.suppress(Exception):
                    async with asyncio.timeout(DRAIN_S):
                        await anext(source, None)
            yield chunk

    response.aiter_bytes = watched


def refused_field(error: Exception, fields: Iterable[str]) -> str | None:
    """Return which optional field of a request the server does not take, if any.

    Servers that imitate an API know a part of it, and name what they do not know.
    """
    if getattr(error, "status_code", None) not in (400, 422):
        return None
    words = str(error)
    return next((field for field in fields if _names(field, words)), None)


def _names(field: str, words: str) -> bool:
    """Return whether an error speaks of a field, and not of the word it is made of."""
    if "_" in field:
        return field in words
    return bool(
        re.search(rf"['\"`\[.]{field}\b|\b{field}['\"`\].:]|: {field}\b", words)
    )


class Characters:
    """Joins text pieces so that no character is cut in two.

    JSON escapes characters beyond the first 65,536 as two halves, and a server may
    put each into an event of its own.
    """

    def __init__(self) -> None:
        self._half = ""

    def feed(self, piece: str) -> str:
        """Return what is whole so far."""
        piece = self._half + piece
        self._half = ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        return whole(piece)

    def rest(self) -> str:
        """Return what is left at the end."""
        rest, self._half = self._half, ""
        return whole(rest)


def whole(text: str) -> str:
    """Return `text` with halves of characters joined, and lone ones replaced."""
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def parse_arguments(raw: str) -> Mapping[str, Any] | None:
    """Return a tool call's arguments, None if they are not a JSON object.

    No text at all is what models send for a tool without arguments. Some send the
    object as a JSON string in JSON.
    """
    if not raw.strip():
        return {}
    value: object = raw
    for _ in range(2):
        if not isinstance(value, str):
            break
        try:
            value = json.loads(value)
            if "\\u" in raw:
                # Escapes can spell half a character, which nobody can write down.
                value = json.loads(whole(json.dumps(value, ensure_ascii=False)))
        except ValueError, RecursionError:
            return None
    return value if isinstance(value, dict) else None
