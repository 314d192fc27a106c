"""Bring everything a checkout needs: Python, three environments, ESPHome."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
import fcntl
import hashlib
import json
from pathlib import Path
import re
import shutil
import sys
import tempfile
import time
import tomllib

from .python import find_python, find_uv
from .steps import StepFailed, fail, run, say, step

ROOT = Path(__file__).resolve().parents[2]

#: The components of Home Assistant that the demo, the tests and the benches load, some of
#: them by onboarding or by an import that no manifest names; what they and their
#: dependencies require is installed at the versions Home Assistant pins. A running Home
#: Assistant would install it, too, but in the middle of a test.
COMPONENTS = (
    "ai_task",
    "anthropic",
    "assist_pipeline",
    "automation",
    "backup",
    "camera",
    "config",
    "conversation",
    "esphome",
    "frontend",
    "google_translate",
    "hassio",
    "history",
    "infrared",
    "logbook",
    "met",
    "mobile_app",
    "onboarding",
    "openai_conversation",
    "person",
    "radio_browser",
    "radio_frequency",
    "recorder",
    "shopping_list",
    "telegram_bot",
    "zeroconf",
)


@dataclass(frozen=True)
class Environment:
    """A virtual environment made from one dependency group of pyproject.toml."""

    folder: str
    group: str
    holds: str
    home_assistant: bool = False

    @property
    def python(self) -> Path:
        """Return its interpreter."""
        return ROOT / self.folder / "bin" / "python"


ENVIRONMENTS = (
    Environment(".venv", "test", "Home Assistant with its test plugin", True),
    Environment(".venv-newest", "newest", "the newest Home Assistant", True),
    Environment(".venv-esphome", "esphome", "ESPHome"),
)

NETWORK = "check that the package index is reachable, then run scripts/setup again"


def fingerprint(environment: Environment) -> str:
    """Return what an environment was made from; another value means: make it anew."""
    digest = hashlib.sha256(repr((environment, COMPONENTS)).encode())
    digest.update(
        (ROOT / "custom_components" / "mimiclaw" / "manifest.json").read_bytes()
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = project["dependency-groups"][environment.group]
    digest.update(json.dumps(wanted).encode())
    return digest.hexdigest()


def ready(environment: Environment) -> bool:
    """Tell whether the environment is whole and up to date."""
    stamp = ROOT / environment.folder / "mimiclaw-setup"
    try:
        return (
            stamp.read_text(encoding="utf-8") == fingerprint(environment)
            and environment.python.exists()
        )
    except OSError:
        return False


def component_requirements(environment: Environment) -> tuple[set[str], str]:
    """Read what COMPONENTS and we require, and this Home Assistant's constraints."""
    locate = "import homeassistant, os; print(os.path.dirname(homeassistant.__file__))"
    package = Path(run([environment.python, "-c", locate]).strip())
    wanted: set[str] = set()
    seen: set[str] = set()
    queue = list(COMPONENTS)
    while queue:
        name = queue.pop()
        manifest = package / "components" / name / "manifest.json"
        if name in seen or not manifest.exists():
            continue
        seen.add(name)
        content = json.loads(manifest.read_text(encoding="utf-8"))
        wanted.update(content.get("requirements", ()))
        queue += content.get("dependencies", ())
    # Modules of the login name theirs in the source.
    for module in (package / "auth" / "mfa_modules").glob("*.py"):
        found = re.search(
            r"REQUIREMENTS = (\[.*?\])", module.read_text("utf-8"), re.DOTALL
        )
        wanted.update(ast.literal_eval(found[1]) if found else ())
    ours = ROOT / "custom_components" / "mimiclaw" / "manifest.json"
    wanted.update(json.loads(ours.read_text(encoding="utf-8"))["requirements"])
    constraints = package / "package_constraints.txt"
    return wanted, constraints.read_text(encoding="utf-8")


def install_components(environment: Environment, install: list[str | Path]) -> None:
    """Install the requirements of COMPONENTS as Home Assistant pins them.

    A package index can lag behind Home Assistant's release by a version or two: such a
    pin is replaced by the nearest older version of its major, and that is said.
    """
    wanted, constraints = component_requirements(environment)
    while True:
        try:
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                file.write(constraints)
                file.flush()
                run([*install, "--constraint", file.name, *sorted(wanted)])
        except StepFailed as err:
            lagging = re.search(r"no version of ([\w.-]+)==(\d+)([\w.]*)", str(err))
            if not lagging:
                raise
            name, major, rest = lagging.groups()
            pin = f"{name}=={major}{rest}"
            nearest = f"{name}>={major},<={major}{rest}"
            if pin not in wanted and pin not in constraints:
                raise
            say(f"  the index has no {pin}: taking {nearest}")
            wanted = {nearest if one == pin else one for one in wanted}
            constraints = constraints.replace(pin, nearest)
        else:
            return


def make(environment: Environment, uv: Path, python: Path) -> None:
    """Make one environment; its stamp comes last, so a broken one is made anew."""
    folder = ROOT / environment.folder
    (folder / "mimiclaw-setup").unlink(missing_ok=True)
    if not environment.python.exists():
        shutil.rmtree(folder, ignore_errors=True)
        run([uv, "venv", "--quiet", "--python", python, folder])
    install: list[str | Path] = [uv, "pip", "install", "--quiet", "--python"]
    install.append(environment.python)
    run([*install, "--group", f"{ROOT / 'pyproject.toml'}:{environment.group}"])
    if environment.home_assistant:
        install_components(environment, install)
    stamp = folder / "mimiclaw-setup"
    stamp.write_text(fingerprint(environment), encoding="utf-8")


def bring(title: str, way_out: str, find: Callable[[], Path]) -> Path:
    """Run one finding step and say what it found."""
    with step(title, way_out):
        found = find()
    say(f"  {found}")
    return found


def setup() -> None:
    """Do what is to do. Raises StepFailed."""
    missing = [one for one in ENVIRONMENTS if not ready(one)]
    if not missing:
        return
    for tool, package in (("g++", "g++"), ("git", "git")):
        if not shutil.which(tool):
            raise StepFailed(
                f"✗ {tool} is missing\n  Way out: apt-get install {package}"
            )
    started = time.monotonic()
    (ROOT / ".cache").mkdir(exist_ok=True)
    with (ROOT / ".cache" / "setup.lock").open("w", encoding="utf-8") as lock:
        # Two scripts at once: the second waits, then finds the work done.
        fcntl.flock(lock, fcntl.LOCK_EX)
        missing = [one for one in ENVIRONMENTS if not ready(one)]
        if missing:
            uv = bring(
                "Looking for uv",
                f"{NETWORK}; without pip: apt-get install python3-pip",
                find_uv,
            )
            python = bring(
                "Looking for Python 3.14",
                "install Python 3.14.2 or newer, so that python3.14 is on PATH",
                lambda: find_python(uv),
            )
        for one in missing:
            with step(f"Making {one.folder}: {one.holds}", NETWORK):
                make(one, uv, python)
    say(f"Set up in {time.monotonic() - started:.0f} s.")


def main() -> int:
    """Run the command line `scripts/setup`."""
    try:
        setup()
    except StepFailed as err:
        return fail(err)
    except KeyboardInterrupt:
        return fail("\nStopped. Run it again: it goes on where it was.")
    if sys.stdout.isatty() or "-v" in sys.argv:
        say("Ready.")
    return 0
