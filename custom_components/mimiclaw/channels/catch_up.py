"""What telegram_bot told before we were there to hear it.

At a start both are set up side by side. telegram_bot may have fetched the night's
messages and told of them before our listener was there, and Telegram gives each only
once. The recorder has heard them.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from typing import TYPE_CHECKING, Any, Final

from homeassistant.components import event as event_domain
from homeassistant.util import dt as dt_util

from .update import KINDS, Update, from_event

if TYPE_CHECKING:
    from homeassistant.components.recorder import Recorder
    from homeassistant.core import HomeAssistant

_LOGGER = logging.getLogger(__name__)

#: No start takes longer, seconds.
_START_S: Final = 15 * 60.0
#: How long the recorder may take, seconds.
_RECORDER_S: Final = 60.0
#: Rows looked at; a night in a busy group.
_ROWS: Final = 2000


async def async_missed(hass: HomeAssistant) -> list[Update]:
    """Return what was told since this start of Home Assistant, oldest first.

    To be called once it has started: the recorder writes nothing before.
    """
    since = time.time() - _START_S
    found = _from_entities(hass, since)
    if "recorder" in hass.config.components:
        from homeassistant.components.recorder import get_instance

        instance = get_instance(hass)
        started = instance.recorder_runs_manager.recording_start.timestamp()
        try:
            async with asyncio.timeout(_RECORDER_S):
                await instance.async_block_till_done()
                found += await instance.async_add_executor_job(
                    _from_recorder, instance, max(since, started)
                )
        except Exception:  # the database is the recorder's affair
            _LOGGER.exception("The recorder was not asked for missed messages")
    return sorted(found, key=lambda one: one.sent_at)


def _from_entities(hass: HomeAssistant, since: float) -> list[Update]:
    """Return the last thing each bot told, from its event entity."""
    found: list[Update] = []
    for state in hass.states.async_all(event_domain.DOMAIN):
        told = dt_util.parse_datetime(state.state)
        kind = str(state.attributes.get(event_domain.ATTR_EVENT_TYPE))
        if told is None or told.timestamp() < since or kind not in KINDS:
            continue
        update = from_event(kind, state.attributes, told.timestamp())
        if update is not None and hass.config_entries.async_get_entry(
            update.chat.entry_id
        ):
            found.append(update)
    return found


def _from_recorder(instance: Recorder, since: float) -> list[Update]:
    """Read the events of this run from the database. Blocking."""
    from homeassistant.components.recorder.db_schema import (
        EventData,
        Events,
        EventTypes,
    )
    from homeassistant.components.recorder.util import session_scope
    from sqlalchemy import select

    wanted = (
        select(EventTypes.event_type, EventData.shared_data, Events.time_fired_ts)
        .join(EventTypes, Events.event_type_id == EventTypes.event_type_id)
        .join(EventData, Events.data_id == EventData.data_id)
        .where(EventTypes.event_type.in_(list(KINDS)))
        .where(Events.time_fired_ts >= since)
        .order_by(Events.event_id)
        .limit(_ROWS)
    )
    found: list[Update] = []
    with session_scope(session=instance.get_session(), read_only=True) as session:
        for event_type, data, fired in session.execute(wanted):
            update = _understood(event_type, data, fired)
            if update is not None:
                found.append(update)
    return found


def _understood(event_type: str, data: Any, fired: float) -> Update | None:
    try:
        return from_event(event_type, json.loads(data or "{}"), fired)
    except TypeError, ValueError:
        return None
