"""What the workspace needs in the background, and what its owner is told of it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
import threading
from typing import TYPE_CHECKING, Any, Final

from homeassistant.core import callback
from homeassistant.helpers import issue_registry as ir
from homeassistant.helpers.event import async_track_time_interval

from .const import DOMAIN, LOGGER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from homeassistant.config_entries import ConfigEntry
    from homeassistant.core import CALLBACK_TYPE, HomeAssistant

    from .providers.embeddings import Embeddings
    from .workspace.problems import Problem
    from .workspace.vectors import SemanticSearch
    from .workspace.workspace import Notice, Workspace

BROKEN: Final = "files_broken"
RULES_CHANGED: Final = "rules_changed"
#: Looking at every file again costs a moment of the disk; a broken one can wait.
INTERVAL: Final = timedelta(minutes=30)
#: Vectors of so many files at a time: a small machine in the house makes them slowly.
VECTOR_FILES: Final = 50
#: Files that the issue names; the rest is counted.
_NAMED: Final = 10


class WorkspaceCare:
    """Builds the index, looks for broken files, and tells of changed rules."""

    def __init__(
        self,
        hass: HomeAssistant,
        entry: ConfigEntry[Any],
        workspace: Workspace,
        semantic: SemanticSearch | None,
        embeddings: Embeddings | None,
    ) -> None:
        """`semantic` and `embeddings` are there where the owner set them up."""
        self._hass = hass
        self._entry = entry
        self._workspace = workspace
        self._semantic = semantic
        self._embeddings = embeddings
        self._stop = threading.Event()
        self._task: asyncio.Task[None] | None = None
        self._unsubscribe: CALLBACK_TYPE | None = None

    @callback
    def async_start(self) -> None:
        """Begin; set-up does not wait for it."""
        self._workspace.on_notice = self._noticed
        self._look()
        self._unsubscribe = async_track_time_interval(
            self._hass, self._look, INTERVAL, name="mimiclaw workspace"
        )

    async def async_stop(self) -> None:
        """End the work; an index that is half built goes on at the next start."""
        self._workspace.on_notice = None
        self._stop.set()
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
        if self._task is not None:
            # A worker thread cannot be cancelled, only asked.
            await asyncio.wait([self._task])
        if self._semantic is not None:
            await asyncio.to_thread(self._semantic.close)
        if self._embeddings is not None:
            await self._embeddings.aclose()
        await asyncio.to_thread(self._workspace.close)

    @callback
    def _look(self, _now: object = None) -> None:
        if self._task is None or self._task.done():
            self._task = self._entry.async_create_background_task(
                self._hass, self.async_look(), "mimiclaw workspace"
            )

    async def async_look(self) -> None:
        """Bring the index up to date and say which files cannot be read."""
        try:
            await asyncio.to_thread(self._workspace.build_index, self._stop)
            if self._stop.is_set():
                return
            self._tell(await asyncio.to_thread(self._workspace.problems))
        except Exception:  # noqa: BLE001  looking after files must not end the assistant
            LOGGER.exception("The workspace was not looked after")
        await self._make_vectors()

    async def _make_vectors(self) -> None:
        if self._semantic is None:
            return
        try:
            while not self._stop.is_set() and await self._semantic.update(VECTOR_FILES):
                pass
        except Exception as err:  # noqa: BLE001  whatever the SDK raises: it is down
            LOGGER.warning("The embeddings endpoint gives no vectors: %r", err)

    @callback
    def _tell(self, problems: list[Problem]) -> None:
        """Keep one issue in step with the files; skills have their own."""
        mine = [one for one in problems if not one.path.startswith("/skills")]
        if not mine:
            ir.async_delete_issue(self._hass, DOMAIN, BROKEN)
            return
        rest = len(mine) - _NAMED
        lines = [f"- `{one.path}`: {one.detail}" for one in mine[:_NAMED]]
        lines += [f"- … {rest}"] if rest > 0 else []
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            BROKEN,
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING,
            translation_key=BROKEN,
            translation_placeholders={"files": "\n".join(lines)},
        )

    def _noticed(self, notice: Notice) -> None:
        """Take what a turn did; called in a worker thread."""
        self._hass.loop.call_soon_threadsafe(self._rules_changed, notice)

    @callback
    def _rules_changed(self, notice: Notice) -> None:
        places: Mapping[str, str] = {
            "path": notice.path,
            "trash": notice.trash or "–",
        }
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            f"{RULES_CHANGED}_{notice.path.strip('/').replace('/', '.')}",
            is_fixable=True,
            severity=ir.IssueSeverity.WARNING,
            translation_key=RULES_CHANGED,
            translation_placeholders=dict(places),
        )
