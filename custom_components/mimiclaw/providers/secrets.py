"""Keys stay out of every text that leaves this room."""

from __future__ import annotations

import re
from typing import Final

from .limits import MAX_DETAIL_CHARS

HIDDEN: Final = "[key]"

#: What keys look like, for the case that a server quotes one that is not ours.
_KEY_LIKE: Final = re.compile(
    r"\b(?:sk|pk|rk|xai|gsk|tvly|BSA)[-_][\w*.\-]{6,}"
    r"|(?i:bearer)\s+[\w.\-~+/=*]{6,}"
    r"|(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"
)
_SPACES: Final = re.compile(r"\s+")


def scrub(text: str, *secrets: str) -> str:
    """Return `text` on one line, without the secrets, cut to a log's length."""
    for secret in secrets:
        # Shorter ones are placeholders of local servers ("x", "none") and occur in words.
        if len(secret) >= 6:
            text = text.replace(secret, HIDDEN)
    text = _SPACES.sub(" ", _KEY_LIKE.sub(HIDDEN, text)).strip()
    if len(text) > MAX_DETAIL_CHARS:
        text = text[: MAX_DETAIL_CHARS - 1] + "…"
    return text
