"""From the path a model wrote to the components of a path in the tree, or a refusal."""

from __future__ import annotations

from functools import lru_cache
import re
import unicodedata

from .errors import PathRefused
from .paths import ALIAS, FIXED_PATHS, TRASH_DIR, Limits

Parts = tuple[str, ...]

_SLASHES = frozenset(
    "\u2044\u2215\u29f8\u29f9\u29f5\u2216\ufe68\uff0f\uff3c\u2571\u2572\u27cb\u27cd\u1735"
)
_DOTS = frozenset("\u2024\u2025\u2026\ufe52\uff0e\ufe19\ufe30\u0701\u0702\ua60e")
# Sentence marks that are fine within a name, but not as the whole of it.
_ONLY_DOTS = frozenset(". \u3002\uff61\u06d4\u0660\u06f0\u00b7\u30fb\u2027\u22c5\u2219")
_REFUSED_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_ENCODED = re.compile(
    r"%(?:25)*(?:2e|2f|5c|00|c0|e0|u002e|u002f|u005c)|\\[xu]|&#|0x2[ef]", re.IGNORECASE
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SHORT_NAME = re.compile(r"~\d")
_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|com\d|lpt\d)", re.IGNORECASE
)
# Characters a Windows or Samba client cannot open; only refused in new names.
_UNPORTABLE = frozenset('*?"<>|')
_FIXED = {path.casefold(): tuple(path.split("/")) for path in FIXED_PATHS}

DEFAULT_LIMITS = Limits()


def text_of(parts: Parts) -> str:
    """Return the path as the model writes it."""
    return "/" + "/".join(parts)


def key_of(parts: Parts) -> str:
    """Return one key for all spellings that a case-insensitive disk takes for the same file."""
    return unicodedata.normalize("NFKC", "/".join(parts)).casefold()


@lru_cache(maxsize=4096)
def parse(path: str, limits: Limits = DEFAULT_LIMITS) -> Parts:
    """Return the components of ``path``; the empty tuple is the root.

    Takes absolute paths, the same below /spiffs/, and paths without the first slash.
    Raises PathRefused.
    """
    shown = _shown(path)
    if len(path.encode("utf-8", "replace")) > limits.path_bytes:
        raise PathRefused(
            f"The path {shown} is too long; use a short path such as /memory/garden-plan.md."
        )
    path = path.strip(" \t\r\n")
    if "\0" in path:
        raise PathRefused(
            "A path cannot hold a NUL character; write a plain path such as /memory/MEMORY.md."
        )
    if "\\" in path:
        raise PathRefused(
            f"The path {shown} has a backslash; separate folders with / ."
        )
    if _ENCODED.search(path):
        raise PathRefused(
            f"The path {shown} has encoded characters; write the characters themselves."
        )
    if _SCHEME.match(path) or path.startswith("~"):
        raise PathRefused(
            f"{shown} is not a path in this tree; paths begin with /memory, /docs, /skills or /config."
        )
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if parts and parts[0] == ALIAS:
        parts = parts[1:]
    if len(parts) > limits.depth:
        raise PathRefused(
            f"The path {shown} is more than {limits.depth} folders deep; use fewer folders."
        )
    for place, part in enumerate(parts):
        _check_name(part, shown, limits, trash=place == 0 and part == TRASH_DIR)
    return _fixed_spelling(parts)


def _check_name(name: str, shown: str, limits: Limits, *, trash: bool) -> None:
    """Refuse one component that is unsafe on any file system we may stand on."""
    plain = unicodedata.normalize("NFKC", name)
    if all(char in _ONLY_DOTS for char in plain) or all(
        char in _ONLY_DOTS for char in name
    ):
        raise PathRefused(
            f"The path {shown} leaves the tree; write it without '..', from / on."
        )
    for char in name:
        if char in _SLASHES or char in _DOTS:
            raise PathRefused(
                f"The path {shown} has a character that only looks like a dot or a slash; use the plain one."
            )
        if unicodedata.category(char) in _REFUSED_CATEGORIES:
            raise PathRefused(
                f"The path {shown} has an invisible or control character; write it without."
            )
    if "/" in plain or "\\" in plain:
        raise PathRefused(
            f"The path {shown} has a character that only looks like a slash; use the plain one."
        )
    if plain.startswith(".") and not trash:
        raise PathRefused(f"{shown} is hidden; hidden files are not part of this tree.")
    if plain[-1] in ". " or plain[0] == " ":
        raise PathRefused(
            f"A name in {shown} begins or ends with a space or a dot; write it without."
        )
    if (
        ":" in plain
        or _SHORT_NAME.search(plain)
        or _DEVICE.fullmatch(plain.split(".", 1)[0].strip())
    ):
        raise PathRefused(f"{shown} is a device or a system name; choose another name.")
    if len(name.encode()) > limits.name_bytes:
        raise PathRefused(
            f"A name in {shown} is longer than {limits.name_bytes} bytes; name it in 3 to 5 words."
        )


def check_new_name(parts: Parts) -> None:
    """Refuse a new name that another system of the household could not open. Raises PathRefused."""
    bad = sorted(_UNPORTABLE.intersection(parts[-1])) if parts else []
    if bad:
        raise PathRefused(
            f"A new name cannot hold {' '.join(bad)} ; use letters, digits and '-'."
        )


def _fixed_spelling(parts: Parts) -> Parts:
    """Give the longest leading part that is one of the fixed paths its right spelling."""
    for length in range(min(len(parts), 2), 0, -1):
        head = "/".join(parts[:length])
        fixed = _FIXED.get(
            unicodedata.normalize("NFKC", head).casefold()
        ) or _FIXED.get(head.upper().casefold())
        if fixed is not None:
            return fixed + parts[length:]
    return parts


def _shown(path: str) -> str:
    """Return the path for a sentence: short, and without anything that could disturb it."""
    text = "".join(char if char.isprintable() else "?" for char in path[:120])
    return f"'{text}…'" if len(path) > 120 else f"'{text}'"
