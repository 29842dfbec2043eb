"""Which job is next: one of the owner who has the fewest running; of an owner's jobs those that a client waits for, and short ones, come first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select, true

from ..records import UNFINISHED, JobState, Where
from .tables import jobs

SHORT_SECONDS = 10.0
"""A job with such a time limit is short: one worker is left to those, however many others wait."""
URGENT, SHORT = 2, 1
"""What a job's priority is the sum of."""
STEP = URGENT + SHORT + 1
ON_CLUSTER = -STEP
"""The same of what a cluster is to carry out, so that its priority is below 0: the two kinds wait in lines of their own, and an index leads to each."""


def is_short(options: Mapping[str, Any]) -> bool:
    """Will it be over soon?"""
    limit = options.get("time_limit")
    return limit is not None and limit <= SHORT_SECONDS


def priority_of(options: Mapping[str, Any], *, urgent: bool, where: Where = Where.HERE) -> int:
    return URGENT * urgent + SHORT * is_short(options) + ON_CLUSTER * (where is Where.CLUSTER)


def of(where: Where | None) -> ColumnElement[bool]:
    """Jobs that are to be carried out there; None: anywhere."""
    if where is None:
        return true()
    return jobs.c.priority < 0 if where is Where.CLUSTER else jobs.c.priority >= 0


@dataclass(frozen=True, slots=True)
class Turn:
    """When it is a job's turn among those that are delivered to workers elsewhere."""

    is_short: bool
    where: Where
    rank: int
    """The greatest comes first."""


def where_of(priority: int) -> Where:
    return Where.CLUSTER if priority < 0 else Where.HERE


def turn_of(priority: int, now: int | None, mine: int | None) -> Turn:
    """From the ranks of whoever was taken on last, or is next, and of its owner's last that goes before it or is alike.

    So owners take turns from when they come: who has few waits for few, and who has waited is not passed by all that others bring later.
    """
    place = max(0 if now is None else _place(now), 0 if mine is None else _place(mine) + 1)
    return Turn(bool(priority & SHORT), where_of(priority), priority % STEP - STEP * place)


def _place(rank: int) -> int:
    """How many of each owner's go before it: ranks of one place differ by priority alone."""
    return (STEP - 1 - rank) // STEP


def last_deliveries(connection: Connection, owner: str, priority: int) -> list[int]:
    """Of the owner's jobs that have not ended and go before such a one or are alike: the last of each priority."""
    found = []
    for state, each in itertools.product(UNFINISHED, range(priority, priority - priority % STEP + STEP)):
        mine = [jobs.c.state == state, jobs.c.owner == owner, jobs.c.priority == each]
        last = select(jobs.c.delivery).where(*mine).order_by(jobs.c.id.desc()).limit(1)
        found.append(connection.execute(last).scalar_one_or_none())
    return [each for each in found if each is not None]


class Turns:
    """Owners in the order in which they were served, as far as this process has served them."""

    def __init__(self) -> None:
        self._served: dict[str, int] = {}
        self._numbers = itertools.count(1)

    def next(self, connection: Connection, *, short: bool, where: Where | None = None) -> Row[Any] | None:
        """The job whose turn it is, locked against others; of short ones alone, or of those for there, if so said."""
        running = jobs.c.state == JobState.RUNNING.value
        counts = select(jobs.c.owner, func.count()).where(running, of(where)).group_by(jobs.c.owner)
        busy = {row[0]: row[1] for row in connection.execute(counts)}
        for owner in sorted(_waiting(connection), key=lambda who: (busy.get(who, 0), self._served.get(who, 0))):
            row = _first(connection, owner, short=short, where=where)
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


def _first(connection: Connection, owner: str, *, short: bool, where: Where | None) -> Row[Any] | None:
    """Said like this, the index leads to the one row that is wanted, and those that wait are not sorted."""
    mine = [jobs.c.state == JobState.QUEUED.value, jobs.c.owner == owner]
    for priority in _priorities(short=short, where=where):
        turn = select(jobs).where(*mine, jobs.c.priority == priority).order_by(jobs.c.id).limit(1)
        row = connection.execute(turn.with_for_update(skip_locked=True)).one_or_none()
        if row is not None:
            return row
    return None


def _priorities(*, short: bool, where: Where | None) -> list[int]:
    """In the order in which one's jobs have their turn."""
    found = (URGENT + SHORT, SHORT) if short else (URGENT + SHORT, URGENT, SHORT, 0)
    bases = {None: (0, ON_CLUSTER), Where.HERE: (0,), Where.CLUSTER: (ON_CLUSTER,)}[where]
    return [base + each for base in bases for each in found]
