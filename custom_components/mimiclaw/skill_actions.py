"""Actions for skills: run one from an automation, import one from a text or a file."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Final

from homeassistant.components.file_upload import process_uploaded_file
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant, ServiceCall, SupportsResponse, callback
from homeassistant.exceptions import HomeAssistantError, ServiceValidationError
from homeassistant.helpers import config_validation as cv
from homeassistant.helpers.service import async_register_admin_service
from homeassistant.util import dt as dt_util
import probatio

from .assistant import whole_turn
from .const import DOMAIN
from .message import Message
from .people import speaker_for_context
from .skill_library.errors import SkillRefused
from .skill_library.importing import Imported, Package, from_upload, store
from .skill_library.limits import IMPORT_BYTES, IMPORT_FILE_BYTES
from .tools.skills import shapes
from .workspace.errors import WorkspaceError

if TYPE_CHECKING:
    from homeassistant.core import ServiceResponse

    from .runtime import Runtime
    from .workspace.skills import Skill

RUN_SKILL: Final = "run_skill"
IMPORT_SKILL: Final = "import_skill"
CHANNEL: Final = "skill"

ATTR_SKILL: Final = "skill"
ATTR_INPUT: Final = "input"
ATTR_LANGUAGE: Final = "language"
ATTR_TEXT: Final = "text"
ATTR_FILE: Final = "file"
ATTR_NAME: Final = "name"
ATTR_CATEGORY: Final = "category"
ATTR_SOURCE: Final = "source"
ATTR_REPLACE: Final = "replace"

#: Names that a refusal lists; more would not be read.
_NAMES_TOLD: Final = 20
#: A text for the skill, not a document.
_INPUT_CHARS: Final = 4000

RUN_SCHEMA = probatio.Schema(
    {
        probatio.Required(ATTR_SKILL): cv.string,
        probatio.Optional(ATTR_INPUT, default=""): probatio.All(
            cv.string, probatio.Length(max=_INPUT_CHARS)
        ),
        probatio.Optional(ATTR_LANGUAGE): cv.string,
    }
)
IMPORT_SCHEMA = probatio.Schema(
    {
        probatio.Exclusive(ATTR_TEXT, "what"): probatio.All(
            cv.string, probatio.Length(max=IMPORT_FILE_BYTES)
        ),
        probatio.Exclusive(ATTR_FILE, "what"): cv.string,
        probatio.Optional(ATTR_NAME, default=""): cv.string,
        probatio.Optional(ATTR_CATEGORY, default=""): cv.string,
        probatio.Optional(ATTR_SOURCE, default=""): cv.string,
        probatio.Optional(ATTR_REPLACE, default=False): cv.boolean,
    }
)


@callback
def async_setup_skill_actions(hass: HomeAssistant) -> None:
    """Register the actions; they are there as long as Home Assistant runs."""
    hass.services.async_register(
        DOMAIN,
        RUN_SKILL,
        _run,
        schema=RUN_SCHEMA,
        supports_response=SupportsResponse.OPTIONAL,
    )
    async_register_admin_service(
        hass,
        DOMAIN,
        IMPORT_SKILL,
        _import,
        schema=IMPORT_SCHEMA,
        supports_response=SupportsResponse.OPTIONAL,
    )


def _runtime(hass: HomeAssistant) -> Runtime:
    for entry in hass.config_entries.async_entries(DOMAIN):
        if entry.state is ConfigEntryState.LOADED:
            runtime: Runtime = entry.runtime_data
            return runtime
    raise _invalid("not_loaded")


def _invalid(key: str, **placeholders: str) -> ServiceValidationError:
    return ServiceValidationError(
        translation_domain=DOMAIN,
        translation_key=key,
        translation_placeholders=placeholders,
    )


async def _run(call: ServiceCall) -> ServiceResponse:
    """Run a skill as a turn of its own and return what was answered.

    Nobody is there to say yes, so it is a turn that schedules nothing and confirms
    nothing. Raises HomeAssistantError with the assistant's own sentence when it failed.
    """
    runtime = _runtime(call.hass)
    skill = await _find(runtime, call.data[ATTR_SKILL])
    language = call.data.get(ATTR_LANGUAGE) or call.hass.config.language
    now = dt_util.now()
    told = f" {call.data[ATTR_INPUT].strip()}".rstrip()
    message = Message(
        text=f"Do now what the skill {skill.path} says.{told}",
        channel=CHANNEL,
        # A day's runs know of one another ("greeted already"), not of last week's.
        conversation_id=f"{skill.name}-{now.date().isoformat()}",
        language=language,
        speaker=speaker_for_context(call.hass, call.context),
        context=call.context,
        extra_prompt=f"An automation started this. Answer in the language {language}.",
        system_turn=True,
        skills=(skill.path,),
    )
    text, done = await whole_turn(runtime.assistant.handle(message))
    record = done.record if done else {}
    outcome = str(record.get("outcome", ""))
    if outcome != "answered":
        raise HomeAssistantError(text or outcome)
    return {
        "text": text,
        "skill": skill.title,
        "path": skill.path,
        "origin": skill.origin,
        "tools": [line["tool"] for line in record.get("tools", ())],
    }


async def _find(runtime: Runtime, name: str) -> Skill:
    """Return a skill by name, title or path; raises ServiceValidationError."""
    catalogue = await asyncio.to_thread(runtime.workspace.skills.catalogue)
    skill = catalogue.get(name)
    if skill is None:
        known = [one.name for one in catalogue.skills[:_NAMES_TOLD]]
        raise _invalid("skill_unknown", skill=name[:100], known=", ".join(known))
    return skill


async def _import(call: ServiceCall) -> ServiceResponse:
    """Import a skill and return where it stands and what to look at."""
    runtime = _runtime(call.hass)
    text, file_id = call.data.get(ATTR_TEXT), call.data.get(ATTR_FILE)
    if not (text or file_id):
        raise _invalid("skill_nothing")
    work = partial(
        _bring, call.hass, runtime, text, file_id, _Wish(call.data[ATTR_NAME], call)
    )
    try:
        done = await call.hass.async_add_executor_job(work)
    except (SkillRefused, WorkspaceError) as err:
        raise _invalid("skill_refused", detail=str(err)) from err
    return {
        "path": done.path,
        "title": done.title,
        "origin": done.origin,
        "files": list(done.written),
        "warnings": list(done.warnings),
    }


class _Wish:
    """How the owner wants the import."""

    def __init__(self, name: str, call: ServiceCall) -> None:
        self.name = name
        self.category: str = call.data[ATTR_CATEGORY]
        self.source: str = call.data[ATTR_SOURCE]
        self.replace: bool = call.data[ATTR_REPLACE]


def _bring(
    hass: HomeAssistant,
    runtime: Runtime,
    text: str | None,
    file_id: str | None,
    wish: _Wish,
) -> Imported:
    """Read what was given and write it. Blocking. Raises SkillRefused, WorkspaceError."""
    package = Package(text) if text else _uploaded(hass, file_id or "")
    return store(
        runtime.workspace,
        package,
        shapes(runtime.tools.values()),
        name=wish.name,
        category=wish.category,
        origin=wish.source,
        replace=wish.replace,
    )


def _uploaded(hass: HomeAssistant, file_id: str) -> Package:
    try:
        with process_uploaded_file(hass, file_id) as path:
            if path.stat().st_size > IMPORT_BYTES:
                raise SkillRefused(
                    f"The file is over {IMPORT_BYTES // 1024} KB; a skill is text."
                )
            return from_upload(path.name, path.read_bytes())
    except (ValueError, OSError) as err:
        raise SkillRefused("The uploaded file is not there any more.") from err
