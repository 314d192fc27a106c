"""Build and run the satellite's twin: the firmware on this machine, with pins that tests drive.

Standard library only, Python 3.11 and later: the demo imports it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import fcntl
import hashlib
import json
import os
from pathlib import Path
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from types import TracebackType
from typing import Any, Self

REPO = Path(__file__).resolve().parents[2]
ESPHOME = REPO / ".venv-esphome" / "bin" / "esphome"
COMPONENTS = REPO / "esphome" / "components"
DEFAULT_YAML = REPO / "esphome" / "mimiclaw-twin.yaml"
CACHE = REPO / ".cache" / "twin"

# A full build takes 20 s on two idle cores; a busy machine may need ten times that.
BUILD_TIMEOUT_S = 600.0
# The program opens its port within 50 ms; sanitizers and a busy machine are slower.
START_TIMEOUT_S = 30.0
# It stops on a signal within one round of its loop, 16 ms.
STOP_TIMEOUT_S = 10.0
CONTROL_TIMEOUT_S = 10.0

_SOURCE_SUFFIXES = {".py", ".h", ".cpp", ".c", ".yaml", ".yml"}


class TwinError(Exception):
    """The twin could not be built, started or asked; the text says what happened."""


def _silent(_: str) -> None:
    """Log nowhere."""


def _source_files(yaml: Path) -> Iterator[Path]:
    yield yaml
    roots = [COMPONENTS, REPO / "esphome" / "packages"]
    if yaml.parent != DEFAULT_YAML.parent:
        roots.append(yaml.parent)
    for root in roots:
        for path in sorted(root.rglob("*")):
            if path.suffix in _SOURCE_SUFFIXES and "__pycache__" not in path.parts:
                yield path


def _esphome_version() -> str:
    found = sorted(
        ESPHOME.parent.parent.glob("lib/python3*/site-packages/esphome-*.dist-info")
    )
    if not ESPHOME.exists() or not found:
        raise TwinError(
            f"ESPHome is not installed at {ESPHOME.parent}; run scripts/setup"
        )
    return found[-1].name


def source_hash(yaml: Path, substitutions: dict[str, str], compiler_flags: str) -> str:
    """Hash of everything a build depends on: YAML, component sources, ESPHome's version."""
    digest = hashlib.sha256()
    digest.update(_esphome_version().encode())
    digest.update(json.dumps([substitutions, compiler_flags], sort_keys=True).encode())
    for path in _source_files(yaml):
        digest.update(
            str(path.relative_to(REPO) if path.is_relative_to(REPO) else path).encode()
        )
        digest.update(path.read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_twin(
    yaml: Path = DEFAULT_YAML,
    log: Callable[[str], None] = print,
    substitutions: dict[str, str] | None = None,
    compiler_flags: str = "",
) -> Path:
    """Compile a host configuration if its sources changed; return the program.

    The build lives under .cache/twin/, one folder a YAML file (and set of substitutions); two
    builders of the same one wait for each other, and the program they return is never written
    again. `compiler_flags` go to the compiler and the linker (sanitizers). Raises TwinError with
    the compiler's last lines.
    """
    yaml = yaml.resolve()
    substitutions = substitutions or {}
    wanted = source_hash(yaml, substitutions, compiler_flags)
    variant = f"{yaml}{sorted(substitutions.items())}{compiler_flags}"
    key = hashlib.sha256(variant.encode()).hexdigest()[:8]
    folder = CACHE / f"{yaml.stem}-{key}"
    program = folder / "programs" / wanted[:16]
    with _locked(folder / "lock"):
        if program.exists():
            return program
        if not shutil.which("g++"):
            raise TwinError("g++ is missing\n  Way out: apt-get install g++")
        log(f"  building {yaml.name} (about 20 s the first time)")
        started = time.monotonic()
        command = [str(ESPHOME), "-q"]
        for name, value in substitutions.items():
            command += ["-s", name, value]
        env = {**os.environ, "ESPHOME_DATA_DIR": str(folder / "data")}
        if compiler_flags:
            env["CXX"] = f"{env.get('CXX', 'g++')} {compiler_flags}"
        built = subprocess.run(
            [*command, "compile", str(yaml)],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=BUILD_TIMEOUT_S,
            check=False,
        )
        binaries = sorted((folder / "data" / "build").glob("*/.pioenvs/*/program"))
        if built.returncode != 0 or not binaries:
            tail = "\n".join(built.stdout.splitlines()[-40:])
            raise TwinError(f"{yaml.name} did not build:\n{tail}")
        program.parent.mkdir(parents=True, exist_ok=True)
        for old in program.parent.iterdir():
            old.unlink()
        # Renamed into place: a twin that runs from it never sees half a file.
        part = program.with_suffix(".part")
        shutil.copy2(binaries[-1], part)
        part.rename(program)
        log(f"built {yaml.name} in {time.monotonic() - started:.0f} s")
        return program


def free_port() -> int:
    """A TCP port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Twin:
    """One running twin; a context manager that stops it.

    `home` holds its preferences and its log; give the same folder again to restart the same device.
    Without one, each twin gets a fresh folder that goes away with it.
    """

    def __init__(
        self,
        program: Path | None = None,
        *,
        port: int | None = None,
        mac: str = "02:4D:43:00:00:01",
        name: str | None = None,
        friendly_name: str | None = None,
        home: Path | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.program = program if program is not None else build_twin(log=_silent)
        self.host = "127.0.0.1"
        self.port = port if port is not None else free_port()
        self.mac = mac
        self.name = name
        self.friendly_name = friendly_name
        self._extra_env = dict(env or {})
        # Unix socket paths end at 107 bytes, so never below a test's own deep folder.
        self._temporary = tempfile.mkdtemp(prefix="twin-")
        self.home = home if home is not None else Path(self._temporary)
        self.socket_path = Path(self._temporary) / "control.sock"
        self.log_path = self.home / "twin.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def start(self) -> Self:
        """Start the program and wait until its API accepts. Raises TwinError."""
        self.home.mkdir(parents=True, exist_ok=True)
        Path(self._temporary).mkdir(exist_ok=True)
        env = {
            **os.environ,
            "MIMICLAW_TWIN_API_PORT": str(self.port),
            "MIMICLAW_TWIN_SOCKET": str(self.socket_path),
            "MIMICLAW_TWIN_MAC": self.mac,
            "ESPHOME_PREFDIR": str(self.home / "prefs"),
            **self._extra_env,
        }
        if self.name is not None:
            env["MIMICLAW_TWIN_NAME"] = self.name
        if self.friendly_name is not None:
            env["MIMICLAW_TWIN_FRIENDLY_NAME"] = self.friendly_name
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [str(self.program)],
                env=env,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            if self._process.poll() is not None:
                raise TwinError(
                    f"the twin ended at once (code {self._process.returncode}):\n{self._log_tail()}"
                )
            if self.socket_path.exists() and self._accepts():
                return self
            if time.monotonic() > deadline:
                self.stop()
                raise TwinError(
                    f"the twin did not open port {self.port}:\n{self._log_tail()}"
                )
            time.sleep(0.02)

    def _accepts(self) -> bool:
        try:
            with socket.create_connection((self.host, self.port), timeout=1):
                return True
        except OSError:
            return False

    def _log_tail(self) -> str:
        try:
            return "\n".join(
                self.log_path.read_text(errors="replace").splitlines()[-20:]
            )
        except OSError:
            return "(no log)"

    @property
    def running(self) -> bool:
        """Whether the program is alive."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        """Process id of the running program. Raises TwinError when it is not running."""
        if self._process is None:
            raise TwinError("the twin is not running")
        return self._process.pid

    def stop(self, kill: bool = False) -> int:
        """End the program, gently or (kill) as a power cut would; return its exit code."""
        self._close_control()
        if self._process is None:
            return 0
        process, self._process = self._process, None
        if process.poll() is None:
            process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        try:
            return process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait(STOP_TIMEOUT_S)

    def _close_control(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None

    def control(self, command: str) -> dict[str, Any]:
        """Send one line to the control socket; return its answer. Raises TwinError on a refusal."""
        try:
            if self._control is None:
                self._control = socket.socket(socket.AF_UNIX)
                self._control.settimeout(CONTROL_TIMEOUT_S)
                self._control.connect(str(self.socket_path))
            self._control.sendall(command.encode() + b"\n")
            answer = bytearray()
            while not answer.endswith(b"\n"):
                part = self._control.recv(65536)
                if not part:
                    raise TwinError(
                        f"the twin hung up on {command!r}:\n{self._log_tail()}"
                    )
                answer += part
        except OSError as err:
            self._close_control()
            raise TwinError(f"the twin does not answer {command!r}: {err}") from err
        result: dict[str, Any] = json.loads(answer)
        if "error" in result:
            raise TwinError(f"{command!r}: {result['error']}")
        return result

    def close(self) -> None:
        """Stop and remove what is temporary."""
        self.stop()
        shutil.rmtree(self._temporary, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
