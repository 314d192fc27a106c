"""Limits of the skill library, each with its reason."""

from __future__ import annotations

from typing import Final

#: A skill of this size is read with one call: it is what one tool result holds.
SKILL_BYTES: Final = 8 * 1024
#: Over this a skill costs more of a weak model's prompt than it is worth; it is advice.
GOOD_BYTES: Final = 2 * 1024
#: A list line is for choosing. Longer ones push other skills out of the list.
DESCRIPTION_CHARS: Final = 200
TITLE_CHARS: Final = 60
NAME_CHARS: Final = 60

#: What an import may bring: one folder of text.
IMPORT_BYTES: Final = 1024 * 1024
IMPORT_FILES: Final = 50
IMPORT_FILE_BYTES: Final = 256 * 1024
ORIGIN_CHARS: Final = 80

#: Skills that wait for a yes, over all conversations; the oldest goes first.
DRAFTS: Final = 32

#: Lines of a difference that a repair shows; the whole stands in the file beside.
DIFF_LINES: Final = 80
