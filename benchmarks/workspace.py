"""The workspace: lost updates, torn files, escapes, and how fast and well it finds things.

Baselines in the same run: a plain scan with `grep -r`, and `bm25s` (an index in memory).
With MIMICLAW_EMBEDDINGS_URL (and _MODEL) of an endpoint, search by meaning is measured too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
import itertools
import json
import os
from pathlib import Path
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from typing import Any
import urllib.request

import bm25s

from custom_components.mimiclaw.agent.profile import FRONTIER
from custom_components.mimiclaw.agent.prompt import Prompt
from custom_components.mimiclaw.tools import files
from custom_components.mimiclaw.tools.base import ToolContext
from custom_components.mimiclaw.workspace.paths import Limits
from custom_components.mimiclaw.workspace.speaker import HOUSEHOLD, Speaker
from custom_components.mimiclaw.workspace.vectors import SemanticSearch
from custom_components.mimiclaw.workspace.workspace import View, Workspace
from tests.workspace import attack_paths, attacks, household, torture

SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000}
WRITERS, EDITS = 50, 200
KILLS = 200
RACE_ROUNDS = 500
QUERIES = 300
_VOCABULARY = 20_000
_WORDS_A_NOTE = 80
_FOLDERS = 97
_ROOMY = Limits(files=1_000_000, tree_bytes=1 << 40)

type Figure = dict[str, Any]


def figure(
    values: Sequence[float],
    unit: str,
    *,
    baseline: str | None = None,
    baseline_value: float | None = None,
) -> Figure:
    """Return the median of some measurements, with their 50th and 99th percentile."""
    ordered = sorted(values)
    return {
        "value": statistics.median(ordered),
        "unit": unit,
        "baseline": baseline,
        "baseline_value": baseline_value,
        "runs": len(ordered),
        "p50": statistics.median(ordered),
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
    }


def count(value: float, unit: str, runs: int) -> Figure:
    """Return a figure that was counted once."""
    return {
        "value": value,
        "unit": unit,
        "baseline": None,
        "baseline_value": None,
        "runs": runs,
        "p50": value,
        "p99": value,
    }


@contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="mimiclaw-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def timed(action: Callable[[], object]) -> float:
    """Return how many milliseconds an action takes."""
    start = time.perf_counter()
    action()
    return (time.perf_counter() - start) * 1000


class Words:
    """Made-up words, some common and most rare, as in any language."""

    def __init__(self, seed: int = 1) -> None:
        self._chance = random.Random(seed)
        letters = "abcdefghijklmnoprstuvwz"
        self.all = [
            "".join(
                self._chance.choice(letters) for _ in range(self._chance.randint(3, 9))
            )
            for _ in range(_VOCABULARY)
        ]
        self._weights = list(
            itertools.accumulate(1 / (place + 10) for place in range(_VOCABULARY))
        )

    def some(self, number: int) -> str:
        """Return some words, common ones more often."""
        return " ".join(
            self._chance.choices(self.all, cum_weights=self._weights, k=number)
        )

    def question(self) -> str:
        """Return one to four words."""
        return self.some(self._chance.randint(1, 4))


def lost_updates() -> dict[str, Figure]:
    """Let 50 writers edit one file 200 times each through the tool, then two processes besides."""
    with scratch() as folder:
        space = Workspace(folder / "mimiclaw")
        space.seed()
        rows = "".join(f"- w{number}: 0.\n" for number in range(WRITERS))
        (space.root / "memory/MEMORY.md").write_text(f"# Memory\n\n{rows}")
        edit = next(tool for tool in files.tools() if tool.name == "edit_file")

        async def writer(name: str) -> None:
            for number in range(EDITS):
                context = ToolContext(
                    view=space.view(HOUSEHOLD),
                    speaker=HOUSEHOLD,
                    channel="bench",
                    conversation_id=name,
                    language="en",
                    now=space.clock,
                )
                await edit.run(
                    {
                        "path": "/memory/MEMORY.md",
                        "old_string": f"- {name}: {number}.",
                        "new_string": f"- {name}: {number + 1}.",
                    },
                    context,
                )

        async def all_writers() -> None:
            await asyncio.gather(*(writer(f"w{number}") for number in range(WRITERS)))

        took = timed(lambda: asyncio.run(all_writers()))
        lines = (space.root / "memory/MEMORY.md").read_text().split("\n")[2:-1]
        done = sum(int(line.rsplit(" ", 1)[1].rstrip(".")) for line in lines)
        wanted = WRITERS * EDITS
        raced = torture.race_edits(
            folder / "processes", threads=4, processes=4, times=50
        )
        space.close()
    return {
        "lost_updates": count(
            wanted - done + raced["lost"], "edits", wanted + raced["wanted"]
        ),
        "edit_ms": count(took / wanted, "ms an edit, all writers at once", wanted),
    }


def torn_files() -> dict[str, Figure]:
    """Kill a writing process 200 times."""
    with scratch() as folder:
        counts = torture.kill_writers(folder / "mimiclaw", KILLS)
    return {
        "torn_files": count(counts["torn"] + counts["empty"], "files", counts["kills"]),
        "kill_leftovers": count(
            counts["leftovers"], "temporary files left", counts["kills"]
        ),
        "kill_swept": count(
            counts["swept"], "temporary files cleaned up", counts["kills"]
        ),
    }


def escapes() -> dict[str, Figure]:
    """Try every attack in every way, and links made between check and use."""
    with scratch() as folder:
        target = attacks.Target(folder / "paths")
        won = sum(len(attacks.escapes(target, path)) for path in attack_paths.PATHS)
        raced = attacks.race(attacks.Target(folder / "race"), RACE_ROUNDS)
    return {
        "escapes": count(
            won + len(raced), "escapes", len(attack_paths.PATHS) + RACE_ROUNDS
        )
    }


def write_notes(root: Path, number: int, words: Words) -> list[str]:
    """Write notes past the workspace, as a restored backup does; return their texts."""
    texts: list[str] = []
    for place in range(number):
        text = f"# {words.some(3)}\n\n{words.some(_WORDS_A_NOTE)}\n"
        folder = root / "memory" / f"topic-{place % _FOLDERS}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"note-{place}.md").write_text(text)
        texts.append(text)
    return texts


def grep(root: Path, word: str) -> float:
    """Return how many milliseconds a plain scan for one word takes."""
    command = ["grep", "-r", "-l", "-i", "-F", word, str(root / "memory")]
    return timed(
        lambda: subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    )


def bm25s_search(texts: list[str], questions: list[str]) -> tuple[float, list[float]]:
    """Return seconds to build and milliseconds a search of an index in memory."""
    start = time.perf_counter()
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    built = time.perf_counter() - start

    def ask(question: str) -> object:
        tokens = bm25s.tokenize([question], show_progress=False)
        return retriever.retrieve(tokens, k=8, show_progress=False)

    return built, [timed(partial(ask, question)) for question in questions]


def search_speed(label: str, number: int) -> dict[str, Figure]:
    """Measure building, searching and following at one size, beside both baselines."""
    words = Words()
    with scratch() as folder:
        space = Workspace(folder / "mimiclaw", limits=_ROOMY)
        space.seed()
        texts = write_notes(space.root, number, words)
        build = timed(space.build_index) / 1000
        view = space.view(HOUSEHOLD)
        questions = [words.question() for _ in range(QUERIES)]
        view.search(questions[0])
        searches = [timed(partial(view.search, question)) for question in questions]
        updates: list[float] = []
        missed = 0
        for place in range(50):
            path = space.root / f"memory/topic-{place}/note-{place}.md"
            path.write_text(
                f"# Changed\n\nquetzal{place} {words.some(_WORDS_A_NOTE)}\n"
            )
            updates.append(timed(space.index.refresh))
            missed += not view.search(f"quetzal{place}")
        scans = [grep(space.root, question.split()[0]) for question in questions[:5]]
        told = space.watch.reliable
        space.close()
        size = (space.root / ".index/search.sqlite").stat().st_size / 1e6
        memory_build, memory = bm25s_search(texts, questions[:100])
    return {
        f"search_ms_{label}": figure(
            searches,
            "ms",
            baseline="grep -r, one word",
            baseline_value=statistics.median(scans),
        ),
        f"search_ms_{label}_bm25s": figure(
            searches,
            "ms",
            baseline="bm25s in memory",
            baseline_value=statistics.median(memory),
        ),
        f"index_build_s_{label}": {
            **count(build, "s", 1),
            "baseline": "bm25s in memory",
            "baseline_value": memory_build,
        },
        f"index_update_ms_{label}": figure(
            updates, "ms after one edit" if told else "ms, no kernel events here"
        ),
        f"index_missed_{label}": count(missed, "edits not seen at once", len(updates)),
        f"index_mb_{label}": count(size, "MB on disk", 1),
    }


def prompt_speed() -> dict[str, Figure]:
    """Assemble the system prompt, warm, in a workspace of 1,000 files."""
    words = Words()
    alice = Speaker("alice", "Alice")
    with scratch() as folder:
        space = Workspace(folder / "mimiclaw", limits=_ROOMY)
        space.seed()
        write_notes(space.root, 950, words)
        (space.root / "memory/MEMORY.md").write_text("# Memory\n\n" + words.some(600))
        (space.root / "memory/users/alice").mkdir(parents=True)
        (space.root / "memory/users/alice/MEMORY.md").write_text(
            "# Memory\n\n" + words.some(100)
        )
        for name in range(50):
            (space.root / f"skills/skill-{name}.md").write_text(
                f"# Skill {name}\n\n{words.some(12)}\n"
            )
        space.view(alice).append_note(words.some(20), "bench")
        past = time.time() - 60
        for path in space.root.rglob("*.md"):
            os.utime(path, (past, past))
        prompt = Prompt(space, FRONTIER)
        cold = timed(lambda: prompt.assemble(space.view(alice)))
        warm = [timed(lambda: prompt.assemble(space.view(alice))) for _ in range(1000)]
        space.close()
    return {"prompt_ms": figure(warm, "ms warm", baseline="cold", baseline_value=cold)}


def recall(view: View, kind: str) -> float:
    """Return the share of questions whose note is among the first five files."""
    asked = household.facts()
    found = sum(
        fact.path
        in list(dict.fromkeys(hit.path for hit in view.search(getattr(fact, kind))))[:5]
        for fact in asked
    )
    return found / len(asked)


def quality() -> dict[str, Figure]:
    """Ask sixty questions of a household of 500 notes."""
    url = os.environ.get("MIMICLAW_EMBEDDINGS_URL")
    with scratch() as folder:
        space = Workspace(folder / "mimiclaw")
        space.seed()
        notes = household.notes()
        for path, text in notes.items():
            (space.root / path[1:]).write_text(text)
        view = space.view(HOUSEHOLD)
        asked = len(household.facts())
        found = {
            "recall_at_5": count(
                recall(view, "question"), "share, words of the note", asked
            ),
            "recall_at_5_paraphrase": count(
                recall(view, "paraphrase"), "share, other words, no vectors", asked
            ),
        }
        if url:
            share = asyncio.run(_recall_by_meaning(space, url))
            for kind, value in share.items():
                name = (
                    "recall_at_5_vectors"
                    if kind == "question"
                    else "recall_at_5_paraphrase_vectors"
                )
                found[name] = count(value, "share, with vectors", asked)
        space.close()
    return found


async def _recall_by_meaning(space: Workspace, url: str) -> dict[str, float]:
    model = os.environ.get("MIMICLAW_EMBEDDINGS_MODEL", "default")

    def post(texts: list[str]) -> list[list[float]]:
        body = json.dumps({"input": texts, "model": model}).encode()
        request = urllib.request.Request(
            f"{url.rstrip('/')}/embeddings", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=300) as answer:
            return [one["embedding"] for one in json.load(answer)["data"]]

    async def embed(texts: Sequence[str]) -> list[list[float]]:
        return await asyncio.to_thread(post, list(texts))

    semantic = SemanticSearch(space, embed, model, deadline_s=300)
    await semantic.update()
    view = space.view(HOUSEHOLD)
    share: dict[str, float] = {}
    facts = household.facts()
    for kind in ("question", "paraphrase"):
        found = 0
        for fact in facts:
            hits = await semantic.search(view, getattr(fact, kind))
            found += fact.path in list(dict.fromkeys(hit.path for hit in hits))[:5]
        share[kind] = found / len(facts)
    semantic.close()
    return share


def run() -> dict[str, Figure]:
    """Run everything; about three minutes."""
    figures: dict[str, Figure] = {}
    figures |= lost_updates()
    figures |= torn_files()
    figures |= escapes()
    for label, number in SIZES.items():
        figures |= search_speed(label, number)
    figures |= prompt_speed()
    figures |= quality()
    return figures
