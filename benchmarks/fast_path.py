"""Recognition against recognition: the fast path and Home Assistant's default agent.

Both read the same sentences in one process and run. No sentence is said twice, so no
cache answers on either side. The sentences are ones both understand (hits) or neither
(misses).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
import gc
import itertools
import random
import statistics
import tempfile
import time
import tracemalloc
from typing import Any

from homeassistant.components import conversation
from homeassistant.components.conversation.agent_manager import get_agent_manager
from homeassistant.components.homeassistant.exposed_entities import async_expose_entity
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import async_test_home_assistant

from custom_components.mimiclaw.fast_path.channels import ChannelNames
from custom_components.mimiclaw.fast_path.grammar import Grammar
from custom_components.mimiclaw.fast_path.languages import own_languages
from custom_components.mimiclaw.fast_path.router import FastPath

BASELINE = "Home Assistant's default agent, async_recognize_intent"
SIZES = (8, 100, 500)
SENTENCES = 120
_HITS = (
    "turn on {name}",
    "turn off the {name}",
    "switch the {name} on",
    "turn {name} off please",
    "please turn on the {name}",
    "can you switch off the {name}",
    "is the {name} on",
    "tell me the state of the {name}",
)
_MISSES = (
    "what did I tell you about the {name} last week",
    "should the {name} stay on overnight",
    "tell me a story about a dragon and {number} knights",
    "how long does it take to walk {number} miles in the rain",
    "write a poem of {number} lines about the sea",
    "remind me to buy {number} eggs and some bread tomorrow",
)
_ROOMS = ("north", "south", "upper", "lower", "left", "right", "front", "rear")
_THINGS = ("pump", "fan", "valve", "heater", "lamp", "mixer", "relay", "blower")

type Figures = dict[str, dict[str, Any]]


def names(count: int) -> list[str]:
    """`count` different names of two words and, where they run out, a number."""
    pairs = [f"{room} {thing}" for thing in _THINGS for room in _ROOMS]
    rounds = itertools.count(2)
    while len(pairs) < count:
        number = next(rounds)
        pairs += [f"{room} {thing} {number}" for thing in _THINGS for room in _ROOMS]
    return pairs[:count]


def channels(called: list[str], language: str = "") -> list[ChannelNames]:
    """Relays of those names on one satellite."""
    return [
        ChannelNames(
            f"bench/{index}", "bench", str(index), "relay", False, {language: (name,)}
        )
        for index, name in enumerate(called)
    ]


def sentences(templates: tuple[str, ...], called: list[str], seed: int) -> list[str]:
    """Distinct sentences; where names run out they differ in case and ending."""
    chance = random.Random(seed)
    made: dict[str, None] = {}
    while len(made) < SENTENCES:
        text = chance.choice(templates).format(
            name=chance.choice(called), number=chance.randrange(2, 10_000)
        )
        words = [w.capitalize() if chance.random() < 0.5 else w for w in text.split()]
        made[" ".join(words) + chance.choice(("", ".", "!"))] = None
    return list(made)


def timed(call: Callable[[], object]) -> float:
    """Milliseconds a call took."""
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1000


async def default_agent_times(
    hass: HomeAssistant, texts: list[str], *, understood: bool
) -> list[float]:
    """Milliseconds the default agent takes for each text, in order."""
    agent = get_agent_manager(hass).default_agent
    assert agent is not None
    times = []
    for text in texts:
        request = conversation.ConversationInput(
            text=text,
            context=Context(),
            conversation_id=None,
            device_id=None,
            satellite_id=None,
            language="en",
            agent_id=conversation.HOME_ASSISTANT_AGENT,
        )
        start = time.perf_counter()
        result = await agent.async_recognize_intent(request)
        times.append((time.perf_counter() - start) * 1000)
        hit = result is not None and not result.unmatched_entities
        if hit is not understood:
            raise RuntimeError(f"the default agent reads {text!r} otherwise")
    return times


def fast_path_times(
    fast_path: FastPath, texts: list[str], *, understood: bool
) -> list[float]:
    """Milliseconds the fast path takes for each text, in order."""
    times = []
    for text in texts:
        start = time.perf_counter()
        match = fast_path.recognize(text, ["en"])
        times.append((time.perf_counter() - start) * 1000)
        if (match is not None) is not understood:
            raise RuntimeError(f"the fast path reads {text!r} otherwise")
    return times


def figure(
    value: float, unit: str, times: list[float], baseline: float | None = None
) -> dict[str, Any]:
    """One figure in the form all benchmarks share; times in milliseconds."""
    ordered = sorted(times)
    return {
        "value": value,
        "unit": unit,
        "baseline": BASELINE if baseline is not None else None,
        "baseline_value": baseline,
        "runs": len(ordered),
        "p50": statistics.median(ordered),
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
    }


async def against_default_agent(size: int) -> Figures:
    """The ratios with `size` switches here and channels there."""
    called = names(size)
    figures: Figures = {}
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        async with async_test_home_assistant(config_dir=folder) as hass:
            for component in ("homeassistant", "conversation"):
                if not await async_setup_component(hass, component, {}):
                    raise RuntimeError(f"{component} did not set up")
            for index, name in enumerate(called):
                entity = f"switch.bench_{index}"
                hass.states.async_set(entity, "off", {"friendly_name": name})
                async_expose_entity(hass, conversation.DOMAIN, entity, True)
            await hass.async_block_till_done()
            fast_path = FastPath(Grammar.compile(["en"], channels(called)))
            ours_first = fast_path_times(
                fast_path, ["turn on north pump"], understood=True
            )
            theirs_first = await default_agent_times(
                hass, ["turn on north pump"], understood=True
            )
            # The very first sentence loads their intents; it has a figure of its own.
            for kind, templates, understood in (
                ("hit", _HITS, True),
                ("miss", _MISSES, False),
            ):
                texts = sentences(templates, called, seed=size)
                ours = fast_path_times(fast_path, texts, understood=understood)
                theirs = await default_agent_times(hass, texts, understood=understood)
                base = statistics.median(theirs)
                ratio = base / statistics.median(ours)
                figures[f"{kind}_ratio_{size}"] = figure(ratio, "×", ours, base)
            first = ours_first[0]
            figures[f"first_call_ms_{size}"] = figure(
                first, "ms", ours_first, theirs_first[0]
            )
            await hass.async_stop(force=True)
    return figures


def compile_figures() -> Figures:
    """How long compiling takes, a language and in whole, with 8 channels."""
    figures: Figures = {}
    worst: dict[str, Any] | None = None
    Grammar.compile(["en"], channels(names(8)))  # modules and tables are loaded once
    for language in sorted(own_languages()):
        times = [
            timed(partial(Grammar.compile, [language], channels(names(8))))
            for _ in range(7)
        ]
        one = figure(statistics.median(times), "ms", times)
        figures[f"compile_ms_{language}"] = one
        if worst is None or one["value"] > worst["value"]:
            worst = one
    assert worst is not None
    figures["compile_ms"] = worst
    grammar = Grammar.compile(["en"], channels(names(8)))
    times = [
        timed(lambda: grammar.with_channels(channels(names(500)))) for _ in range(7)
    ]
    figures["rename_ms_500"] = figure(statistics.median(times), "ms", times)
    return figures


def memory_figure() -> Figures:
    """What three languages and 500 channels hold in memory."""
    known = channels(names(500))
    gc.collect()
    tracemalloc.start()
    grammar = Grammar.compile(["en", "de", "zh-CN"], known)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(grammar.languages) == 3
    return {"memory_mb": figure(held / 1e6, "MB", [held / 1e6])}


def _hostile(chance: random.Random) -> Iterator[str]:
    alphabet = "turn on the pump off 开关泵 ปั๊ม ポンプ насос \u200f\u200b\x00\x07🙂1,.?!«»()[]{}|<>\\"
    for length in (10, 100, 240, 1_000, 20_000):
        for _ in range(20):
            yield "".join(chance.choice(alphabet) for _ in range(length))
    yield from ("a" * 240, "(a+)+" * 40, "turn on the pump and " * 11, "1" * 240)
    yield from ("pump on, fan off, " * 13, "pump, " * 40, "1 h " * 60)
    yield "turn on the pump and " * 50_000


def fuzz_figure() -> Figures:
    """The worst milliseconds a kilobyte over hostile text, texts under 1 KB as one.

    The best of three a text, or other processes' work is measured too.
    """
    fast_path = FastPath(
        Grammar.compile(sorted(own_languages()), channels(["pump", "fan"]))
    )
    rates = []
    for text in _hostile(random.Random(5)):
        took = min(timed(partial(fast_path.recognize, text, ["en"])) for _ in range(3))
        rates.append(took / max(1.0, len(text.encode()) / 1000))
    return {"fuzz_ms_per_kb": figure(max(rates), "ms/KB", rates)}


def run() -> Figures:
    """All figures of `scripts/bench fast-path`."""
    figures: Figures = {}
    for size in SIZES:
        figures |= asyncio.run(against_default_agent(size))
    for kind in ("hit_ratio", "miss_ratio"):
        figures[kind] = min(
            (figures[f"{kind}_{size}"] for size in SIZES), key=lambda f: f["value"]
        )
    figures["first_call_ms"] = max(
        (figures[f"first_call_ms_{size}"] for size in SIZES), key=lambda f: f["value"]
    )
    return figures | compile_figures() | memory_figure() | fuzz_figure()
