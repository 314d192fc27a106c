"""What the model is told about channels: their policy, and what became of a command."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ..satellite.model import Channel, ChannelKind, Code, Outcome


def policy(channel: Channel) -> str:
    """Return the channel's rules in one clause, empty where there are none."""
    rules = []
    if channel.momentary:
        rules.append(f"momentary, pulses {_s(channel.momentary_ms)}")
    if channel.max_on_ms:
        rules.append(f"at most {_s(channel.max_on_ms)} on")
    if channel.min_on_ms:
        rules.append(f"at least {_s(channel.min_on_ms)} on")
    if channel.min_off_ms:
        rules.append(f"at least {_s(channel.min_off_ms)} off")
    if channel.interlock:
        rules.append(f"never on together with others of '{channel.interlock}'")
    if channel.driven and "agent" not in channel.actors:
        rules.append("not yours to switch")
    if channel.confirm:
        rules.append("needs the person's yes")
    return ", ".join(rules)


def reading(channel: Channel, outcome: Outcome) -> str:
    """Return how a channel is, as the device just said."""
    if not outcome.ok:
        return refusal(channel, outcome, lambda _: None)
    if channel.kind is ChannelKind.ANALOG:
        return f"{_value(outcome.value)} {channel.unit or ''}".strip()
    state = "on" if outcome.state else "off"
    if channel.driven and outcome.state and outcome.deadline_ms:
        return f"{state}, ends by itself in {_s(outcome.deadline_ms)}"
    return state


def line(channel: Channel, outcome: Outcome, *, several: bool) -> str:
    """Return one line of the list of all channels."""
    where = f" on {channel.satellite_name}" if several else ""
    place = f", {channel.area}" if channel.area else ""
    rules = f" [{text}]" if (text := policy(channel)) else ""
    names = aliases(channel)
    called = f" (also: {', '.join(names)})" if names else ""
    return (
        f"- {channel.id}: {channel.name}{called}{where}{place}, {channel.kind.value}: "
        f"{reading(channel, outcome)}{rules}"
    )


def done(channel: Channel, outcome: Outcome) -> str:
    """Return what a carried-out command did, by what the device read back."""
    if channel.momentary and outcome.state:
        return f"{channel.name} was pressed; it goes off by itself in {_s(outcome.deadline_ms)}."
    if outcome.state is None:
        return f"The device took the command for {channel.name} but told no state."
    text = f"{channel.name} is {'on' if outcome.state else 'off'} (read back from the pin)."
    if outcome.state and outcome.deadline_ms:
        text += f" It goes off by itself in {_s(outcome.deadline_ms)}."
    return text


def refusal(
    channel: Channel, outcome: Outcome, find: Callable[[str], Channel | None]
) -> str:
    """Return why a command was not carried out and what can be done instead."""
    name = channel.name
    wait, limit = _s(outcome.wait_ms), _s(outcome.limit_ms)
    other = find(outcome.other)
    partner = other.name if other else outcome.other.rpartition("/")[2]
    match outcome.code:
        case Code.UNREACHABLE:
            return (
                f"{name} was not touched: satellite {channel.satellite_name} is not "
                "reachable. The command will not be carried out later; say so."
            )
        case Code.TIMEOUT:
            return (
                f"{name}: satellite {channel.satellite_name} gave no answer within a "
                "second, so whether it moved is not known. Read it before trying again."
            )
        case Code.CONFIRM:
            return (
                f"{name} was not touched: it needs the person's yes. Ask for it and end "
                "your turn; call again after they have said yes."
            )
        case Code.ACTOR_DENIED:
            return f"{name} was not touched: its owner does not let you switch it."
        case Code.MIN_ON:
            return f"{name} has to stay on for another {wait}; it was not touched."
        case Code.MIN_OFF:
            return f"{name} has to stay off for another {wait}; it was not touched."
        case Code.INTERLOCK:
            return f"{name} was not touched: {partner} is on, and both never may be."
        case Code.OVER_MAX:
            return f"{name} was not touched: it may be on for {limit} at most."
        case Code.BAD_DURATION:
            bound = f" The limit here is {limit}." if outcome.limit_ms else ""
            return f"{name} was not touched: that duration does not fit.{bound}"
        case Code.WRONG_KIND:
            return f"{name} is an {channel.kind.value}: it can be read, not switched."
        case Code.BAD_STATE:
            return (
                f"{name} was not touched: the state must be on, off, toggle or pulse."
            )
        case Code.NOT_MOVED:
            return (
                f"{name} did not follow: the command was given, but the pin still reads "
                f"{'on' if outcome.state else 'off'}. Tell the person; the wiring or the "
                "relay is faulty."
            )
        case Code.NOT_READY:
            return f"{name} has no reading yet, or its device has only just started."
        case Code.UNKNOWN_CHANNEL:
            return f"The device has no channel {channel.id} any more."
        case _:
            return (
                f"{name} was not touched: satellite {channel.satellite_name} refused "
                f"({outcome.code.value})."
            )


def aliases(channel: Channel) -> list[str]:
    """Return the names beyond the first that people use, in any language."""
    listed = [name for names in channel.names.values() for name in names]
    return [
        name
        for name in dict.fromkeys(listed)
        if name.casefold() != channel.name.casefold()
    ][:6]


def ambiguous(text: str, found: Iterable[Channel]) -> str:
    """Return how to say which of several was meant."""
    listed = ", ".join(
        f"{one.satellite_name}/{one.id}" + (f" ({one.area})" if one.area else "")
        for one in found
    )
    return f"{text} means more than one channel: {listed}. Say which one."


def _s(ms: int) -> str:
    if ms < 10_000:
        return f"{ms / 1000:.3g} s"
    seconds = round(ms / 1000)
    if seconds < 120:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min" + (f" {rest} s" if rest else "")


def _value(value: float | None) -> str:
    return "no reading" if value is None else f"{value:g}"
