"""The model's tools on real channels."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from custom_components.mimiclaw.agent.arguments import check
from custom_components.mimiclaw.tools import gpio
from custom_components.mimiclaw.tools.base import ToolContext, ToolError
from custom_components.mimiclaw.tools.consent import Consent, drive
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD
from custom_components.mimiclaw.workspace.workspace import Workspace
from scripts.house.twin import Twin
from tests.conftest import MakeTwin

from .conftest import House


class Model:
    """Calls tools as the agent does for a model."""

    def __init__(self, house: House, root: Path) -> None:
        self._tools = {one.name: one for one in gpio.tools(house.satellites)}
        self._view = Workspace(root).view(HOUSEHOLD)
        self.context = self.turn()

    def turn(
        self, confirmed: frozenset[Consent] = frozenset(), *, system: bool = False
    ) -> ToolContext:
        self.context = ToolContext(
            view=self._view,
            speaker=HOUSEHOLD,
            channel="assist",
            conversation_id="one",
            language="en",
            now=lambda: datetime(2026, 12, 1, tzinfo=UTC),
            system_turn=system,
            confirmed=confirmed,
        )
        return self.context

    async def call(self, name: str, **arguments: object) -> str:
        tool = self._tools[name]
        checked = check(arguments, tool.spec.parameters, tool.aliases)
        return await tool.run(checked, self.context)

    async def fails(self, name: str, **arguments: object) -> str:
        with pytest.raises(ToolError) as caught:
            await self.call(name, **arguments)
        return str(caught.value)


@pytest.fixture
def model(house: House, greenhouse: str, tmp_path: Path) -> Model:
    return Model(house, tmp_path)


async def test_write_reports_what_was_read_back(model: Model, twin: Twin) -> None:
    text = await model.call("gpio_write", channel="water pump", state="on")
    assert text == "Water pump is on (read back from the pin)."
    assert twin.control("read pump")["on"] is True
    twin.control("stick pump 1")
    text = await model.fails("gpio_write", channel="pump", state="off")
    assert "did not follow" in text
    assert "still reads on" in text


@pytest.mark.parametrize(
    "arguments",
    [
        {"pin": 4, "state": 1},
        {"pin": "4", "state": "HIGH"},
        {"channel": "GPIO4", "state": True},
        {"channel": "Pumpe", "value": "on"},
    ],
)
async def test_the_originals_arguments_work(
    model: Model, twin: Twin, arguments: dict[str, object]
) -> None:
    await model.call("gpio_write", **arguments)
    assert twin.control("read pump")["on"] is True


async def test_a_stated_time_ends_by_itself(model: Model, twin: Twin) -> None:
    text = await model.call("gpio_write", channel="fan", state="on", duration_s=0.3)
    assert "goes off by itself in 0.3 s" in text
    async with asyncio.timeout(5):
        while twin.control("read fan")["on"]:
            await asyncio.sleep(0.02)


async def test_the_policy_is_in_what_the_model_sees(model: Model, twin: Twin) -> None:
    listed = await model.call("gpio_read_all")
    lines = {line.split(":")[0]: line for line in listed.splitlines()}
    assert len(lines) == 8
    assert "at most 15 min on" in lines["- valve"]
    assert "needs the person's yes" in lines["- heater"]
    assert "momentary, pulses 0.5 s" in lines["- gate"]
    assert "Wasserpumpe" in lines["- pump"]
    assert len(listed.encode()) < 8192
    one = await model.call("gpio_read", channel="valve")
    assert one == "Drip valve: off. Rules: at most 15 min on."


async def test_reading_changes_nothing(model: Model, twin: Twin) -> None:
    await model.call("gpio_write", channel="fan", state="on")
    edges = twin.control("edges fan")["count"]
    await model.call("gpio_read", channel="fan")
    await model.call("gpio_read_all")
    assert twin.control("edges fan")["count"] == edges
    assert twin.control("read fan")["on"] is True


async def test_refusals_say_what_to_do_instead(model: Model, twin: Twin) -> None:
    text = await model.fails("gpio_write", channel="valve", state="on", duration_s=3600)
    assert "at most" in text
    assert "15 min" in text or "900 s" in text
    assert "on, off, toggle" in await model.fails(
        "gpio_write", channel="pump", state="sideways"
    )
    assert "There are: pump," in await model.fails(
        "gpio_write", channel="all the lights", state="off"
    )
    assert "can be read" in await model.fails("gpio_write", channel="door", state="on")


async def test_only_the_person_can_say_yes(
    model: Model, house: House, twin: Twin
) -> None:
    text = await model.fails("gpio_write", channel="heater", state="on")
    assert "needs the person's yes" in text
    key = house.satellites.resolve("heater")[0].key
    consent = drive(key, "on", None)
    assert model.context.asked == {consent}
    # Asking again in the same turn does not help, whatever the model puts in.
    await model.fails("gpio_write", channel="heater", state="on", confirmed=True)
    assert twin.control("edges heater")["count"] == 0
    model.turn(confirmed=frozenset({consent}))
    # The yes was to this, not to something like it.
    await model.fails("gpio_write", channel="heater", state="toggle")
    await model.fails("gpio_write", channel="heater", state="on", duration_s=3600)
    await model.call("gpio_write", channel="heater", state="on")
    assert twin.control("read heater")["on"] is True
    # Going off needs no yes where off is the safe state.
    model.turn()
    await model.call("gpio_write", channel="heater", state="off")
    assert twin.control("read heater")["on"] is False
    await model.fails("gpio_write", channel="heater", state="on")
    assert twin.control("read heater")["on"] is False
    model.turn(system=True)
    assert "nobody is there" in await model.fails(
        "gpio_write", channel="heater", state="on"
    )
    assert not model.context.asked


async def test_an_absent_satellite_is_named(
    model: Model, house: House, twin: Twin, greenhouse: str
) -> None:
    await asyncio.to_thread(twin.stop)
    await house.until(lambda: not house.is_up(greenhouse))
    text = await model.fails("gpio_write", channel="water pump", state="on")
    assert "Greenhouse" in text
    assert "not be carried out later" in text
    assert "not reachable" in await model.call("gpio_read_all")


async def test_two_pumps_have_to_be_told_apart(
    model: Model, house: House, twin: Twin, make_twin: MakeTwin
) -> None:
    shed = make_twin(mac="02:4D:43:00:00:02", name="shed", friendly_name="Shed")
    await house.add(shed.port)
    text = await model.fails("gpio_write", channel="pump", state="on")
    assert "Greenhouse/pump" in text
    assert "Shed/pump" in text
    await model.call("gpio_write", channel="Shed/pump", state="on")
    assert shed.control("read pump")["on"] is True
    assert twin.control("read pump")["on"] is False
    assert "on Shed" in await model.call("gpio_read_all")


async def test_without_a_satellite(house: House, tmp_path: Path) -> None:
    model = Model(house, tmp_path)
    assert await model.call("gpio_read_all") == "There is no satellite yet."
    assert "no satellite yet" in await model.fails(
        "gpio_write", channel="pump", state="on"
    )
