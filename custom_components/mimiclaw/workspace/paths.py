"""Names of the tree and its limits. Everything that is a path or a size is written here once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
import re

CONFIG = "/config"
SOUL = "/config/SOUL.md"
USER = "/config/USER.md"
MEMORY_DIR = "/memory"
MEMORY = "/memory/MEMORY.md"
USERS = "/memory/users"
SKILLS = "/skills"
SESSIONS = "/sessions"
DOCS = "/docs"
HEARTBEAT = "/HEARTBEAT.md"
CRON = "/cron.json"
TRASH = "/.trash"

# Folders of ours that no model and no listing sees.
INDEX_DIR = ".index"
LOCK_DIR = ".locks"
TRASH_DIR = ".trash"

# The original firmware's name for the same tree.
ALIAS = "spiffs"

FOLDERS = ("config", "memory", "skills", "sessions", "docs")
FOLDER_INDEX = "INDEX.md"
TOC_SUFFIX = ".toc.md"

# Paths with one right spelling. A path that differs from one of them in case alone is read as it,
# so that a folder shared with a case-insensitive system has no second door to a protected file.
FIXED_PATHS = (
    "config",
    "config/SOUL.md",
    "config/USER.md",
    "memory",
    "memory/MEMORY.md",
    "memory/users",
    "skills",
    "sessions",
    "docs",
    "HEARTBEAT.md",
    "cron.json",
)

# A tool result a model can still read with profit; the original firmware's figure too.
RESULT_BYTES = 8 * 1024
# What the sentence "this is a part, go on with …" may need of it.
RESULT_NOTE_BYTES = 700
# A document over this gets a section list; over SEARCH_BYTES it is better searched than read.
SECTIONS_BYTES = 8 * 1024
SEARCH_BYTES = 32 * 1024
# A folder with more files than this gets an INDEX.md.
FOLDER_INDEX_FILES = 50
# What the system prompt takes of the long-term memory (household and speaker together).
MEMORY_PROMPT_BYTES = 4 * 1024

# A person's name in paths: the object id of a Home Assistant person.
PERSON_PATTERN = re.compile(r"[a-z0-9_]{1,64}")
NOTE_NAME = re.compile(r"(\d{4})-(\d{2})-(\d{2})\.md")


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes in bytes unless the name says otherwise.

    file_bytes: one file that the assistant reads or writes; a memory file past this is a mistake.
    document_bytes: one file its owner dropped into /docs; a manual of 200 pages is about 600 KB.
    tree_bytes, files: the whole tree without sessions, index and trash.
    name_bytes: one name; file systems take 255, temporary names need the rest.
    path_bytes, depth: a whole path, and how many folders deep it may go.
    trash_days, trash_bytes: what the trash keeps, oldest out first.
    """

    file_bytes: int = 256 * 1024
    document_bytes: int = 8 * 1024 * 1024
    tree_bytes: int = 64 * 1024 * 1024
    files: int = 10_000
    name_bytes: int = 200
    path_bytes: int = 1024
    depth: int = 8
    trash_days: int = 90
    trash_bytes: int = 16 * 1024 * 1024


def daily_note(day: date, person: str | None = None) -> str:
    """Return the path of the notes of one day: the household's, or one person's own."""
    folder = MEMORY_DIR if person is None else f"{USERS}/{person}"
    return f"{folder}/{day.isoformat()}.md"


def user_memory(person: str) -> str:
    """Return the path of the long-term memory of one person."""
    return f"{USERS}/{person}/MEMORY.md"
