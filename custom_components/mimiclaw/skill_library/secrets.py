"""Text that looks like a key or a password; everybody in the house reads a skill."""

from __future__ import annotations

from collections.abc import Iterator
import re
from typing import Final

_KNOWN: Final = (
    ("a private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    ("an API key", r"\bsk-[A-Za-z0-9_-]{16,}"),
    (
        "a GitHub token",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})",
    ),
    ("a Google key", r"\bAIza[A-Za-z0-9_-]{30,}"),
    ("an AWS key", r"\bAKIA[A-Z0-9]{16}\b"),
    ("a Slack token", r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    ("a Telegram bot token", r"\b\d{8,10}:[A-Za-z0-9_-]{34,36}\b"),
    (
        "an access token",
        r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}",
    ),
    ("a Tavily key", r"\btvly-[A-Za-z0-9-]{16,}"),
    ("a login within an address", r"\b[a-z][a-z0-9+.-]*://[^\s/:@]+:[^\s/@]{3,}@"),
)
_PATTERNS: Final = tuple((kind, re.compile(pattern)) for kind, pattern in _KNOWN)
#: "password: hunter2", "api_key = …", "Passwort: …", "密码：…". The value has to be one word
#: with a digit or a mark in it: "password: ask the person" is advice.
_NAMED: Final = re.compile(
    r"(?i)(?:pass(?:word|wd|phrase|wort)?|kennwort|secret|token|api[ _-]?key|"
    r"access[ _-]?key|wi-?fi[ _-]?key|psk|пароль|密码|密碼|口令|パスワード)"
    r"\s*(?:is|ist|=|:|：)\s*[\"'`]?(?P<value>[^\s\"'`,;]{6,})"
)
_PIN: Final = re.compile(
    r"(?i)\b(?:pin|alarm code|door code|code)\s*(?:is|ist|=|:)\s*[\"'`]?(?P<value>\d{4,8})\b"
)


def secrets(text: str) -> Iterator[tuple[int, str]]:
    """Yield line number from 1 and kind of each thing that looks secret, never the thing."""
    for number, line in enumerate(text.splitlines(), start=1):
        for kind, pattern in _PATTERNS:
            if pattern.search(line):
                yield number, kind
        for match in _NAMED.finditer(line):
            if _looks_made_up(match["value"]):
                yield number, "a password or key"
        if _PIN.search(line):
            yield number, "a PIN or code"


def _looks_made_up(value: str) -> bool:
    """Tell a secret from a word: letters alone are a word, whatever follows the colon."""
    return any(char.isdigit() for char in value) or bool(
        re.search(r"[a-z][^\w\s.)/-]|[A-Z].*[a-z].*[A-Z]", value)
    )
