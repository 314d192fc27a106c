"""Who may see and who may change what. Everything a model reaches passes here."""

from __future__ import annotations

from .errors import PathRefused
from .names import Parts, text_of
from .paths import FOLDER_INDEX, FOLDERS, TOC_SUFFIX, TRASH_DIR
from .speaker import Speaker

_ROOT_SUFFIXES = (".md", ".txt")


def owner_of(parts: Parts) -> str | None:
    """Return the person whose private text a path holds, None for the household's."""
    if parts[:1] == (TRASH_DIR,):
        parts = ("memory", *parts[1:])
    if len(parts) > 2 and parts[:2] == ("memory", "users"):
        return parts[2]
    return None


def is_session(parts: Parts) -> bool:
    """Say whether a path is inside /sessions."""
    return parts[:1] == ("sessions",)


def is_memory(parts: Parts) -> bool:
    """Say whether a file holds memory or personality: text that must not be lost by mistake."""
    return parts[:1] in (("memory",), ("config",)) and len(parts) > 1


def is_rules(parts: Parts) -> bool:
    """Say whether a file is part of the assistant's personality and rules."""
    return (
        len(parts) == 2
        and parts[0] == "config"
        and parts[1].startswith(("SOUL", "AGENT"))
    )


def check_read(parts: Parts, speaker: Speaker) -> None:
    """Refuse what a turn of ``speaker`` may not see. Raises PathRefused."""
    owner = owner_of(parts)
    if not speaker.may_see(owner):
        raise PathRefused(
            f"{text_of(parts)} is another person's; only that person can ask for it."
        )
    if parts[-1:] == ("cron.json",):
        raise PathRefused("The schedule is read with cron_list.")


def check_own(parts: Parts, speaker: Speaker) -> None:
    """Refuse what is not the speaker's own. Raises PathRefused."""
    if owner_of(parts) != speaker.person:
        raise PathRefused(
            f"{text_of(parts)} is everybody's, and this turn is about one person's own "
            f"text; write to /memory/users/{speaker.person} alone."
        )


def check_write(parts: Parts, speaker: Speaker, *, top_exists: bool) -> None:
    """Refuse what a model may not change, whoever speaks. Raises PathRefused.

    top_exists: whether the first folder of the path is there already.
    """
    shown = text_of(parts)
    if not parts:
        raise PathRefused(
            "'/' is a folder; name a file, for example /memory/garden-plan.md."
        )
    if parts[-1] == "cron.json":
        raise PathRefused("The schedule is changed with cron_add and cron_remove only.")
    if not speaker.may_see(owner_of(parts)):
        raise PathRefused(
            f"{shown} is another person's; only that person can change it."
        )
    if is_session(parts):
        raise PathRefused(
            "Sessions are written by the assistant itself; write what matters with append_note."
        )
    if parts[0] == TRASH_DIR:
        raise PathRefused("The trash is only read; write to the file's own path.")
    if parts[:2] == ("memory", "users") and len(parts) < 4:
        raise PathRefused(
            f"{shown} is a folder; name a file in it, for example {shown}/MEMORY.md."
        )
    if parts[-1].casefold() == FOLDER_INDEX.casefold() or parts[-1].casefold().endswith(
        TOC_SUFFIX
    ):
        raise PathRefused(
            f"{shown} is kept by the assistant itself; change the files it lists."
        )
    if len(parts) == 1:
        if parts[0] in FOLDERS:
            raise PathRefused(f"{shown} is a folder; name a file in it.")
        if not parts[0].endswith(_ROOT_SUFFIXES):
            raise PathRefused(
                f"{shown} is no place for a file; write under /memory, /docs, /skills or /config."
            )
    elif parts[0] not in FOLDERS and not top_exists:
        raise PathRefused(
            f"There is no folder /{parts[0]}; write under /memory, /docs, /skills or /config."
        )
