"""Plans kept for equal requests, and what is removed first when the store holds too much."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, tuple_

from ..records import Kept, StoredPlan
from .columns import Damaged
from .rows import plan_of, plan_values
from .tables import ended_batches, events, job_plans, jobs, length, once, plans, problems, written

_THIS = (plans.c.owner == bindparam("of"), plans.c.key == bindparam("under"))
_FIND = select(plans).where(*_THIS)
_DROP = delete(plans).where(*_THIS)
_PUT = insert(plans)
"""Made once: every new problem is looked up here."""
_NAME = (plans.c.owner, plans.c.key)
_OF_JOB = written(jobs.c.about, jobs.c.more, jobs.c.failure)
_OF_EVENT = written(events.c.data)
_OF_ITS_EVENTS = select(func.coalesce(func.sum(_OF_EVENT), 0)).where(events.c.job == jobs.c.id).scalar_subquery()
_WRITTEN = (_OF_JOB, _OF_EVENT, written(once.c.key))
AT_A_TIME = 1000
REST_SECONDS = 0.01
"""So many are removed in one transaction, and so long is waited after it: others write meanwhile, and locks do not know who came first."""


def find(connection: Connection, owner: str, key: str) -> StoredPlan | None:
    row = connection.execute(_FIND, {"of": owner, "under": key}).one_or_none()
    return None if row is None else plan_of(row)


def put(connection: Connection, kept: Sequence[Kept]) -> None:
    """Replace existing plans; of several under one key the last counts."""
    last = {(each.owner, each.key): each.plan for each in kept}
    connection.execute(_DROP, [{"of": owner, "under": key} for owner, key in last])
    rows = [{"owner": owner, "key": key, **plan_values(plan)} for (owner, key), plan in last.items()]
    connection.execute(_PUT, rows)


def forget_old(connection: Connection, older_than: float) -> int:
    """Remove some finished jobs and plans from before then; return how many."""
    old = select(jobs.c.id).where(jobs.c.finished < older_than).order_by(jobs.c.finished).limit(AT_A_TIME)
    gone = connection.execute(delete(jobs).where(jobs.c.id.in_(old))).rowcount
    connection.execute(delete(ended_batches).where(ended_batches.c.created < older_than))
    old = select(*_NAME).where(plans.c.created < older_than).order_by(plans.c.created).limit(AT_A_TIME)
    return gone + connection.execute(delete(plans).where(tuple_(*_NAME).in_(old))).rowcount


def shrink(connection: Connection, max_bytes: int) -> int:
    """Remove some plans first, since they can be made again, then finished jobs, as long as there is too much; return how many."""
    sums = (func.coalesce(func.sum(each), 0) for each in (*map(length, (plans, problems, job_plans)), *_WRITTEN))
    size = sum(int(connection.execute(select(each)).scalar_one()) for each in sums)
    if size <= max_bytes:
        return 0
    oldest = select(*_NAME, length(plans)).order_by(plans.c.created).limit(AT_A_TIME)
    if names := _enough(connection.execute(oldest), size - max_bytes):
        return connection.execute(delete(plans).where(tuple_(*_NAME).in_(names))).rowcount
    bytes_of = _OF_JOB + _OF_ITS_EVENTS + func.coalesce(length(problems), 0) + func.coalesce(length(job_plans), 0)
    ended = select(jobs.c.id, bytes_of).select_from(jobs).outerjoin(problems).outerjoin(job_plans)
    ended = ended.where(jobs.c.finished.is_not(None)).order_by(jobs.c.finished).limit(AT_A_TIME)
    ids = [id_ for (id_,) in _enough(connection.execute(ended), size - max_bytes)]
    return connection.execute(delete(jobs).where(jobs.c.id.in_(ids))).rowcount


def _enough(found: Iterable[Sequence[Any]], too_much: int) -> list[tuple[Any, ...]]:
    """Return the names of the first of what was found, until it makes up so many bytes. What has a damaged name is not among them."""
    names = []
    for *name, size in found:
        if too_much <= 0:
            break
        if not any(isinstance(part, Damaged) for part in name):
            names.append(tuple(name))
            too_much -= size
    return names
