"""Which job is next: one of the owner with the fewest running; an owner's urgent and short jobs come first."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select, true

from ..records import UNFINISHED, About, JobState, Look, Where
from .columns import Damaged
from .tables import jobs

SHORT_SECONDS = 10.0
"""A job with at most this time limit is short: one worker is left to those, however many others wait."""
LOOKED_AT_BUFFERS = 50_000
"""A job with more buffers is not over within a first look: reading and placing so many takes all of it."""
URGENT, SHORT = 2, 1
"""A job's priority is the sum of these."""
STEP = URGENT + SHORT + 1
ON_CLUSTER = -STEP
"""Added for a cluster's jobs, so that their priority is below 0: the two kinds wait separately, and an index leads to each."""


def is_short(options: Mapping[str, Any]) -> bool:
    """True if it will be over soon."""
    limit = options.get("time_limit")
    return limit is not None and limit <= SHORT_SECONDS


def is_looked_at(about: About) -> bool:
    """True if a first look may find it over, although it may take long."""
    return about.buffers <= LOOKED_AT_BUFFERS


def priority_of(options: Mapping[str, Any], *, urgent: bool, where: Where = Where.HERE) -> int:
    return URGENT * urgent + SHORT * is_short(options) + ON_CLUSTER * (where is Where.CLUSTER)


def of(where: Where | None) -> ColumnElement[bool]:
    """Return the condition for jobs to be carried out there; None: anywhere."""
    if where is None:
        return true()
    return jobs.c.priority < 0 if where is Where.CLUSTER else jobs.c.priority >= 0


def is_short_at(priority: int) -> bool:
    return bool(priority & SHORT)


def where_of(priority: int) -> Where:
    return Where.CLUSTER if priority < 0 else Where.HERE


def rank_of(priority: int, now: int | None, mine: int | None) -> int:
    """Return a job's rank among those delivered to workers elsewhere, of which the greatest comes first.

    It follows from the ranks of the last or next job taken, and of its owner's last job before it or alike. So owners alternate from their arrival on:
    one with few jobs waits for few, and later jobs of others do not overtake those that wait.
    """
    place = max(0 if now is None else _place(now), 0 if mine is None else _place(mine) + 1)
    return priority % STEP - STEP * place


def _place(rank: int) -> int:
    """Return how many of each owner's go before it: ranks of one place differ only by priority."""
    return (STEP - 1 - rank) // STEP


def last_deliveries(connection: Connection, owner: str, priority: int) -> list[int]:
    """Return, for each priority, the last of the owner's jobs that have not ended and go before such a one or are alike."""
    found = []
    for state, each in itertools.product(UNFINISHED, range(priority, priority - priority % STEP + STEP)):
        mine = [jobs.c.state == state, jobs.c.owner == owner, jobs.c.priority == each]
        last = select(jobs.c.delivery).where(*mine).order_by(jobs.c.id.desc()).limit(1)
        found.append(connection.execute(last).scalar_one_or_none())
    return [each for each in found if each is not None]


class Turns:
    """Owners in the order of their last turns in this process."""

    def __init__(self) -> None:
        self._served: dict[str, int] = {}
        self._numbers = itertools.count(1)

    def next(
        self,
        connection: Connection,
        *,
        short: bool,
        look: bool = False,
        where: Where | None = None,
    ) -> Row[Any] | None:
        """Return the job whose turn it is, locked against others; optionally only among short ones, or those for `where`.

        With `look`, only among long jobs that are due for a first look. With both, among all that are. If an owner is damaged, that job comes first, whatever it is.
        """
        running = jobs.c.state == JobState.RUNNING.value
        counts = select(jobs.c.owner, func.count()).where(running, of(where)).group_by(jobs.c.owner)
        busy = {row[0]: row[1] for row in connection.execute(counts)}
        owners = [*_waiting(connection)]
        if owners and isinstance(owners[-1], Damaged):
            return _first_after(connection, *owners[-2:-1])
        # Looks go round: whose job runs meanwhile would otherwise wait for looks at all jobs of those whose do not.
        for owner in sorted(owners, key=lambda who: (0 if look else busy.get(who, 0), self._served.get(who, 0))):
            row = self._first(connection, owner, _priorities(short=short, look=look, where=where), look=look)
            if row is not None:
                self._served[owner] = next(self._numbers)
                return row
        return None

    def _first(self, connection: Connection, owner: str, priorities: Sequence[int], *, look: bool) -> Row[Any] | None:
        """Return the owner's next job. In this form, the query finds it by the index, without sorting the waiting ones."""
        mine = [jobs.c.state == JobState.QUEUED.value, jobs.c.owner == owner]
        if look:
            mine.append(jobs.c.look == Look.DUE.value)
        for priority in priorities:
            those = select(jobs).where(*mine, jobs.c.priority == priority)
            turn = those.order_by(jobs.c.id).limit(1).with_for_update(skip_locked=True)
            row = connection.execute(turn).one_or_none()
            if row is not None:
                return row
        return None


def _first_after(connection: Connection, owner: str = "") -> Row[Any] | None:
    """Return the first queued job of the owners behind this one."""
    those = select(jobs).where(jobs.c.state == JobState.QUEUED.value, jobs.c.owner > owner)
    return connection.execute(those.order_by(jobs.c.owner).limit(1)).one_or_none()


def _waiting(connection: Connection) -> Iterator[Any]:
    """Yield owners of queued jobs. The index leads from one to the next, so that waiting thousands are not read.

    A damaged one is the last: none can be sought behind it.
    """
    owner = ""
    queued = jobs.c.state == JobState.QUEUED.value
    while True:
        after = select(func.min(jobs.c.owner)).where(queued, jobs.c.owner > owner)
        found = connection.execute(after).scalar_one()
        if found is None:
            return
        yield found
        if isinstance(found, Damaged):
            return
        owner = found


def _priorities(*, short: bool, look: bool, where: Where | None) -> list[int]:
    """Return priorities in the order in which an owner's jobs have their turn."""
    if look == short:
        found: tuple[int, ...] = (URGENT + SHORT, URGENT, SHORT, 0)
    else:
        found = (URGENT + SHORT, SHORT) if short else (URGENT, 0)
    bases = {None: (0, ON_CLUSTER), Where.HERE: (0,), Where.CLUSTER: (ON_CLUSTER,)}[where]
    return [base + each for base in bases for each in found]
