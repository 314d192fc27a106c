"""Actions: the schedule for automations, and the assistant that speaks first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant, ServiceCall, SupportsResponse, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv
from homeassistant.util import dt as dt_util
import probatio

from .channels.errors import ChannelError
from .channels.limits import ASK_MAX_S, ASK_S
from .const import DOMAIN
from .message import Message
from .people import speaker_for_person
from .schedule import system_turns
from .schedule.errors import ScheduleError
from .schedule.limits import MESSAGE_CHARS, NAME_CHARS, SHORTEST_S
from .schedule.requests import FIELDS, job_from
from .schedule.targets import TELEGRAM, Target, Undeliverable, parse_target
from .workspace.errors import WorkspaceError
from .workspace.speaker import HOUSEHOLD, Speaker

if TYPE_CHECKING:
    from homeassistant.core import ServiceResponse

    from .runtime import MimiClawConfigEntry, Runtime
    from .schedule.job import Job
    from .schedule.scheduler import Scheduler

CRON_ADD: Final = "cron_add"
CRON_LIST: Final = "cron_list"
CRON_REMOVE: Final = "cron_remove"
CRON_RUN: Final = "cron_run"
NOTIFY: Final = "notify"
ASK_PERSON: Final = "ask_person"
CONSIDER: Final = "consider"

ATTR_TO: Final = "to"
ATTR_PERSON: Final = "person"
ATTR_JOB: Final = "job_id"
ATTR_MESSAGE: Final = "message"
ATTR_TITLE: Final = "title"
ATTR_QUESTION: Final = "question"
ATTR_ANSWERS: Final = "answers"
ATTR_TIMEOUT: Final = "timeout"
ATTR_EVENT: Final = "event"
ATTR_DATA: Final = "data"

#: The conversation of turns that an automation begins.
CHANNEL: Final = "event"
_EVENT_PROMPT: Final = (
    "[An automation reports an event, {now}. Nobody is speaking, and nothing can be "
    "scheduled in this turn. Decide whether anybody should hear of it. Answer with what "
    "they are to read, and with HEARTBEAT_OK alone if it is not worth a message.]\n"
    "{event}"
)

_seconds = probatio.All(cv.positive_time_period, lambda period: period.total_seconds())
_text = probatio.All(cv.string, probatio.Length(min=1, max=MESSAGE_CHARS))
_where = {
    probatio.Exclusive(ATTR_TO, "where"): cv.string,
    probatio.Exclusive(ATTR_PERSON, "where"): cv.entity_domain("person"),
}

ADD_SCHEMA = probatio.Schema(
    {
        **_where,
        probatio.Required("name"): probatio.All(
            cv.string, probatio.Length(min=1, max=NAME_CHARS)
        ),
        probatio.Optional("schedule_type"): probatio.In(("every", "at", "cron")),
        probatio.Optional("interval_s"): probatio.All(
            probatio.Coerce(float), probatio.Range(min=SHORTEST_S)
        ),
        probatio.Optional("at"): cv.string,
        probatio.Optional("at_epoch"): probatio.Coerce(float),
        probatio.Optional("expr"): cv.string,
        probatio.Optional("timezone"): cv.time_zone,
        probatio.Optional("message"): _text,
        probatio.Optional("relay"): cv.string,
        probatio.Optional("state"): probatio.In(("on", "off", "toggle", "pulse")),
        probatio.Optional("duration_s"): probatio.All(
            probatio.Coerce(float), probatio.Range(min=0.001)
        ),
        probatio.Optional("missed"): probatio.In(("run_once", "skip")),
        probatio.Optional("grace_s"): probatio.All(
            probatio.Coerce(float), probatio.Range(min=0)
        ),
    }
)
JOB_SCHEMA = probatio.Schema({probatio.Required(ATTR_JOB): cv.string})
NOTIFY_SCHEMA = probatio.Schema(
    {
        **_where,
        probatio.Required(ATTR_MESSAGE): cv.string,
        probatio.Optional(ATTR_TITLE): cv.string,
    }
)
ASK_SCHEMA = probatio.Schema(
    {
        **_where,
        probatio.Required(ATTR_QUESTION): _text,
        probatio.Optional(ATTR_ANSWERS, default=[]): probatio.All(
            cv.ensure_list, [cv.string], probatio.Length(max=20)
        ),
        probatio.Optional(ATTR_TIMEOUT, default={"seconds": ASK_S}): probatio.All(
            _seconds, probatio.Range(min=1, max=ASK_MAX_S)
        ),
    }
)
CONSIDER_SCHEMA = probatio.Schema(
    {
        **_where,
        probatio.Required(ATTR_EVENT): _text,
        probatio.Optional(ATTR_DATA, default={}): dict,
    }
)


@callback
def async_setup_schedule_actions(hass: HomeAssistant) -> None:
    """Register the actions; they are there as long as Home Assistant runs."""
    optional, only = SupportsResponse.OPTIONAL, SupportsResponse.ONLY
    for name, handler, schema, answers in (
        (CRON_ADD, _add, ADD_SCHEMA, optional),
        (CRON_LIST, _list, probatio.Schema({}), only),
        (CRON_REMOVE, _remove, JOB_SCHEMA, SupportsResponse.NONE),
        (CRON_RUN, _run, JOB_SCHEMA, SupportsResponse.NONE),
        (NOTIFY, _notify, NOTIFY_SCHEMA, SupportsResponse.NONE),
        (ASK_PERSON, _ask, ASK_SCHEMA, optional),
        (CONSIDER, _consider, CONSIDER_SCHEMA, optional),
    ):
        hass.services.async_register(
            DOMAIN, name, handler, schema=schema, supports_response=answers
        )


def _invalid(key: str, **placeholders: str) -> ServiceValidationError:
    return ServiceValidationError(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders,
    )


def _runtime(hass: HomeAssistant) -> Runtime:
    entries: list[MimiClawConfigEntry] = hass.config_entries.async_entries(DOMAIN)
    for entry in entries:
        if entry.state is ConfigEntryState.LOADED:
            return entry.runtime_data
    raise _invalid("not_loaded")


def _speaker(call: ServiceCall) -> Speaker:
    person = call.data.get(ATTR_PERSON)
    return HOUSEHOLD if person is None else speaker_for_person(call.hass, person)


def _target(call: ServiceCall, runtime: Runtime) -> Target:
    """Return where a call wants to reach somebody. Raises ServiceValidationError."""
    if wanted := call.data.get(ATTR_TO):
        target = parse_target(str(wanted))
        if target is None:
            raise _invalid("target_unknown", target=str(wanted))
        return target
    return runtime.delivery.target_of(_speaker(call).person)


def _as_data(scheduler: Scheduler, job: Job) -> dict[str, Any]:
    slot = scheduler.next_run(job.id)
    return {
        "job_id": job.id,
        "name": job.name,
        "schedule_type": job.kind,
        "message": job.message,
        "enabled": job.enabled,
        "paused": job.paused,
        "next_run": None
        if slot is None
        else dt_util.as_local(dt_util.utc_from_timestamp(slot)).isoformat(),
    }


async def _add(call: ServiceCall) -> ServiceResponse:
    runtime = _runtime(call.hass)
    target = _target(call, runtime)
    asked = {key: call.data[key] for key in FIELDS if key in call.data}
    try:
        job = job_from(
            asked,
            dt_util.now(),
            channel=target.channel,
            chat_id=target.id,
            person=_speaker(call).person,
            language=call.hass.config.language,
        )
        added = await runtime.schedule.scheduler.add(job)
    except (ScheduleError, WorkspaceError) as err:
        raise _invalid("schedule_refused", reason=str(err)) from err
    return _as_data(runtime.schedule.scheduler, added)


async def _list(call: ServiceCall) -> ServiceResponse:
    scheduler = _runtime(call.hass).schedule.scheduler
    return {"jobs": [_as_data(scheduler, job) for job in scheduler.jobs]}


async def _remove(call: ServiceCall) -> None:
    scheduler = _runtime(call.hass).schedule.scheduler
    try:
        await scheduler.remove(call.data[ATTR_JOB])
    except (ScheduleError, WorkspaceError) as err:
        raise _invalid("schedule_refused", reason=str(err)) from err


async def _run(call: ServiceCall) -> None:
    scheduler = _runtime(call.hass).schedule.scheduler
    try:
        await scheduler.run_now(call.data[ATTR_JOB])
    except (ScheduleError, OSError) as err:
        raise _invalid("schedule_refused", reason=str(err)) from err


async def _notify(call: ServiceCall) -> None:
    """Say something, as it is, without a model."""
    runtime = _runtime(call.hass)
    title = call.data.get(ATTR_TITLE)
    text = str(call.data[ATTR_MESSAGE])
    target = _target(call, runtime)
    if title and target.channel == TELEGRAM:
        text = f"**{title}**\n\n{text}"
    await _deliver(runtime, target, text, title=title, context=call.context)


async def _deliver(runtime: Runtime, target: Target, text: str, **more: Any) -> None:
    try:
        await runtime.delivery.deliver(
            target, text, **{key: value for key, value in more.items() if value}
        )
    except Undeliverable as err:
        raise HomeAssistantError(
            translation_domain=DOMAIN,
            translation_key="undeliverable",
            translation_placeholders={"reason": str(err)},
        ) from err


async def _ask(call: ServiceCall) -> ServiceResponse:
    """Ask a person with buttons and wait for the answer."""
    runtime = _runtime(call.hass)
    target = _target(call, runtime)
    chat = runtime.telegram.chat(target.id) if target.channel == TELEGRAM else None
    if chat is None:
        raise _invalid("ask_needs_telegram")
    answers = list(dict.fromkeys(call.data[ATTR_ANSWERS]))
    try:
        given = await runtime.telegram.questions.ask(
            chat, call.data[ATTR_QUESTION], answers, call.data[ATTR_TIMEOUT]
        )
    except ChannelError as err:
        raise HomeAssistantError(
            translation_domain=DOMAIN,
            translation_key="undeliverable",
            translation_placeholders={"reason": str(err)},
        ) from err
    return {
        "answered": given is not None,
        "answer": None if given is None else given.text,
        "index": None if given is None else given.number,
    }


async def _consider(call: ServiceCall) -> ServiceResponse:
    """Hand an event over; the assistant decides whether to speak."""
    runtime = _runtime(call.hass)
    target = _target(call, runtime)
    event = str(call.data[ATTR_EVENT])
    if call.data[ATTR_DATA]:
        event += "\n" + json.dumps(
            call.data[ATTR_DATA], ensure_ascii=False, default=str
        )
    now = dt_util.now()
    speaker = _speaker(call)
    message = Message(
        text=_EVENT_PROMPT.format(
            now=f"{now:%A, %Y-%m-%d %H:%M} {now.tzname()}", event=event
        ),
        channel=CHANNEL,
        conversation_id=speaker.person or "household",
        language=call.hass.config.language,
        speaker=speaker,
        context=call.context,
        system_turn=True,
    )
    said = await system_turns.run(runtime.assistant, message)
    if said.error:
        raise HomeAssistantError(
            translation_domain=DOMAIN,
            translation_key="consider_failed",
            translation_placeholders={"reason": said.text or said.error},
        )
    if not said.nothing:
        await _deliver(runtime, target, said.text, context=call.context)
    return {"spoke": not said.nothing, "text": "" if said.nothing else said.text}
