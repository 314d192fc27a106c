"""Tells the owner of trouble with the schedule, in the repairs."""

from __future__ import annotations

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from ..const import DOMAIN
from .job import Job
from .job_file import Problem

BROKEN = "schedule_broken"
BAD_JOBS = "schedule_bad_jobs"
PAUSED = "schedule_job_paused"


class RepairTeller:
    """Keeps the issues of the schedule."""

    def __init__(self, hass: HomeAssistant) -> None:
        """Take the core."""
        self._hass = hass
        self._paused: dict[str, str] = {}
        self._broken: str | None = None
        self._bad = ""

    @callback
    def broken(self, error: str | None) -> None:
        """Tell that the file cannot be read, or with None that it can."""
        if error == self._broken:
            return
        self._broken = error
        if error is None:
            ir.async_delete_issue(self._hass, DOMAIN, BROKEN)
        else:
            self._tell(BROKEN, BROKEN, {"error": error}, ir.IssueSeverity.ERROR)

    @callback
    def problems(self, problems: tuple[Problem, ...]) -> None:
        """Tell which entries cannot be run."""
        listed = "\n".join(f"- {one.name}: {one.text}" for one in problems)
        if listed == self._bad:
            return
        self._bad = listed
        if listed:
            self._tell(BAD_JOBS, BAD_JOBS, {"jobs": listed})
        else:
            ir.async_delete_issue(self._hass, DOMAIN, BAD_JOBS)

    @callback
    def paused(self, job: Job, error: str) -> None:
        """Tell that a job was paused after failing."""
        if self._paused.get(job.id) != error:
            self._paused[job.id] = error
            words = {"name": job.name, "error": error}
            self._tell(f"{PAUSED}_{job.id}", PAUSED, words)

    @callback
    def resumed(self, job_id: str) -> None:
        """Tell that a job is no longer paused, or gone."""
        if self._paused.pop(job_id, None) is not None:
            ir.async_delete_issue(self._hass, DOMAIN, f"{PAUSED}_{job_id}")

    @callback
    def clear(self) -> None:
        """Take every issue away: whoever starts next tells anew."""
        self.broken(None)
        self.problems(())
        for job_id in list(self._paused):
            self.resumed(job_id)

    def _tell(
        self,
        issue_id: str,
        key: str,
        placeholders: dict[str, str],
        severity: ir.IssueSeverity = ir.IssueSeverity.WARNING,
    ) -> None:
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            issue_id,
            is_fixable=False,
            severity=severity,
            translation_key=key,
            translation_placeholders=placeholders,
        )
