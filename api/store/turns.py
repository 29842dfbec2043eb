"""Whose turn it is: of those who have jobs waiting, whoever has the fewest that run; of one's jobs those somebody waits for, and short ones, first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select

from .records import UNFINISHED, JobState
from .tables import jobs

SHORT_SECONDS = 10.0
"""A job with such a time limit is short: one worker is left to those, however many others wait."""
URGENT, SHORT = 2, 1
"""What a job's priority is the sum of."""
MOST_AHEAD = 1000
"""Counting more would take longer than adding a job, and changes nothing for the others."""


def is_short(options: Mapping[str, Any]) -> bool:
    """Will it be over soon?"""
    limit = options.get("time_limit")
    return limit is not None and limit <= SHORT_SECONDS


def priority_of(options: Mapping[str, Any], *, urgent: bool) -> int:
    return URGENT * urgent + SHORT * is_short(options)


@dataclass(frozen=True, slots=True)
class Turn:
    """When it is a job's turn among those that are delivered to workers elsewhere."""

    is_short: bool
    rank: int
    """The greatest comes first."""


def turn_of(connection: Connection, owner: str, priority: int) -> Turn:
    """Behind as many of others' as its owner has unfinished already, of those that go before it or are alike: so who has few waits for few."""
    ahead = select(jobs.c.id).where(jobs.c.owner == owner, jobs.c.state.in_(UNFINISHED), jobs.c.priority >= priority)
    count = connection.execute(select(func.count()).select_from(ahead.limit(MOST_AHEAD).subquery())).scalar_one()
    return Turn(bool(priority & SHORT), priority - (URGENT + SHORT + 1) * count)


class Turns:
    """Owners in the order in which they were served, as far as this process has served them."""

    def __init__(self) -> None:
        self._served: dict[str, int] = {}
        self._numbers = itertools.count(1)

    def next(self, connection: Connection, *, short: bool) -> Row[Any] | None:
        """The job whose turn it is, locked against others; of short ones alone, if so said."""
        running = jobs.c.state == JobState.RUNNING.value
        counts = select(jobs.c.owner, func.count()).where(running).group_by(jobs.c.owner)
        busy = {row[0]: row[1] for row in connection.execute(counts)}
        for owner in sorted(_waiting(connection), key=lambda who: (busy.get(who, 0), self._served.get(who, 0))):
            row = _first(connection, owner, short=short)
            if row is not None:
                self._served[owner] = next(self._numbers)
                return row
        return None


def _waiting(connection: Connection) -> Iterator[str]:
    """Owners of queued jobs. The index leads from one to the next, so that thousands that wait are not read."""
    owner = ""
    queued = jobs.c.state == JobState.QUEUED.value
    while True:
        after = select(func.min(jobs.c.owner)).where(queued, jobs.c.owner > owner)
        found = connection.execute(after).scalar_one()
        if found is None:
            return
        owner = found
        yield owner


def _first(connection: Connection, owner: str, *, short: bool) -> Row[Any] | None:
    """Said like this, the index leads to the one row that is wanted, and those that wait are not sorted."""
    mine = [jobs.c.state == JobState.QUEUED.value, jobs.c.owner == owner]
    for priority in (URGENT + SHORT, SHORT) if short else (URGENT + SHORT, URGENT, SHORT, 0):
        turn = select(jobs).where(*mine, jobs.c.priority == priority).order_by(jobs.c.id).limit(1)
        row = connection.execute(turn.with_for_update(skip_locked=True)).one_or_none()
        if row is not None:
            return row
    return None
