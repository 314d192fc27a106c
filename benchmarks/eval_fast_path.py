"""Runs a folder of fast-path cases: `scripts/eval fast-path DIR`.

Prints each miss, then how many would have acted wrongly, and last how many passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
import json
from pathlib import Path
import sys
from typing import Any

from custom_components.mimiclaw.fast_path.channels import ChannelKind, ChannelNames
from custom_components.mimiclaw.fast_path.command import Command, Match
from custom_components.mimiclaw.fast_path.grammar import Grammar
from custom_components.mimiclaw.fast_path.router import FastPath

SATELLITE = "greenhouse"


@dataclass(frozen=True)
class Result:
    """A case and what became of it."""

    case: dict[str, Any]
    passed: bool
    wrong: bool
    got: str


def read_channels(path: Path) -> list[ChannelNames]:
    """The channels of `channels.json`, as one satellite has them."""
    channels = []
    for entry in json.loads(path.read_text(encoding="utf-8")):
        kind: ChannelKind = entry["kind"]
        channels.append(
            ChannelNames(
                key=f"{SATELLITE}/{entry['id']}",
                satellite=SATELLITE,
                channel=entry["id"],
                kind=kind,
                momentary="pulse_s" in entry,
                names={code: tuple(names) for code, names in entry["names"].items()},
                unit=entry.get("unit"),
            )
        )
    return channels


def read_cases(folder: Path) -> Iterator[dict[str, Any]]:
    """All cases of a folder, file by file."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield json.loads(line)


def run_cases(
    channels: list[ChannelNames], cases: list[dict[str, Any]]
) -> list[Result]:
    """Every case against the grammar of its language."""
    grammar = Grammar.compile(sorted({case["lang"] for case in cases}), channels)
    for problem in grammar.problems:
        print(f"sentence file: {problem}", file=sys.stderr)
    fast_path = FastPath(grammar)
    results = []
    for case in cases:
        match = fast_path.recognize(case["text"], [case["lang"]])
        got, wanted = _as_expected(match), _expected(case["expect"])
        passed = got == wanted
        results.append(Result(case, passed, not passed and match is not None, str(got)))
    return results


def _as_expected(match: Match | None) -> list[tuple[str, str | None, float | None]]:
    if match is None:
        return []
    return [_plain(command) for command in match.commands]


def _plain(command: Command) -> tuple[str, str | None, float | None]:
    channel = command.channel and command.channel.rpartition("/")[2]
    return command.action, channel, command.duration_s


def _expected(expect: dict[str, Any]) -> list[tuple[str, str | None, float | None]]:
    if expect["action"] == "none":
        return []
    if expect["action"] == "multi":
        return [wanted for part in expect["commands"] for wanted in _expected(part)]
    (channel,) = expect["channels"] or [None]
    return [(expect["action"], channel, expect["duration_s"])]


def main(arguments: list[str]) -> int:
    """Evaluate the folder named; 0 if nothing acted wrongly and nothing failed."""
    if len(arguments) != 2 or arguments[0] != "fast-path":
        print("usage: scripts/eval fast-path DIR", file=sys.stderr)
        return 2
    folder = Path(arguments[1])
    cases = list(read_cases(folder))
    channels_file = folder / "channels.json"
    if not cases or not channels_file.is_file():
        print(f"{folder}: no channels.json or no cases in it", file=sys.stderr)
        return 2
    results = run_cases(read_channels(channels_file), cases)
    passed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for result in results:
        case = result.case
        total[case["lang"]] += 1
        passed[case["lang"]] += result.passed
        if not result.passed:
            mark = "WRONG" if result.wrong else "miss"
            print(f"{mark} {case['id']} [{case['kind']}] {case['text']}")
            print(f"    wanted {_expected(case['expect']) or 'none'}, got {result.got}")
    for language in sorted(total):
        print(f"{language}: {passed[language]}/{total[language]}")
    failed = sum(not result.passed for result in results)
    print(f"{sum(result.wrong for result in results)} wrong actuations")
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
