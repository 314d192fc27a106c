"""The release: the component's folder and the skill library in one archive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
import zipfile

from .steps import say

ROOT = Path(__file__).resolve().parents[2]
COMPONENT = ROOT / "custom_components" / "mimiclaw"
SKILLS = ROOT / "skills"
ARCHIVE = ROOT / "dist" / "mimiclaw.zip"
#: Archives made from one tree are the same to the byte.
STAMP = (2026, 1, 1, 0, 0, 0)


def contents() -> Iterator[tuple[Path, str]]:
    """Yield each file of the release and its name in the archive."""
    for folder, inside in ((COMPONENT, Path()), (SKILLS, Path("skills"))):
        for file in sorted(folder.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file, (inside / file.relative_to(folder)).as_posix()


def build(archive: Path = ARCHIVE) -> Path:
    """Write the archive and return its path."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as release:
        for file, name in contents():
            info = zipfile.ZipInfo(name, STAMP)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            release.writestr(info, file.read_bytes())
    return archive


def install(config: Path, archive: Path = ARCHIVE) -> Path:
    """Lay the archive down in a configuration folder as HACS does."""
    target = config / "custom_components" / "mimiclaw"
    target.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive) as release:
        release.extractall(target)
    return target


def main() -> int:
    """Run the command line `scripts/package`."""
    archive = build()
    say(f"{archive.relative_to(ROOT)}: {archive.stat().st_size / 1024:.0f} KiB")
    return 0
