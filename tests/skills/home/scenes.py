"""What each skill of the library is meant to cause, as a model would do it."""

from __future__ import annotations

import json

from .scene import Scene, Stage


def _gpio(stage: Stage) -> None:
    assert stage.on("pump")
    assert any("goes off by itself in 5 min" in one for one in stage.results)


def _weather(stage: Stage) -> None:
    assert any("rainy" in one for one in stage.results)


def _briefing(stage: Stage) -> None:
    found = "\n".join(stage.results)
    assert "Anna's birthday" in found
    assert "moisture" in found


def _memory(stage: Stage) -> None:
    memory = stage.text("/memory/MEMORY.md")
    assert "## House\n- Boiler: Vaillant, 2019\n- Roof: 2011" in memory


def _home(stage: Stage) -> None:
    assert stage.lamp == "on"


def _energy(stage: Stage) -> None:
    assert any("10421" in one for one in stage.results)
    log = stage.text("/memory/energy-log.md").splitlines()
    assert log[-2:] == ["2026-11-30: grid 10409 kWh", "2026-12-01: grid 10421 kWh"]


def _shopping(stage: Stage) -> None:
    page = stage.text("/memory/shopping-list.md")
    assert "## Groceries\n- [ ] Milk, 2 l (Anna)\n" in page
    assert page.startswith("# Shopping list")


def _watering(stage: Stage) -> None:
    assert stage.on("valve")
    assert "Watered lawn, 10 min" in stage.notes()
    assert any("10 l a minute" in one for one in stage.results)


def _alarm(stage: Stage) -> None:
    assert not stage.on("pump")
    assert not stage.on("valve")
    assert "Leak alarm" in stage.notes()


def _trouble(stage: Stage) -> None:
    found = "\n".join(stage.results)
    assert "Water pump: off" in found
    assert "E04 means that the pump runs dry" in found
    assert "fuse 3" in stage.notes()


def _openclaw(stage: Stage) -> None:
    memory = stage.text("/memory/MEMORY.md")
    assert "- The cat is called Mo" in memory
    assert "sk-" not in memory
    assert "Imported OpenClaw memory" in stage.notes()


def _reminders(stage: Stage) -> None:
    jobs = json.loads(stage.text("/cron.json"))["jobs"]
    assert [job["name"] for job in jobs] == ["Bread", "Night watering"]
    assert "take the bread out" in jobs[0]["message"]
    assert any("Night watering" in one and "10 min" in one for one in stage.results)


def _messages(stage: Stage) -> None:
    assert "- [x] message for Anna: the key is with Ben" in stage.text(
        "/memory/messages.md"
    )


MANUAL = """# Pump manual

## Installing

Put it on level ground.

## Error codes

E04 means that the pump runs dry; check the float switch.
"""

SCENES = (
    Scene(
        "gpio-control",
        "Could the plants have some water for five minutes?",
        (
            (("gpio_read_all", {}),),
            (
                (
                    "gpio_write",
                    {"channel": "water pump", "state": "on", "duration_s": 300},
                ),
            ),
        ),
        _gpio,
        needs_twin=True,
    ),
    Scene(
        "weather",
        "Do I need an umbrella today?",
        ((("*GetLiveContext", {}),),),
        _weather,
        states={"weather.home": ("rainy", {"friendly_name": "Home", "temperature": 7})},
    ),
    Scene(
        "daily-briefing",
        "Give me my briefing",
        (
            (("get_current_time", {}),),
            (
                (
                    "search_files",
                    {"query": "birthday appointment December", "path": "/memory"},
                ),
                ("cron_list", {}),
                ("gpio_read_all", {}),
            ),
        ),
        _briefing,
        files={
            "/memory/MEMORY.md": "# Memory\n\n## Dates\n- 2 December: Anna's birthday\n"
        },
        needs_twin=True,
    ),
    Scene(
        "memory-keeper",
        "Remember that the boiler is a Vaillant from 2019",
        (
            (("read_file", {"path": "/memory/MEMORY.md"}),),
            (
                (
                    "edit_file",
                    {
                        "path": "/memory/MEMORY.md",
                        "old_string": "## House\n",
                        "new_string": "## House\n- Boiler: Vaillant, 2019\n",
                    },
                ),
            ),
        ),
        _memory,
        files={"/memory/MEMORY.md": "# Memory\n\n## House\n- Roof: 2011\n"},
    ),
    Scene(
        "home-control",
        "It is too dark to read here, use the reading lamp",
        ((("*GetLiveContext", {}),), (("*HassTurnOn", {"name": "Reading lamp"}),)),
        _home,
    ),
    Scene(
        "energy-report",
        "How much power did we use since yesterday?",
        (
            (("get_current_time", {}),),
            (
                ("*GetLiveContext", {}),
                ("read_file", {"path": "/memory/energy-log.md"}),
            ),
            (
                (
                    "edit_file",
                    {
                        "path": "/memory/energy-log.md",
                        "old_string": "2026-11-30: grid 10409 kWh\n",
                        "new_string": "2026-11-30: grid 10409 kWh\n"
                        "2026-12-01: grid 10421 kWh\n",
                    },
                ),
            ),
        ),
        _energy,
        files={"/memory/energy-log.md": "# Energy log\n\n2026-11-30: grid 10409 kWh\n"},
        states={
            "sensor.grid_import": (
                "10421",
                {"friendly_name": "Grid import", "unit_of_measurement": "kWh"},
            )
        },
    ),
    Scene(
        "shopping-list",
        "We need two litres of milk, says Anna",
        (
            (("read_file", {"path": "/memory/shopping-list.md"}),),
            (
                (
                    "write_file",
                    {
                        "path": "/memory/shopping-list.md",
                        "content": "# Shopping list\n\n## Groceries\n\n## Household\n\n## Other\n",
                    },
                ),
                (
                    "edit_file",
                    {
                        "path": "/memory/shopping-list.md",
                        "old_string": "## Groceries\n",
                        "new_string": "## Groceries\n- [ ] Milk, 2 l (Anna)\n",
                    },
                ),
            ),
        ),
        _shopping,
        refused=("read_file",),
    ),
    Scene(
        "presence-greeting",
        "I'm home, it's Anna",
        (
            (("get_current_time", {}),),
            (("search_files", {"query": "message for Anna", "path": "/memory"}),),
            (
                (
                    "edit_file",
                    {
                        "path": "/memory/messages.md",
                        "old_string": "- [ ] message for Anna",
                        "new_string": "- [x] message for Anna",
                    },
                ),
            ),
        ),
        _messages,
        files={
            "/memory/messages.md": "# Messages\n\n- [ ] message for Anna: the key is with Ben\n"
        },
    ),
    Scene(
        "reminders",
        "At six the bread has to come out, and every night at nine water for ten minutes",
        (
            (("get_current_time", {}), ("cron_list", {})),
            (
                (
                    "cron_add",
                    {
                        "name": "Bread",
                        "schedule_type": "at",
                        "at": "18:00",
                        "message": "Remind Anna to take the bread out of the oven.",
                    },
                ),
                (
                    "cron_add",
                    {
                        "name": "Night watering",
                        "schedule_type": "cron",
                        "expr": "0 21 * * *",
                        "relay": "drip valve",
                        "state": "on",
                        "duration_s": 600,
                    },
                ),
            ),
        ),
        _reminders,
        needs_twin=True,
    ),
    Scene(
        "watering",
        "The lawn looks dry, give it ten minutes",
        (
            (("gpio_read_all", {}),),
            (("search_files", {"query": "watered lawn", "path": "/memory"}),),
            (
                (
                    "gpio_write",
                    {"channel": "drip valve", "state": "on", "duration_s": 600},
                ),
            ),
            (("append_note", {"text": "Watered lawn, 10 min, dry for 3 days."}),),
        ),
        _watering,
        files={
            "/memory/garden-watering-log.md": "# Garden watering log\n\n"
            "Lawn watered 10 min on 2026-06-01, 10 l a minute.\n"
        },
        needs_twin=True,
    ),
    Scene(
        "irrigation-safety",
        "There is water all over the greenhouse floor!",
        (
            (
                ("gpio_write", {"channel": "water pump", "state": "off"}),
                ("gpio_write", {"channel": "drip valve", "state": "off"}),
            ),
            (("gpio_read_all", {}),),
            (("append_note", {"text": "Leak alarm: pump and valve off."}),),
        ),
        _alarm,
        needs_twin=True,
        first=(
            ("gpio_write", {"channel": "pump", "state": "on"}),
            ("gpio_write", {"channel": "valve", "state": "on"}),
        ),
    ),
    Scene(
        "device-troubleshooting",
        "The water pump does nothing and shows E04",
        (
            (
                ("search_files", {"query": "water pump"}),
                ("gpio_read", {"channel": "water pump"}),
            ),
            (("search_files", {"query": "error E04", "path": "/docs"}),),
            (
                (
                    "read_file_section",
                    {"path": "/docs/pump-manual.md", "section": "Error codes"},
                ),
            ),
            (("append_note", {"text": "Water pump silent: fuse 3 blown, replaced."}),),
        ),
        _trouble,
        files={"/docs/pump-manual.md": MANUAL},
        needs_twin=True,
    ),
    Scene(
        "import-openclaw",
        "Yes, take over my OpenClaw memory",
        (
            (("list_dir", {"path": "/docs/openclaw"}),),
            (
                ("read_file", {"path": "/docs/openclaw/MEMORY.md"}),
                ("read_file", {"path": "/memory/MEMORY.md"}),
            ),
            (
                (
                    "edit_file",
                    {
                        "path": "/memory/MEMORY.md",
                        "old_string": "## House\n",
                        "new_string": "## House\n- The cat is called Mo\n",
                    },
                ),
            ),
            (
                (
                    "append_note",
                    {"text": "Imported OpenClaw memory: 1 file; the key was left out."},
                ),
            ),
        ),
        _openclaw,
        files={
            "/docs/openclaw/MEMORY.md": "# Memory\n\n- The cat is called Mo\n"
            "- key sk-abcdefghijklmnopqrstuv\n",
            "/memory/MEMORY.md": "# Memory\n\n## House\n- Roof: 2011\n",
        },
    ),
)
