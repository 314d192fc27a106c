"""Cut text at a number of UTF-8 bytes without breaking a character or a line."""

from __future__ import annotations


def fits(text: str, cap_bytes: int) -> bool:
    """Tell whether the text takes at most `cap_bytes` bytes in UTF-8."""
    # Four bytes a character at most: short texts need no encoding to know.
    return len(text) * 4 <= cap_bytes or len(text.encode()) <= cap_bytes


def cut(text: str, cap_bytes: int, marker: str) -> str:
    """Return at most `cap_bytes` bytes of the text, ending with `marker` if cut.

    The cut falls after a whole line; where the first line alone is too long, after a
    whole character. A cap smaller than the marker leaves nothing.
    """
    if fits(text, cap_bytes):
        return text
    room = cap_bytes - len(marker.encode()) - 1
    if room <= 0:
        return ""
    data = text.encode()
    kept = data[:room].decode(errors="ignore")
    line_end = kept.rfind("\n")
    if line_end > 0 and data[room : room + 1] != b"\n":
        kept = kept[:line_end]
    return f"{kept.rstrip()}\n{marker}"
