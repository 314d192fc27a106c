"""Make a request shorter that a provider found too long, without breaking its shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..providers.protocol import ChatMessage, ToolResultMessage, UserMessage

PRUNED: Final = "[left out to make room; call again if it is needed]"
#: The first attempt prunes tool results, the second drops what was said long ago.
ATTEMPTS: Final = 2
_WORTH_PRUNING_CHARS: Final = 400


def shrink(
    messages: Sequence[ChatMessage], history: int, attempt: int
) -> list[ChatMessage]:
    """Return shorter messages; `history` is how many stand before the person's own.

    Old tool results go first: they can be had again. Then the older half of the
    conversation: its summary and the files remain. Calls keep their results and the
    roles their order.
    """
    spoken, turn = list(messages[:history]), list(messages[history:])
    last_results = next(
        (
            place
            for place in range(len(turn) - 1, -1, -1)
            if not isinstance(turn[place], ToolResultMessage)
        ),
        0,
    )
    pruned: list[ChatMessage] = [
        replace(message, text=PRUNED)
        if isinstance(message, ToolResultMessage)
        and (place < last_results or attempt > 1)
        and len(message.text) > _WORTH_PRUNING_CHARS
        else message
        for place, message in enumerate(turn)
    ]
    if attempt > 1:
        half = len(spoken) // 2
        while half < len(spoken) and not isinstance(spoken[half], UserMessage):
            half += 1
        spoken = spoken[half:]
    return [*spoken, *pruned]
