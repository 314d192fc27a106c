"""cron_add, cron_list, cron_remove: reminders, repeated jobs, relays at a time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Any, Protocol

from ..providers.protocol import ToolSpec
from ..schedule.errors import ScheduleError
from ..schedule.requests import job_from
from ..schedule.times import in_words, said
from ..workspace.errors import WorkspaceError
from .base import Tool, ToolContext, ToolError, schema
from .consent import plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..satellite.model import Channel
    from ..schedule.job import Job
    from ..schedule.targets import Target
    from .gpio import Satellites


class Schedule(Protocol):
    """What these tools need of the schedule."""

    @property
    def jobs(self) -> list[Job]:
        """Return every job."""

    @property
    def broken(self) -> str:
        """Return why the file cannot be read, or nothing."""

    def next_run(self, job_id: str) -> float | None:
        """Return when a job runs next."""

    def zone_of(self, job: Job) -> tzinfo:
        """Return the zone of a job's times."""

    async def add(self, job: Job) -> Job:
        """Add a job."""

    async def remove(self, job_id: str) -> None:
        """Remove a job."""


type FindTarget = Callable[[str, str | None], Target | None]

_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_ADD: Mapping[str, Mapping[str, Any]] = {
    "name": {**_TEXT, "description": "Short name"},
    "schedule_type": {**_TEXT, "enum": ["every", "at", "cron"]},
    "interval_s": {**_NUMBER, "description": "every: seconds between two runs"},
    "at": {
        **_TEXT,
        "description": "at: local time, 2026-12-24T18:00, or 18:00 for the next one",
    },
    "at_epoch": {**_NUMBER, "description": "at: seconds since 1970; better use at"},
    "expr": {**_TEXT, "description": "cron: five fields, e.g. '30 7 * * 1-5'"},
    "timezone": {**_TEXT, "description": "Only if not the household's"},
    "message": {
        **_TEXT,
        "description": "What to do or to remind of then, in full: it is read without "
        "this conversation",
    },
    "relay": {
        **_TEXT,
        "description": "For a relay at a time: the channel's name. It acts by itself, "
        "without you",
    },
    "state": {**_TEXT, "enum": ["on", "off", "toggle", "pulse"]},
    "duration_s": {**_NUMBER, "description": "relay: seconds until it goes off"},
    "missed": {
        **_TEXT,
        "enum": ["run_once", "skip"],
        "description": "If Home Assistant was off at the time",
    },
    "deliver_to": {
        **_TEXT,
        "description": "Leave out for here; telegram, notification, or an entity "
        "notify.… or assist_satellite.…",
    },
}


def tools(
    schedule: Schedule, satellites: Satellites, find_target: FindTarget
) -> tuple[Tool, ...]:
    """Return this family's tools.

    `find_target` returns what "telegram", "notification" or an entity means for a
    person, None for what there is not.
    """
    family = _Cron(schedule, satellites, find_target)
    return (
        Tool(
            ToolSpec(
                "cron_add",
                "Schedule a reminder, a repeated job or a relay. The answer says when it "
                "runs: repeat that time to the person.",
                schema(_ADD, ("name",)),
            ),
            family.add,
            aliases={
                "time": "at",
                "cron": "expr",
                "prompt": "message",
                "tz": "timezone",
            },
        ),
        Tool(
            ToolSpec(
                "cron_list",
                "List scheduled jobs with ids and next runs.",
                schema({}),
            ),
            family.list,
            reads_only=True,
        ),
        Tool(
            ToolSpec(
                "cron_remove",
                "Remove a scheduled job.",
                schema({"job_id": _TEXT}, ("job_id",)),
            ),
            family.remove,
            aliases={"id": "job_id", "name": "job_id"},
        ),
    )


class _Cron:
    """The three tools over one schedule."""

    def __init__(
        self, schedule: Schedule, satellites: Satellites, find_target: FindTarget
    ) -> None:
        self._schedule = schedule
        self._satellites = satellites
        self._find_target = find_target

    async def add(self, arguments: Mapping[str, Any], context: ToolContext) -> str:
        """Add a job of the person who speaks; its answer goes where it was asked for."""
        self._check(context)
        channel, chat_id = context.channel, context.conversation_id
        if wanted := str(arguments.get("deliver_to") or "").strip():
            target = self._find_target(wanted, context.speaker.person)
            if target is None:
                raise ToolError(
                    f"Nothing can be delivered to '{wanted}'. Leave deliver_to out to "
                    "answer here."
                )
            channel, chat_id = target.channel, target.id
        asked = dict(arguments)
        if asked.get("relay"):
            asked["relay"] = self._relay(asked, context)
        try:
            job = job_from(
                asked,
                context.now(),
                channel=channel,
                chat_id=chat_id,
                person=context.speaker.person,
                language=context.language,
            )
            added = await self._schedule.add(job)
        except (ScheduleError, WorkspaceError) as err:
            raise ToolError(str(err)) from err
        return f"Scheduled as {added.id}: {self._line(added, context.now())}"

    async def list(self, arguments: Mapping[str, Any], context: ToolContext) -> str:
        """List the household's jobs and the speaker's own."""
        jobs = [
            job for job in self._schedule.jobs if context.speaker.may_see(job.person)
        ]
        lines = [f"{job.id} {self._line(job, context.now())}" for job in jobs]
        if broken := self._schedule.broken:
            lines.append(f"The file /cron.json is broken, edits wait: {broken}")
        return "\n".join(lines) or "Nothing is scheduled."

    async def remove(self, arguments: Mapping[str, Any], context: ToolContext) -> str:
        """Remove a job by its id, or by its name if only one has it."""
        self._check(context)
        wanted = str(arguments["job_id"]).strip()
        mine = [
            job for job in self._schedule.jobs if context.speaker.may_see(job.person)
        ]
        found = [job for job in mine if job.id == wanted] or [
            job for job in mine if job.name.casefold() == wanted.casefold()
        ]
        if not found:
            raise ToolError(f"There is no job '{wanted}'; see cron_list.")
        if len(found) > 1:
            ids = ", ".join(job.id for job in found)
            raise ToolError(f"Several jobs are called '{wanted}'; give the id: {ids}.")
        try:
            await self._schedule.remove(found[0].id)
        except (ScheduleError, WorkspaceError) as err:
            raise ToolError(str(err)) from err
        return f"Removed '{found[0].name}'."

    @staticmethod
    def _check(context: ToolContext) -> None:
        if context.system_turn:
            raise ToolError(
                "This turn was started by the schedule, not by a person: it cannot "
                "change the schedule. Do what the job says now."
            )

    def _relay(self, arguments: Mapping[str, Any], context: ToolContext) -> str:
        """Return the name to keep for a relay that the model may schedule.

        The job acts as an automation, so what the model may not do now it may not do
        later either.
        """
        text = str(arguments["relay"])
        found = self._satellites.resolve(text, context.language)
        if not found:
            names = ", ".join(one.name for one in self._satellites.channels())
            raise ToolError(f"There is no channel '{text}'; there are: {names}.")
        if len(found) > 1:
            names = ", ".join(f"{one.satellite_name}/{one.id}" for one in found)
            raise ToolError(f"'{text}' may mean {names}; say which.")
        channel = found[0]
        if not channel.driven:
            raise ToolError(f"{channel.name} cannot be switched.")
        for actor in ("agent", "automation"):
            if actor not in channel.actors:
                raise ToolError(
                    f"The rules of {channel.name} do not let the {actor} switch it."
                )
        consent = plan(channel.key, arguments)
        if channel.confirm and consent not in context.confirmed:
            context.asked.add(consent)
            raise ToolError(
                f"{channel.name} wants a person's yes. Ask whether to schedule it, and "
                "schedule it once the person has said yes."
            )
        return self._name(channel)

    def _name(self, channel: Channel) -> str:
        """Return the shortest name that means just this channel."""
        if self._satellites.resolve(channel.name) == [channel]:
            return channel.name
        return f"{channel.satellite_name}/{channel.id}"

    def _line(self, job: Job, now: datetime) -> str:
        """Return a job in a line."""
        what = job.message
        if job.action is not None:
            lasts = job.action.duration_s
            spell = f" for {in_words(lasts)}" if lasts else ""
            what = f"{job.action.channel} {job.action.state}{spell}"
        slot = self._schedule.next_run(job.id)
        if slot is None:
            when = "paused after failing" if job.paused else "switched off"
        else:
            left = in_words(slot - now.timestamp())
            when = f"next run {said(slot, self._schedule.zone_of(job))} (in {left})"
        how = {
            "every": f"every {in_words(job.interval_s)}",
            "cron": f"cron '{job.expr}'",
            "at": "once",
        }[job.kind]
        return f"'{job.name}', {how}, {when}: {what}"
