"""What the fast path says: outcomes as short sentences in the listener's language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from .fast_path.languages import base_language
from .fast_path.replies import Replies
from .satellite.model import Channel, Code, Outcome

if TYPE_CHECKING:
    from .fast_path.command import Command
    from .satellite.registry import Satellites

#: Things that are open or closed rather than on or off.
_OPENS: Final = frozenset(
    {"door", "garage", "garage_door", "gate", "opening", "valve", "window"}
)
#: The reply for a refusal; what is not here "did not work".
_REFUSALS: Final[Mapping[Code, str]] = {
    Code.UNKNOWN_CHANNEL: "unknown",
    Code.ACTOR_DENIED: "actor_denied",
    Code.MIN_ON: "min_on",
    Code.MIN_OFF: "min_off",
    Code.INTERLOCK: "interlock",
    Code.OVER_MAX: "over_max",
    Code.UNREACHABLE: "offline",
    Code.LINK_LOST: "offline",
    Code.TIMEOUT: "timeout",
}

type Done = tuple[Command, Outcome]


class Spoken:
    """Puts outcomes into words."""

    def __init__(self, satellites: Satellites) -> None:
        """Take the satellites, whose channels are named."""
        self._satellites = satellites
        self._replies = Replies({})

    def load(self, languages: Iterable[str]) -> None:
        """Read the sentences of the languages. Blocking."""
        self._replies = Replies.load(languages)

    def left_alone(self, language: str) -> str:
        """Return the answer to a no."""
        return self._replies.reply(language, "cancelled")

    def reply(self, language: str, action: str, done: Sequence[Done]) -> str:
        """Return what became of the commands; what went wrong is always named."""
        if not done:
            return self._replies.reply(language, "failed", name="–")
        if action in {"all_on", "all_off"}:
            return self._all(language, action, done)
        return self._replies.several(
            language, (self._one(language, *one) for one in done)
        )

    def _all(self, language: str, action: str, done: Sequence[Done]) -> str:
        wanting = [one for one in done if not one[1].ok]
        if not wanting:
            return self._replies.reply(language, action)
        if all(outcome.code is Code.CONFIRM for _, outcome in done):
            return self._replies.reply(language, f"confirm_{action}")
        # What has moved is said before what has not; a question comes last, where the
        # answer to it is expected.
        ordered = sorted(
            done, key=lambda one: (not one[1].ok, one[1].code is Code.CONFIRM)
        )
        return self._replies.several(
            language, (self._one(language, *one) for one in ordered)
        )

    def _one(self, language: str, command: Command, outcome: Outcome) -> str:
        channel = self._satellites.channel(command.channel or "")
        name = self._name(channel, language)
        if outcome.code is Code.CONFIRM:
            return self._ask(language, command, channel, name)
        if not outcome.ok:
            return self._refusal(language, name, outcome)
        if command.action == "query":
            return self._state(language, channel, name, outcome)
        if command.duration_s is not None:
            duration = command.duration_s
            return self._replies.reply(language, "pulse", name=name, duration=duration)
        if channel and channel.momentary:
            return self._replies.reply(language, "pulse_moment", name=name)
        # What the device read back, not what was asked for.
        on = outcome.state
        if on is None:
            return self._replies.reply(language, "state_unknown", name=name)
        if channel and channel.device_class in _OPENS:
            return self._replies.reply(
                language, "opened" if on else "closed", name=name
            )
        return self._replies.reply(language, "turn_on" if on else "turn_off", name=name)

    def _ask(
        self, language: str, command: Command, channel: Channel | None, name: str
    ) -> str:
        if command.duration_s is not None:
            duration = command.duration_s
            kind = "confirm_pulse"
            return self._replies.reply(language, kind, name=name, duration=duration)
        if channel and channel.momentary:
            return self._replies.reply(language, "confirm_pulse_moment", name=name)
        return self._replies.reply(language, f"confirm_{command.action}", name=name)

    def _refusal(self, language: str, name: str, outcome: Outcome) -> str:
        other = self._satellites.channel(outcome.other)
        return self._replies.reply(
            language,
            _REFUSALS.get(outcome.code, "failed"),
            name=name,
            remaining=outcome.wait_ms / 1000,
            limit=outcome.limit_ms / 1000,
            other=self._name(other, language),
        )

    def _state(
        self, language: str, channel: Channel | None, name: str, outcome: Outcome
    ) -> str:
        if outcome.value is not None:
            unit = f" {channel.unit}" if channel and channel.unit else ""
            value = f"{round(outcome.value, 1):g}{unit}"
            return self._replies.reply(language, "value", name=name, value=value)
        # The contact that is pressed says nothing of the gate behind it.
        if outcome.state is None or (channel and channel.momentary):
            return self._replies.reply(language, "state_unknown", name=name)
        if channel and channel.device_class in _OPENS:
            kind = "state_open" if outcome.state else "state_closed"
        else:
            kind = "state_on" if outcome.state else "state_off"
        return self._replies.reply(language, kind, name=name)

    @staticmethod
    def _name(channel: Channel | None, language: str) -> str:
        """Return what a channel is called in a language; its own name in others."""
        if channel is None:
            return "?"
        base = base_language(language)
        for code, names in channel.names.items():
            if names and (code == language or base_language(code) == base == code):
                return names[0]
        return channel.name
