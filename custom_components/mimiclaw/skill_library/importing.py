"""Skills from elsewhere: a pasted text, a Markdown file or a zipped folder with SKILL.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final
import zipfile
import zlib

from ..workspace.errors import NotText, WorkspaceError
from ..workspace.names import parse
from ..workspace.skill_marks import mark
from ..workspace.skills import check_skill
from ..workspace.text import decode
from .checking import Verdict, judge, skill_path
from .errors import SkillRefused
from .limits import (
    IMPORT_BYTES,
    IMPORT_FILE_BYTES,
    IMPORT_FILES,
    ORIGIN_CHARS,
)
from .secrets import secrets

if TYPE_CHECKING:
    from ..workspace.workspace import Workspace
    from .references import ToolShape

_MAIN: Final = "SKILL.md"
_PAGE_ENDS: Final = (".md", ".markdown", ".txt")
ELSEWHERE: Final = "elsewhere"
#: An import cannot call itself the house's own.
_RESERVED: Final = frozenset({"", "owner", "shipped"})


@dataclass(frozen=True, slots=True)
class Package:
    """What was brought: the skill's page, and further files by their relative path.

    name: what it is called where it came from, "" when that is not known.
    """

    page: str
    name: str = ""
    files: Mapping[str, str] | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    path: str
    title: str
    origin: str
    written: tuple[str, ...]
    warnings: tuple[str, ...]


def from_upload(filename: str, data: bytes) -> Package:
    """Read an uploaded file. Raises SkillRefused."""
    name = PurePosixPath(filename.replace("\\", "/")).name
    if data[:4] == b"PK\x03\x04":
        return _from_zip(data)
    if not name.lower().endswith(_PAGE_ENDS):
        raise SkillRefused(
            f"{name} is neither a Markdown file nor a zip with {_MAIN} in it."
        )
    if len(data) > IMPORT_FILE_BYTES:
        raise SkillRefused(
            f"{name} is over {IMPORT_FILE_BYTES // 1024} KB; a skill is a page of text."
        )
    stem = name.rpartition(".")[0]
    return Package(_text(data, name), "" if stem == "SKILL" else stem)


def _text(data: bytes, name: str) -> str:
    try:
        return decode(data, name).replace("\r\n", "\n")
    except NotText as err:
        raise SkillRefused(f"{name} is not UTF-8 text.") from err


def _from_zip(data: bytes) -> Package:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            entries = [one for one in archive.infolist() if not one.is_dir()]
            entries = [one for one in entries if not _is_litter(one.filename)]
            if len(entries) > IMPORT_FILES:
                raise SkillRefused(f"The zip has over {IMPORT_FILES} files.")
            main = _main_of([one.filename for one in entries])
            top = PurePosixPath(main).parent
            files: dict[str, bytes] = {}
            left = IMPORT_BYTES
            for entry in entries:
                place = PurePosixPath(entry.filename)
                if not place.is_relative_to(top):
                    continue
                with archive.open(entry) as file:
                    # What the directory says of a size is not to be believed.
                    content = file.read(left + 1)
                left -= len(content)
                if left < 0:
                    raise SkillRefused(
                        f"The zip holds over {IMPORT_BYTES // 1024} KB; a skill is text."
                    )
                files[place.relative_to(top).as_posix()] = content
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        EOFError,
        OSError,
        ValueError,
    ) as err:
        raise SkillRefused("The zip cannot be read; it is damaged or locked.") from err
    page = _text(files.pop(PurePosixPath(main).name), main)
    texts: dict[str, str] = {}
    warnings: list[str] = []
    for name, content in files.items():
        try:
            texts[name] = _text(content, name)
        except SkillRefused:
            warnings.append(f"{name} is not text and was left out.")
    return Package(page, top.name, texts, tuple(warnings))


def _is_litter(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return "__MACOSX" in parts or any(
        part.startswith(".") and part not in (".", "..") for part in parts
    )


def _main_of(names: list[str]) -> str:
    """Return the page of a zip: the topmost SKILL.md, or its only Markdown file."""
    mains = sorted(
        (name for name in names if PurePosixPath(name).name == _MAIN),
        key=lambda name: len(PurePosixPath(name).parts),
    )
    if mains:
        depth = len(PurePosixPath(mains[0]).parts)
        if sum(len(PurePosixPath(name).parts) == depth for name in mains) > 1:
            raise SkillRefused("The zip holds several skills; import one at a time.")
        return mains[0]
    pages = [name for name in names if name.lower().endswith(".md")]
    if len(pages) != 1:
        raise SkillRefused(f"The zip has no {_MAIN}.")
    return pages[0]


def origin_of(text: str) -> str:
    """Return where a skill came from as it is marked: one short line, never our own words."""
    origin = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    origin = origin[:ORIGIN_CHARS].strip()
    return ELSEWHERE if origin.casefold() in _RESERVED else origin


def store(
    workspace: Workspace,
    package: Package,
    tools: Mapping[str, ToolShape],
    *,
    name: str = "",
    category: str = "",
    origin: str = "",
    replace: bool = False,
) -> Imported:
    """Write a package into the workspace, marked as from elsewhere. Blocking.

    replace: whether it may take the place of a skill that is there; that one goes to the
    trash. Raises SkillRefused and WorkspaceError; nothing is written then.
    """
    path = _place(package, name, category)
    verdict = judge(
        path, package.page, workspace.skills.catalogue(), tools, foreign=True
    )
    folder = path.removesuffix(_MAIN)
    texts = {path: package.page}
    texts |= {folder + file: text for file, text in (package.files or {}).items()}
    _refuse(verdict, texts)
    versions: dict[str, str | None] = {}
    for one in texts:
        parts = parse(one, workspace.limits)
        if parts[:-1] != parse(path)[:-1] and not one.startswith(folder):
            raise SkillRefused(f"{one} is outside the skill's own folder.")
        versions[one] = workspace.version(parts)
        if versions[one] is not None and not replace:
            raise SkillRefused(
                f"{one} is there already. Give another name, or say that it may be replaced."
            )
    for one, text in texts.items():
        if versions[one] is not None:
            parts = parse(one, workspace.limits)
            data, _ = workspace.tree.read(parts, workspace.limits.document_bytes)
            workspace.trash.keep(parts, data, workspace.clock())
        workspace.replace(one, text, versions[one])
    marked = origin_of(origin)
    mark(workspace.tree, workspace.locks, parse(path), marked)
    title = verdict.skill.title if verdict.skill else path
    return Imported(
        path, title, marked, tuple(texts), (*package.warnings, *verdict.warnings)
    )


def _place(package: Package, name: str, category: str) -> str:
    """Return where the package's page goes."""
    wanted = name or package.name
    if not wanted:
        try:
            skill = check_skill("/skills/pasted.md", package.page)
        except WorkspaceError as err:
            raise SkillRefused(str(err)) from err
        wanted = skill.name if skill.name != "pasted" else skill.title
    path = skill_path(wanted, category)
    return f"{path.removesuffix('.md')}/{_MAIN}" if package.files else path


def _refuse(verdict: Verdict, texts: Mapping[str, str]) -> None:
    """Raise SkillRefused with all that is wrong."""
    found = list(verdict.errors)
    for path, text in texts.items():
        if path != verdict.path:
            found += [
                f"{path}, line {line}, looks like {kind}."
                for line, kind in secrets(text)
            ]
        if len(text.encode()) > IMPORT_FILE_BYTES:
            found.append(f"{path} is over {IMPORT_FILE_BYTES // 1024} KB.")
    if found:
        raise SkillRefused(" ".join(dict.fromkeys(found)))
