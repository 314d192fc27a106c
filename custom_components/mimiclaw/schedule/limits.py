"""The limits of schedules, with the reason for each."""

from __future__ import annotations

from typing import Final

#: Jobs in the file. The original stopped at 16; every job is two entities here.
JOBS: Final = 200
#: Characters of a job's name and of what it is to do.
NAME_CHARS: Final = 80
MESSAGE_CHARS: Final = 4000
#: Shortest time between two runs, seconds: each may be a question to a paid model.
SHORTEST_S: Final = 5.0
#: A run this late, seconds, still counts as on time: a busy start, a slow disk.
ON_TIME_S: Final = 60.0
#: How late a missed run may be made up for, unless the job says otherwise, seconds.
GRACE_S: Final = {"at": 24 * 3600.0, "every": 3600.0, "cron": 3600.0}
GRACE_MAX_S: Final = 7 * 24 * 3600.0
#: Failures in a row after which a job is paused and the owner is told.
FAILURES: Final = 3
#: Seconds between two looks at whether the owner edited the file.
LOOK_S: Final = 30.0
#: Runs at one time; each may hold a provider's stream.
SIDE_BY_SIDE: Final = 4
#: Seconds one run may take, its turn and its delivery together.
RUN_S: Final = 20 * 60.0
#: Lines after which the journal of runs is written anew.
JOURNAL_LINES: Final = 5000
#: Attempts to write the file when somebody else writes it at the same time.
WRITE_TRIES: Final = 8
#: Missed slots that are counted one by one; beyond it the count says "at least".
COUNT_SLOTS: Final = 10_000

HEARTBEAT_MINUTES: Final = 30
HEARTBEAT_MINUTES_MAX: Final = 24 * 60

#: Seconds a notification or an announcement may take; one that is spoken is waited for.
ANNOUNCE_S: Final = 120.0
