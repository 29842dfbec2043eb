"""What is forgotten first when the store holds too much."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, select

from .tables import job_plans, jobs, plans, problems


def forget_old(connection: Connection, older_than: float) -> int:
    """Finished jobs and plans from before then; how many."""
    gone = connection.execute(delete(jobs).where(jobs.c.finished < older_than)).rowcount
    return gone + connection.execute(delete(plans).where(plans.c.created < older_than)).rowcount


def shrink(connection: Connection, max_bytes: int) -> int:
    """Plans go first, since they can be made again; then finished jobs. How many went."""
    tables = (plans, problems, job_plans)
    size = sum(int(connection.execute(select(func.coalesce(func.sum(t.c.size), 0))).scalar_one()) for t in tables)
    gone = 0
    for owner, key, bytes_ in connection.execute(
        select(plans.c.owner, plans.c.key, plans.c.size).order_by(plans.c.created)
    ).all():
        if size <= max_bytes:
            return gone
        connection.execute(delete(plans).where(plans.c.owner == owner, plans.c.key == key))
        size, gone = size - bytes_, gone + 1
    sizes = select(jobs.c.id, problems.c.size + func.coalesce(job_plans.c.size, 0)).join(problems).outerjoin(job_plans)
    for id_, bytes_ in connection.execute(sizes.where(jobs.c.finished.is_not(None)).order_by(jobs.c.finished)).all():
        if size <= max_bytes:
            return gone
        connection.execute(delete(jobs).where(jobs.c.id == id_))
        size, gone = size - bytes_, gone + 1
    return gone
