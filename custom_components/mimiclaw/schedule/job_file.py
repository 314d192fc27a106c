"""/cron.json: read as it is, written so that nothing the owner put there is lost.

Blocking; for worker threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
import json
import secrets
from typing import Any, Protocol

from .errors import BadJob, BrokenFile, Busy
from .job import Job, parse
from .limits import JOBS, WRITE_TRIES

type Raw = dict[str, Any]


class Files(Protocol):
    """What is needed of the workspace."""

    def read_raw(self, path: str) -> tuple[str, str]:
        """Return text and version."""

    def replace(self, path: str, text: str, expected_version: str | None) -> str:
        """Write unless it changed."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A job that cannot be run as it stands; it stays in the file as it is."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the file holds. `version` is None when there is none."""

    jobs: tuple[Job, ...] = ()
    problems: tuple[Problem, ...] = ()
    version: str | None = None
    #: Entries that had no id of their own.
    nameless: bool = False


class JobFile:
    """Reads and changes the file of jobs."""

    def __init__(
        self,
        files: Files,
        path: str,
        missing: type[Exception],
        changed: type[Exception],
        kept: Callable[[str], None] = lambda _text: None,
    ) -> None:
        """Take the workspace, its path and its errors for "no file" and "changed".

        `kept` is given every text that could be read, to keep a copy of it.
        """
        self._files = files
        self._path = path
        self._missing = missing
        self._changed = changed
        self._kept = kept

    def load(self) -> Loaded:
        """Return the jobs. Raises BrokenFile, and the workspace's errors."""
        text, version = self._read()
        if version is None:
            return Loaded()
        loaded = self.understand(text, version)
        self._kept(text)
        return loaded

    @staticmethod
    def understand(text: str, version: str | None) -> Loaded:
        """Return the jobs a text describes. Raises BrokenFile."""
        jobs: list[Job] = []
        problems: list[Problem] = []
        seen: set[str] = set()
        nameless = False
        for number, raw in enumerate(_entries(_document(text)), 1):
            if not isinstance(raw, dict):
                problems.append(Problem(f"entry {number}", "It is not an object."))
                continue
            try:
                job = parse(raw)
            except BadJob as err:
                label = str(raw.get("name") or raw.get("id") or f"entry {number}")
                problems.append(Problem(label, str(err)))
                continue
            if not job.id:
                nameless = True
                continue
            if job.id in seen:
                problems.append(
                    Problem(job.name, f"There is another job with the id {job.id}.")
                )
                continue
            seen.add(job.id)
            if len(jobs) >= JOBS:
                problems.append(
                    Problem(job.name, f"There are more than {JOBS} jobs in the file.")
                )
                continue
            jobs.append(job)
        return Loaded(tuple(jobs), tuple(problems), version, nameless)

    def name_the_nameless(self) -> None:
        """Give each entry without an id one. Raises as change does."""

        def change(entries: list[Any]) -> None:
            taken = {str(one.get("id")) for one in entries if isinstance(one, dict)}
            for one in entries:
                if isinstance(one, dict) and not str(one.get("id") or "").strip():
                    one["id"] = new_id(taken)

        self.change(change)

    def add(self, job: Job) -> Job:
        """Add a job under a new id and return it. Raises BadJob when the file is full."""
        added = job

        def change(entries: list[Any]) -> None:
            nonlocal added
            if len(entries) >= JOBS:
                raise BadJob(f"There are {JOBS} jobs already; remove one first.")
            taken = {str(one.get("id")) for one in entries if isinstance(one, dict)}
            added = replace(job, id=new_id(taken))
            entries.append(added.as_raw())

        self.change(change)
        return added

    def remove(self, job_id: str) -> bool:
        """Remove a job; tell whether there was one. Raises as change does."""
        found = False

        def change(entries: list[Any]) -> None:
            nonlocal found
            left = [
                one
                for one in entries
                if not (isinstance(one, dict) and str(one.get("id")) == job_id)
            ]
            found = len(left) != len(entries)
            entries[:] = left

        self.change(change)
        return found

    def patch(self, changes: dict[str, Raw]) -> None:
        """Set fields of jobs by their ids; ids that are gone are left out.

        A field with the value None is taken out. Raises as change does.
        """

        def change(entries: list[Any]) -> None:
            for one in entries:
                if not isinstance(one, dict):
                    continue
                for key, value in changes.get(str(one.get("id")), {}).items():
                    if value is None:
                        one.pop(key, None)
                    else:
                        one[key] = value

        self.change(change)

    def change(self, edit: Callable[[list[Any]], None]) -> None:
        """Let `edit` change the list of entries, on what is on disk now.

        Raises BrokenFile, Busy, what `edit` raises, and the workspace's errors.
        """
        for _ in range(WRITE_TRIES):
            text, version = self._read()
            document = _document(text) if version is not None else {"jobs": []}
            entries = _entries(document)
            before = json.dumps(document, ensure_ascii=False)
            edit(entries)
            if json.dumps(document, ensure_ascii=False) == before:
                return
            new = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
            try:
                self._files.replace(self._path, new, version)
            except self._changed:
                continue
            self._kept(new)
            return
        raise Busy("The schedule is being written by somebody else; try again.")

    def _read(self) -> tuple[str, str | None]:
        try:
            return self._files.read_raw(self._path)
        except self._missing:
            return "", None


def new_id(taken: set[str]) -> str:
    """Return an id as the original makes them: eight hexadecimal digits."""
    while (made := secrets.token_hex(4)) in taken:
        pass
    taken.add(made)
    return made


def _document(text: str) -> Any:
    if not text.strip():
        return {"jobs": []}
    try:
        return json.loads(text)
    except ValueError as err:
        raise BrokenFile(f"It is not valid JSON: {err}.") from err
    except RecursionError:
        raise BrokenFile("It is nested too deeply.") from None


def _entries(document: Any) -> list[Any]:
    """Return the list of jobs of a document, the very list, to be changed in place."""
    if isinstance(document, list):
        return document
    if isinstance(document, dict):
        entries = document.setdefault("jobs", [])
        if isinstance(entries, list):
            return entries
    raise BrokenFile('It should be {"jobs": [ … ]}.')
