"""Plans kept for equal requests, and what is removed first when the store holds too much."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from ..records import Kept, StoredPlan
from .rows import plan_of, plan_values
from .tables import ended_batches, job_plans, jobs, length, plans, problems

_THIS = (plans.c.owner == bindparam("of"), plans.c.key == bindparam("under"))
_FIND = select(plans).where(*_THIS)
_DROP = delete(plans).where(*_THIS)
_PUT = insert(plans)
"""Made once: every new problem is looked up here."""


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
    """Remove finished jobs and plans from before then; return how many."""
    gone = connection.execute(delete(jobs).where(jobs.c.finished < older_than)).rowcount
    connection.execute(delete(ended_batches).where(ended_batches.c.created < older_than))
    return gone + connection.execute(delete(plans).where(plans.c.created < older_than)).rowcount


def shrink(connection: Connection, max_bytes: int) -> int:
    """Remove plans first, since they can be made again, then finished jobs; return how many."""
    tables = (plans, problems, job_plans)
    size = sum(int(connection.execute(select(func.coalesce(func.sum(length(t)), 0))).scalar_one()) for t in tables)
    gone = 0
    for owner, key, bytes_ in connection.execute(
        select(plans.c.owner, plans.c.key, length(plans)).order_by(plans.c.created)
    ).all():
        if size <= max_bytes:
            return gone
        connection.execute(delete(plans).where(plans.c.owner == owner, plans.c.key == key))
        size, gone = size - bytes_, gone + 1
    bytes_of = func.coalesce(length(problems), 0) + func.coalesce(length(job_plans), 0)
    sizes = select(jobs.c.id, bytes_of).select_from(jobs).outerjoin(problems).outerjoin(job_plans)
    for id_, bytes_ in connection.execute(sizes.where(jobs.c.finished.is_not(None)).order_by(jobs.c.finished)).all():
        if size <= max_bytes:
            return gone
        connection.execute(delete(jobs).where(jobs.c.id == id_))
        size, gone = size - bytes_, gone + 1
    return gone
