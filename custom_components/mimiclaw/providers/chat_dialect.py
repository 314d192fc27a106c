"""What one server of the chat completions kind turns out not to know.

Servers that imitate the API know a part of it, and say so only when asked. What one
refuses is left out of every further request to it.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING, Any, Final

from .wire import refused_field

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOGGER = logging.getLogger(__name__)

LIMIT: Final = "max_tokens"
_MODERN_LIMIT: Final = "max_completion_tokens"

#: Fields an answer can do without.
_OPTIONAL: Final = (
    "prompt_cache_key",
    "stream_options",
    "reasoning_effort",
    "tool_choice",
)

#: How servers say that a model, or they themselves, cannot call tools.
_NO_TOOLS: Final = re.compile(
    r"not support (?:tools|tool use|function)|enable-auto-tool-choice|no endpoints found "
    r"that support tool use",
    re.IGNORECASE,
)
_NO_SYSTEM: Final = re.compile(r"system role not supported", re.IGNORECASE)


class ChatDialect:
    """Fits requests to one server. `modern` servers take the newer name of the limit."""

    def __init__(self, name: str, *, modern: bool) -> None:
        self._name = name
        self._refused: set[str] = set()
        self._limits = [LIMIT, _MODERN_LIMIT]
        if modern:
            # OpenAI refuses the older name with newer models.
            self._limits.reverse()
        self._system = True

    def fit(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request as this server takes it."""
        sent = {key: body[key] for key in body if key not in self._refused}
        if "tool_choice" in body and "tool_choice" in self._refused:
            # Nothing else keeps such a server from calling.
            sent.pop("tools", None)
        if "tools" not in sent:
            sent.pop("tool_choice", None)
        sent[self._limits[0]] = sent.pop(LIMIT)
        if not self._system:
            sent["messages"] = _without_system(sent["messages"])
        return sent

    def learn(self, error: Exception, sent: Mapping[str, Any]) -> bool:
        """Take in a refusal; return whether the next request will differ."""
        if field := refused_field(error, (key for key in _OPTIONAL if key in sent)):
            self._refused.add(field)
            return True
        if len(self._limits) > 1 and refused_field(error, self._limits[1:]):
            del self._limits[0]
            return True
        status = getattr(error, "status_code", None)
        if not isinstance(status, int) or not 400 <= status < 500:
            return False
        words = str(error)
        if "tools" in sent and _NO_TOOLS.search(words):
            _LOGGER.warning(
                "%s: this model cannot call tools, so it can only talk", self._name
            )
            self._refused.add("tools")
            return True
        if self._system and _NO_SYSTEM.search(words):
            self._system = False
            return True
        return False


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the system prompt in front of what the person said first."""
    if len(messages) < 2 or messages[0]["role"] != "system":
        return messages
    rules, first = messages[0]["content"], dict(messages[1])
    if isinstance(first["content"], str):
        first["content"] = f"{rules}\n\n{first['content']}"
    else:
        first["content"] = [{"type": "text", "text": rules}, *first["content"]]
    return [first, *messages[2:]]
