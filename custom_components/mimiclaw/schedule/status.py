"""What /status tells of the schedule and the heartbeat."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from homeassistant.util import dt as dt_util

from .times import said

if TYPE_CHECKING:
    from ..phrases import Phrases
    from .heartbeat import Heartbeat
    from .scheduler import Scheduler


class StatusLines:
    """Puts the state of the schedule into words. `heartbeat` is set once there is one."""

    def __init__(self, scheduler: Scheduler, phrases: Phrases) -> None:
        """Take the schedule and our sentences."""
        self._scheduler = scheduler
        self._phrases = phrases
        self.heartbeat: Heartbeat | None = None

    async def __call__(self, language: str) -> list[str]:
        """Return the lines."""
        jobs = self._scheduler.jobs
        slots = [self._scheduler.next_run(job.id) for job in jobs]
        following = min((slot for slot in slots if slot is not None), default=None)
        zone = dt_util.get_default_time_zone()
        lines = [
            await self._phrases.async_say(
                language,
                "telegram_status_jobs",
                {
                    "count": str(len(jobs)),
                    "next": "–" if following is None else said(following, zone),
                },
            )
        ]
        beat: datetime | None = self.heartbeat.last_beat if self.heartbeat else None
        if beat is not None:
            when = {"when": said(beat.timestamp(), zone)}
            lines.append(
                await self._phrases.async_say(
                    language, "telegram_status_heartbeat", when
                )
            )
        return lines
