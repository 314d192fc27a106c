"""What a turn says to a language model, and what comes back.

Every provider turns these shapes into its own wire format and its wire format into
these shapes; the agent knows no other. Nothing here imports an SDK.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool the model may call; `parameters` is a JSON Schema object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture in a user message; `data` is the encoded file."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What the person said."""

    text: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asks for; also the event that reports it, once it is whole.

    `arguments` is None when the text the model sent (`raw`) is not a JSON object:
    the agent answers such a call with a sentence instead of running it.
    """

    call_id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: str = ""


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """What the model said.

    `native` is what its provider wants back unchanged (signed thoughts, for instance)
    and is meaningless to any other.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    native: Native | None = None


@dataclass(frozen=True, slots=True)
class ToolResultMessage:
    """What a call gave: text, or a sentence that says why it did not work."""

    call_id: str
    name: str
    text: str
    is_error: bool = False


type ChatMessage = UserMessage | AssistantMessage | ToolResultMessage


@dataclass(frozen=True, slots=True)
class SystemPart:
    """One layer of the system prompt. A `stable` part closes a cacheable prefix."""

    text: str
    stable: bool = True


@dataclass(frozen=True, slots=True)
class Request:
    """One call of the model. `cache_key` names the assistant, never a person.

    `deadline_s` (seconds) bounds the wait for each next event, not the whole answer.
    `language` is a BCP 47 tag. `retries` counts further tries at one provider before
    anything was delivered; a chain with somebody else to ask sets it to 0.
    """

    system: tuple[SystemPart, ...]
    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    max_output_tokens: int = 4096
    cache_key: str = "mimiclaw"
    deadline_s: float = 60.0
    language: str = "en"
    retries: int = 2


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer, whole characters only."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    """The next piece of what the model thinks aloud; never spoken."""

    text: str


@dataclass(frozen=True, slots=True)
class Native:
    """Blocks to be sent back unchanged with this message.

    `kind` names wire format and model; nobody else can use the blocks.
    """

    kind: str
    blocks: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. `input_tokens` counts the uncached ones only.

    A stream that was tried twice carries more than one: they add up.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


class StopReason(StrEnum):
    """Why the model stopped."""

    END = "end"
    TOOL_USE = "tool_use"
    LENGTH = "length"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class Stop:
    """The last event of a stream that ended well."""

    reason: StopReason


@dataclass(frozen=True, slots=True)
class Switched:
    """Another provider goes on from here, because `error` happened at the first.

    `restarted` means that text of the broken answer was delivered already: what
    follows is a whole new answer, to be set apart from it. `announce` is False once
    the person was told of this outage.
    """

    provider: str
    model: str
    error: ProviderError
    restarted: bool = False
    announce: bool = True


type Event = TextDelta | ThinkingDelta | ToolCall | Native | Usage | Switched | Stop


class ErrorKind(StrEnum):
    """What went wrong, as far as the person can do something about it."""

    KEY = "key"
    QUOTA = "quota"
    RATE = "rate"
    OVERLOAD = "overload"
    CONTEXT = "context"
    REFUSED = "refused"
    NOT_FOUND = "not_found"
    BAD_REQUEST = "bad_request"
    NETWORK = "network"
    CERTIFICATE = "certificate"
    TIMEOUT = "timeout"
    MALFORMED = "malformed"


#: Another provider may do better at these; the others would fail there as well,
#: or are the owner's to mend.
FAILOVER_KINDS = frozenset(
    {
        ErrorKind.QUOTA,
        ErrorKind.RATE,
        ErrorKind.OVERLOAD,
        ErrorKind.NETWORK,
        ErrorKind.TIMEOUT,
        ErrorKind.MALFORMED,
    }
)


@dataclass(eq=False)
class ProviderError(Exception):
    """The one exception that leaves this room.

    `detail` is for the log: provider's words, cut short, without a key.
    `status` is the HTTP status where there was one; `retry_after_s` what the
    provider asked for; `provider` its name.
    """

    kind: ErrorKind
    provider: str
    detail: str = ""
    status: int | None = None
    retry_after_s: float | None = None

    def __str__(self) -> str:
        """Return what a log line says."""
        status = f" HTTP {self.status}" if self.status else ""
        return f"{self.provider}: {self.kind}{status}: {self.detail}"


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """What makes a provider: model, address and key, switched as one.

    `base_url` empty means the provider's own; `api_key` may be empty for a local
    server. The key is kept out of repr, so it cannot reach a log by accident.
    `wire` is for servers of the OpenAI kind: `auto` goes by what the server answers.
    `thinking` empty leaves it to the model. `web_search` lets the provider search the
    web itself where it can.
    """

    kind: Literal["anthropic", "openai", "offline"]
    name: str
    model: str = ""
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    wire: Literal["auto", "responses", "chat"] = "auto"
    thinking: Literal["", "off", "low", "medium", "high"] = ""
    web_search: bool = False


class Provider(Protocol):
    """A language model on the wire."""

    @property
    def config(self) -> ProviderConfig:
        """Return what the provider was made from."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[Event]:
        """Yield the events of one answer; closing the generator ends the request.

        Raises ProviderError, and nothing else but CancelledError.
        """
        ...

    async def check(self) -> None:
        """Ask the provider whether key, address and model are good.

        Raises ProviderError.
        """
        ...

    async def aclose(self) -> None:
        """Give up connections."""
        ...
