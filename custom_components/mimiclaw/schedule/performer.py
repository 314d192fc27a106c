"""Does what a job says: a turn whose answer is delivered, or a command to a relay."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from homeassistant.util import dt as dt_util

from ..message import Message
from ..people import speaker_for_person
from ..satellite.refusals import refusal_placeholders
from ..workspace.speaker import HOUSEHOLD, Speaker
from . import system_turns
from .limits import ON_TIME_S
from .runner import Result
from .targets import Deliverer, Target, Undeliverable
from .times import said

if TYPE_CHECKING:
    from homeassistant.core import HomeAssistant

    from ..phrases import Phrases
    from ..satellite.registry import Satellites
    from .job import Job
    from .run_journal import Unfinished
    from .runner import Run
    from .system_turns import Assistant

_LOGGER = logging.getLogger(__name__)

#: The channel of a job that was made nowhere in particular.
CHANNEL: Final = "schedule"

#: A fired reminder must not read like a person's wish: it would schedule the next one.
_PROMPT: Final = (
    "[Scheduled job '{name}', due {due}{late}. This is the schedule speaking, not a "
    "person, and nothing can be scheduled in this turn. Do what the job says and answer "
    "with what the person is to read: a reminder is passed on, not acknowledged. If the "
    "job has nothing to report, answer with HEARTBEAT_OK alone.]\n{message}"
)
_LATE: Final = ", made up for at {now}"


class JobPerformer:
    """Performs jobs in Home Assistant."""

    def __init__(
        self,
        hass: HomeAssistant,
        satellites: Satellites,
        phrases: Phrases,
    ) -> None:
        """Take who switches and our sentences; `open` brings the rest.

        The assistant has a tool that adds jobs, and a job asks the assistant: one of
        the two has to come later.
        """
        self._hass = hass
        self._satellites = satellites
        self._phrases = phrases
        self._rooms: tuple[Assistant, Deliverer] | None = None

    def open(self, assistant: Assistant, delivery: Deliverer) -> None:
        """Take who answers and who delivers, before the first job runs."""
        self._rooms = (assistant, delivery)

    @property
    def _assistant(self) -> Assistant:
        return self._opened()[0]

    @property
    def _delivery(self) -> Deliverer:
        return self._opened()[1]

    def _opened(self) -> tuple[Assistant, Deliverer]:
        if self._rooms is None:
            raise RuntimeError("A job ran before the assistant was there")
        return self._rooms

    def find_target(self, wanted: str, person: str | None) -> Target | None:
        """Return what a model's word for a target means; see Deliverer.find."""
        return self._delivery.find(wanted, person)

    async def perform(self, run: Run) -> Result:
        """Do a job."""
        job = run.job
        if job.action is not None:
            return await self._relay(job)
        answer = await system_turns.run(self._assistant, self._message(run), run.acting)
        if answer.error:
            # A reminder is no less due because no model could be asked.
            text = await self._say(
                job,
                "schedule_job_no_answer",
                name=job.name,
                message=job.message,
                answer=answer.text,
            )
            await self._deliver(job, text)
            return Result(False, answer.text or answer.error)
        if answer.nothing:
            return Result(True)
        await run.replied(answer.text)
        return await self._deliver(job, answer.text)

    async def resume(self, job: Job, unfinished: Unfinished) -> Result | None:
        """Finish what a crash cut short.

        The answer was there: it is delivered. Nothing was touched yet: the turn is run
        again. A relay or a file may have been touched: the person is told, and nothing
        is done twice.
        """
        if job.action is None:
            if unfinished.stage == "reply":
                return await self._deliver(job, unfinished.reply)
            if unfinished.stage == "begin":
                return None
        text = await self._say(
            job,
            "schedule_interrupted",
            name=job.name,
            due=said(unfinished.slot, dt_util.get_default_time_zone()),
            message=job.message or "–",
        )
        await self._deliver(job, text)
        return Result(True)

    def _message(self, run: Run) -> Message:
        job = run.job
        zone = dt_util.get_default_time_zone()
        late = ""
        if run.late_s > ON_TIME_S:
            late = _LATE.format(now=said(run.slot + run.late_s, zone))
        text = _PROMPT.format(
            name=job.name, due=said(run.slot, zone), late=late, message=job.message
        )
        return Message(
            text=text,
            channel=job.channel or CHANNEL,
            conversation_id=job.chat_id or job.id,
            language=self._language(job),
            speaker=self._speaker(job),
            system_turn=True,
        )

    def _speaker(self, job: Job) -> Speaker:
        """Return whom a job works for; a person who is gone sees nothing private."""
        if job.person is None:
            return HOUSEHOLD
        return speaker_for_person(self._hass, f"person.{job.person}")

    def _language(self, job: Job) -> str:
        return job.language or self._hass.config.language

    async def _relay(self, job: Job) -> Result:
        """Command a relay by the satellite's policy, as an automation; no model."""
        action = job.action
        if action is None:
            return Result(False, "There is no action.")
        language = self._language(job)
        channels = self._satellites.resolve(action.channel, language)
        if len(channels) != 1:
            return await self._refused(
                job,
                await self._say(
                    job,
                    "channel_ambiguous" if channels else "channel_unknown",
                    channel=action.channel,
                    channels=", ".join(one.name for one in channels),
                ),
            )
        outcome = await self._satellites.write(
            channels[0].key, action.state, action.duration_s, "automation"
        )
        if not outcome.ok:
            text = await self._phrases.async_say(
                language,
                f"channel_{outcome.code}",
                refusal_placeholders(self._satellites, outcome),
            )
            return await self._refused(job, text)
        if job.message:
            return await self._deliver(job, job.message)
        return Result(True)

    async def _refused(self, job: Job, reason: str) -> Result:
        text = await self._say(
            job, "schedule_relay_refused", name=job.name, reason=reason
        )
        await self._deliver(job, text)
        return Result(False, reason)

    async def _deliver(self, job: Job, text: str) -> Result:
        target = self._delivery.target_for(job.channel, job.chat_id, job.person)
        try:
            await self._delivery.deliver(target, text, title=job.name)
        except Undeliverable as err:
            return Result(False, str(err))
        return Result(True)

    async def _say(self, job: Job, key: str, **placeholders: str) -> str:
        return await self._phrases.async_say(self._language(job), key, placeholders)
