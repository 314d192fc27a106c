"""The set-up dialog: a key is tried before anything is saved."""

from __future__ import annotations

from typing import Any

from homeassistant.config_entries import SOURCE_USER, ConfigFlowResult
from homeassistant.core import HomeAssistant
from homeassistant.data_entry_flow import FlowResultType
import pytest

from custom_components.mimiclaw.const import DOMAIN
from tests.providers.wire.anthropic_server import AnthropicServer
from tests.providers.wire.openai_server import RESPONSES, OpenAIServer
from tests.providers.wire.reply import Reply
from tests.providers.wire.server import WireServer

from .conftest import Serve, SetUp, anthropic

KEY = "sk-good-0123456789"


async def begin(hass: HomeAssistant, provider: str) -> ConfigFlowResult:
    """Open the dialog and choose a provider."""
    flow = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}
    )
    assert flow["type"] is FlowResultType.FORM
    return await hass.config_entries.flow.async_configure(
        flow["flow_id"], {"provider": provider}
    )


async def answer(
    hass: HomeAssistant, flow: ConfigFlowResult, **data: Any
) -> ConfigFlowResult:
    """Fill in the second form."""
    return await hass.config_entries.flow.async_configure(flow["flow_id"], data)


async def test_offline_needs_nothing(hass: HomeAssistant) -> None:
    done = await begin(hass, "offline")
    assert done["type"] is FlowResultType.CREATE_ENTRY
    assert done["title"] == "MimiClaw"
    (subentry,) = done["result"].subentries.values()
    assert dict(subentry.data) == {"provider": "offline"}
    await hass.async_block_till_done()
    assert hass.states.get("conversation.mimiclaw")
    await hass.config_entries.async_unload(done["result"].entry_id)


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_a_good_key_makes_the_entry(hass: HomeAssistant, kind: str) -> None:
    server: WireServer
    if kind == "anthropic":
        server = AnthropicServer(key=KEY, models=["model-1"])
    else:
        server = OpenAIServer(key=KEY, models=["model-1"], lacks={RESPONSES})
    async with server:
        base = server.url + ("/v1" if kind == "openai" else "")
        form = await begin(hass, kind)
        assert form["step_id"] == "credentials"
        done = await answer(hass, form, api_key=KEY, model="model-1", base_url=base)
        assert done["type"] is FlowResultType.CREATE_ENTRY
        (subentry,) = done["result"].subentries.values()
        assert subentry.data["api_key"] == KEY
        assert subentry.title.endswith("model-1")
        await hass.async_block_till_done()
        await hass.config_entries.async_unload(done["result"].entry_id)


@pytest.mark.parametrize(
    ("data", "errors"),
    [
        ({"api_key": "wrong", "model": "model-1"}, {"api_key": "provider_key"}),
        ({"api_key": KEY, "model": "other"}, {"model": "provider_not_found"}),
    ],
)
async def test_what_is_wrong_is_said_and_can_be_mended(
    hass: HomeAssistant, data: dict[str, str], errors: dict[str, str]
) -> None:
    async with AnthropicServer(key=KEY, models=["model-1"]) as server:
        form = await begin(hass, "anthropic")
        again = await answer(hass, form, base_url=server.url, **data)
        assert again["type"] is FlowResultType.FORM
        assert again["errors"] == errors
        assert not hass.config_entries.async_entries(DOMAIN)
        done = await answer(
            hass, again, base_url=server.url, api_key=KEY, model="model-1"
        )
        assert done["type"] is FlowResultType.CREATE_ENTRY
        await hass.async_block_till_done()
        await hass.config_entries.async_unload(done["result"].entry_id)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(page=b"<html></html>"), "provider_malformed"),
        (Reply(status=429, error=("rate_limit_error", "slow down")), "provider_rate"),
    ],
)
async def test_a_strange_server_is_an_error_in_the_form(
    hass: HomeAssistant, reply: Reply, error: str
) -> None:
    async with AnthropicServer(answer=lambda _body: reply, models=[]) as server:
        form = await begin(hass, "anthropic")
        again = await answer(
            hass, form, base_url=server.url + "/nowhere", api_key=KEY, model="model-1"
        )
        assert again["type"] is FlowResultType.FORM
        assert again["errors"]


async def test_nobody_there(hass: HomeAssistant) -> None:
    form = await begin(hass, "openai")
    again = await answer(
        hass, form, base_url="http://127.0.0.1:1/v1", api_key=KEY, model="m"
    )
    assert again["errors"] == {"base": "provider_network"}


async def test_there_is_one_assistant(hass: HomeAssistant, set_up: SetUp) -> None:
    await set_up()
    flow = await hass.config_entries.flow.async_init(
        DOMAIN, context={"source": SOURCE_USER}
    )
    assert flow["type"] is FlowResultType.ABORT


async def test_a_second_provider_and_the_choice_between_them(
    hass: HomeAssistant, set_up: SetUp, serve: Serve, say: Any
) -> None:
    one = await serve(answer=lambda _body: Reply(text="One."))
    two = await serve(answer=lambda _body: Reply(text="Two."), key=KEY)
    entry = await set_up(anthropic(one, "One"))
    flow = await hass.config_entries.subentries.async_init(
        (entry.entry_id, "provider"), context={"source": SOURCE_USER}
    )
    flow = await hass.config_entries.subentries.async_configure(
        flow["flow_id"], {"provider": "anthropic"}
    )
    flow = await hass.config_entries.subentries.async_configure(
        flow["flow_id"], {"api_key": KEY, "model": "model-2", "base_url": two.url}
    )
    assert flow["type"] is FlowResultType.CREATE_ENTRY
    await hass.async_block_till_done()
    choice = hass.states.get("select.mimiclaw_provider")
    assert choice is not None
    assert choice.state == "One"
    names = choice.attributes["options"]
    assert names == ["One", "Anthropic model-2"]
    await hass.services.async_call(
        "select",
        "select_option",
        {"entity_id": "select.mimiclaw_provider", "option": names[1]},
        blocking=True,
    )
    result = await say("who are you?")
    assert result.response.speech["plain"]["speech"] == "Two."


async def test_a_provider_can_be_changed(
    hass: HomeAssistant, set_up: SetUp, serve: Serve
) -> None:
    server = await serve(key=KEY)
    entry = await set_up(anthropic(server, "Old"))
    flow = await entry.start_subentry_reconfigure_flow(hass, "provider-Old")
    flow = await hass.config_entries.subentries.async_configure(
        flow["flow_id"], {"api_key": KEY, "model": "model-9", "base_url": server.url}
    )
    assert flow["type"] is FlowResultType.ABORT
    assert flow["reason"] == "reconfigure_successful"
    assert entry.subentries["provider-Old"].data["model"] == "model-9"
    await hass.async_block_till_done()
