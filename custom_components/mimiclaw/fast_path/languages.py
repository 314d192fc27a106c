"""Which sentences serve a language that was asked for."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

import home_assistant_intents

SENTENCES: Final = Path(__file__).parent / "sentences"

#: Codes Home Assistant's frontend and speech services use for the same writing.
_ALSO: Final = {
    "zh": "zh-CN",
    "zh-hans": "zh-CN",
    "zh-sg": "zh-CN",
    "zh-hant": "zh-TW",
    "zh-mo": "zh-TW",
    "no": "nb",
    "nn": "nb",
    "iw": "he",
}


def own_languages() -> frozenset[str]:
    """Languages with a sentence file of ours. Reads a folder: blocking."""
    return frozenset(path.stem for path in SENTENCES.glob("*.yaml"))


def all_languages() -> list[str]:
    """Languages with sentences, ours or Home Assistant's, sorted. Blocking."""
    return sorted(own_languages() | set(home_assistant_intents.get_languages()))


def base_language(code: str) -> str:
    """The language without its region."""
    return code.partition("-")[0].lower()


def closest(asked: str, available: Collection[str]) -> str | None:
    """The one of `available` that serves `asked`: the same, or the same language."""
    wanted = asked.replace("_", "-").lower()
    wanted = _ALSO.get(wanted, wanted).lower()
    base = base_language(wanted)
    by_code = {code.lower(): code for code in available}
    for code in (wanted, _ALSO.get(base, base).lower()):
        if code in by_code:
            return by_code[code]
    return None


def closest_language(asked: str) -> str | None:
    """The language whose sentences serve `asked`; None if there is none. Blocking.

    Our own files come first, they cover every action: Swiss German is served by "de".
    A region that is its own writing is not ("zh-HK" is Home Assistant's).
    """
    theirs = home_assistant_intents.get_languages()
    own = own_languages()
    exact = asked.replace("_", "-").lower()
    if base_language(exact) not in own:
        for code in (*own, *theirs):
            if code.lower() == exact:
                return code
    return closest(asked, own) or closest(asked, theirs)
