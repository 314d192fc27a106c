"""What the list of skills costs a turn, against reading every file again at each turn.

The baseline is what a plain loader does, and the original firmware did at each turn: open
every file, parse its front matter with PyYAML, take title and first paragraph.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
import statistics
import sys
import tempfile
import time
from typing import Any

import yaml

if "homeassistant" not in sys.modules:
    # The measured rooms need no Home Assistant; without it the figures hold nothing else.
    import tests.bare  # noqa: F401

from custom_components.mimiclaw.agent.catalogue import Listing, Offer
from custom_components.mimiclaw.agent.profile import FRONTIER
from custom_components.mimiclaw.agent.relevance import relevant
from custom_components.mimiclaw.workspace.workspace import Workspace

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "skills"
CAP = FRONTIER.caps.skills
TODAY = date(2026, 12, 1)
OFFER = Offer.of("en", ["read_file", "gpio_write"], satellite=True)
BASELINE = "every file read and parsed again with PyYAML"
#: As in a grown household: pages like ours, a third with front matter, in five folders.
COUNT = 200
MANY = 2000
COLD_RUNS = 30
WARM_RUNS = 2000


def furnish(root: Path, count: int) -> Workspace:
    """Make a workspace with so many skills of the library's size."""
    workspace = Workspace(root)
    workspace.seed()
    pages = [page.read_text(encoding="utf-8") for page in sorted(LIBRARY.glob("*.md"))]
    folders = ("", "garden/", "kitchen/", "office/", "hobby/")
    for number in range(count):
        page = pages[number % len(pages)].split("---\n", 2)[-1]
        page = page.replace("# ", f"# {number} ", 1)
        if number % 3 == 0:
            page = f"---\nneeds: [satellite]\nlanguages: [en, de]\n---\n{page}"
        file = root / "skills" / f"{folders[number % 5]}skill-{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page, encoding="utf-8")
    return workspace


def plain_loader(root: Path) -> str:
    """Return the list as a loader without memory makes it."""
    lines = []
    for file in sorted((root / "skills").rglob("*.md")):
        text = file.read_text(encoding="utf-8")
        if text.startswith("---\n"):
            _, front, text = text.split("---\n", 2)
            yaml.safe_load(front)
        blocks = [block.strip() for block in text.split("\n\n") if block.strip()]
        title = blocks[0].lstrip("# ")
        lines.append(f"- {title}: {blocks[1]} (/{file.relative_to(root)})")
    return "\n".join(lines).encode()[:CAP].decode(errors="ignore")


def measure(work: Callable[[], object], runs: int) -> list[float]:
    """Return the milliseconds of each run."""
    taken = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def figure(
    taken: list[float], baseline: list[float] | None = None, name: str = BASELINE
) -> dict[str, Any]:
    """Return one figure; its value is the median."""
    ordered = sorted(taken)
    median = statistics.median(ordered)
    return {
        "value": median,
        "unit": "ms",
        "baseline": name if baseline else None,
        "baseline_value": statistics.median(baseline) if baseline else None,
        "runs": len(ordered),
        "p50": median,
        "p99": ordered[min(len(ordered) - 1, round(len(ordered) * 0.99))],
    }


def ratio(fast: dict[str, Any]) -> dict[str, Any]:
    """Return how many times the baseline of a figure takes."""
    return {
        "value": fast["baseline_value"] / fast["value"],
        "unit": "times",
        "baseline": fast["baseline"],
        "baseline_value": fast["baseline_value"],
        "runs": fast["runs"],
        "p50": None,
        "p99": None,
    }


def run() -> dict[str, dict[str, Any]]:
    """Measure and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "house"
        workspace = furnish(root, COUNT)
        listing = Listing(workspace.skills, CAP)

        opened: list[Workspace] = []

        def cold() -> None:
            opened.append(Workspace(root))
            Listing(opened[-1].skills, CAP).text(TODAY, OFFER)

        def after_an_edit() -> None:
            page = root / "skills" / "skill-0.md"
            page.write_text(page.read_text(encoding="utf-8") + "\n", encoding="utf-8")
            listing.text(TODAY, OFFER)

        plain = measure(lambda: plain_loader(root), COLD_RUNS)
        colds = measure(cold, COLD_RUNS)
        for one in opened:
            # The kernel takes its time to end a watch; that is no part of the list.
            one.close()
        listing.text(TODAY, OFFER)
        warms = measure(lambda: listing.text(TODAY, OFFER), WARM_RUNS)
        edits = measure(after_an_edit, COLD_RUNS)
        skills = listing.skills(TODAY, OFFER)
        found = measure(
            lambda: relevant(
                skills, workspace.skills, TODAY, "please water the lawn tonight", 4
            ),
            COLD_RUNS,
        )
        share = len(listing.text(TODAY, OFFER).encode())
        workspace.close()

        many = furnish(Path(folder) / "many", MANY)
        large = Listing(many.skills, CAP)
        large.text(TODAY, OFFER)
        grown = measure(lambda: large.text(TODAY, OFFER), WARM_RUNS)
        many.close()

        def seed() -> None:
            with tempfile.TemporaryDirectory() as fresh:
                space = Workspace(Path(fresh) / "house")
                space.seed(LIBRARY)
                space.close()

        seeds = measure(seed, 5)
    warm = figure(warms, plain)
    cold_figure = figure(colds, plain)
    return {
        "catalogue_cold_ms": cold_figure,
        "catalogue_warm_ms": warm,
        "catalogue_cold_ratio": ratio(cold_figure),
        "catalogue_warm_ratio": ratio(warm),
        "catalogue_after_edit_ms": figure(edits, plain),
        "catalogue_warm_2000_ms": figure(grown, warms, f"{COUNT} skills"),
        "relevance_ms": figure(found),
        "seed_ms": figure(seeds),
        "share_bytes": {
            "value": share,
            "unit": "bytes",
            "baseline": "cap",
            "baseline_value": CAP,
            "runs": 1,
            "p50": None,
            "p99": None,
        },
    }
