"""Telegram's Bot API on loopback: what it accepts, refuses and remembers.

`BotApi` is the server; `python -m tests.channels.bot_api PORT` runs one by itself, driven
over HTTP below `/control/`.
"""

from __future__ import annotations

from .server import BotApi
from .state import Sent, User

__all__ = ["BotApi", "Sent", "User"]
