"""What can be wrong with a schedule. Each message is one sentence for a person."""

from __future__ import annotations


class ScheduleError(Exception):
    """Something about a schedule cannot be done."""


class BadJob(ScheduleError):
    """A job does not say clearly what to do or when."""


class BrokenFile(ScheduleError):
    """The file of jobs is no valid JSON, or not a list of jobs."""


class NoSuchJob(ScheduleError):
    """There is no job of this id or name."""


class Busy(ScheduleError):
    """The file could not be written because others keep writing it."""
