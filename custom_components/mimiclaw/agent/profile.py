"""The agent's limits, in one place: caps in UTF-8 bytes, counts, seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

KIB: Final = 1024


@dataclass(frozen=True, slots=True)
class PromptCaps:
    """The share of each layer of the system prompt, in UTF-8 bytes."""

    static: int = 3 * KIB
    personality: int = 1 * KIB
    memory: int = 4 * KIB
    notes: int = 4 * KIB
    skills: int = 2 * KIB
    #: Texts of skills that stand in the prompt, where the profile wants them: four pages.
    inline_skills: int = 8 * KIB
    whole: int = 16 * KIB


@dataclass(frozen=True, slots=True)
class Profile:
    """What a turn may take. `frontier` is for large models, `small` for local ones."""

    name: str
    #: Tool calls that are run in one turn; one last request without tools follows.
    tool_calls: int
    #: Days of daily notes in the prompt, today included.
    note_days: int = 3
    #: Messages of the session that stand before the new one.
    history_messages: int = 20
    #: A tool's answer; what is cut says how to go on.
    tool_result_bytes: int = 8 * KIB
    max_output_tokens: int = 4096
    #: The whole turn; at it, what is known is said.
    turn_deadline_s: float = 60.0
    #: Within the deadline, kept back for the last answer.
    last_answer_s: float = 15.0
    #: The same error this often in one turn ends the attempts (complaint 17).
    repeated_errors: int = 3
    #: A request of so many tokens is near what a model of this size can take: the older
    #: part of the conversation is summarised, whatever the number of its messages.
    context_tokens: int = 100_000
    #: A longer message is refused with a sentence: it is no question to an assistant.
    message_chars: int = 32_000
    #: Skills whose text stands in the prompt (weak models do not open files reliably).
    inline_skills: int = 0
    #: Search results offered before the first call.
    offered_hits: int = 0
    caps: PromptCaps = PromptCaps()


FRONTIER: Final = Profile(name="frontier", tool_calls=10)
SMALL: Final = Profile(
    name="small",
    tool_calls=3,
    note_days=1,
    context_tokens=6_000,
    inline_skills=4,
    offered_hits=3,
)
PROFILES: Final = {profile.name: profile for profile in (FRONTIER, SMALL)}
