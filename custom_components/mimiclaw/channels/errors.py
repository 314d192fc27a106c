"""What can go wrong between us and Telegram; the telegram_bot integration's errors, told apart."""

from __future__ import annotations


class ChannelError(Exception):
    """A message could not be sent or fetched; the text is for the log."""


class TryLater(ChannelError):
    """Telegram asks to wait. `wait_s` is for how long, in seconds."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(f"Telegram asks to wait {wait_s:g} s")
        self.wait_s = wait_s


class Unreachable(ChannelError):
    """Telegram could not be reached, or its answer was cut off: it may work later."""


class BadMarkup(ChannelError):
    """The formatting was refused; as plain text it goes."""


class NotModified(ChannelError):
    """A message already looks like that."""


class Refused(ChannelError):
    """Telegram or telegram_bot does not do it, now or later."""
