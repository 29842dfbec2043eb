"""A value beside the jobs' records that a failing disk has changed is damage of what it belongs to, and keeps nothing else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from api.store import KeyReused, StoreUnavailable
from api.store.protocol import Store
from api.store.records import End, Job, JobState, Kept, NewJob, Once
from api.store.sql.tables import metadata
from tests.api.store.conftest import ABOUT, LIMITS
from tests.api.store.in_a_file import PLAN, change, file, store

__all__ = ["file", "store"]

LARGE = bytes(1 << 17)
"""So large a problem is counted in bytes."""
ONCE = Once("key", "fingerprint")
VALUES = ("x", b"\xff", 1 << 60, -5)
COLUMNS = [
    (name, column.name)
    for name in ("problems", "job_plans", "plans", "events", "once", "ended_batches")
    for column in metadata.tables[name].columns
]
READERS: tuple[Callable[[Store, str], object], ...] = (
    lambda store, id_: store.problem(id_),
    lambda store, id_: store.problem_size(id_),
    lambda store, id_: store.problem_piece(id_, 0, 100),
    lambda store, id_: store.check_problem(id_, 1),
    lambda store, id_: store.plan(id_),
    lambda store, id_: store.plan_head(id_),
    lambda store, id_: store.plan_piece(id_, 0, 100),
    lambda store, id_: store.check_plan(id_, 1),
    lambda store, id_: store.events(id_, 0),
    lambda store, _: store.has_ended("me", "batch"),
    lambda store, _: store.kept("me", "key"),
    lambda store, _: store.add(NewJob("me", ABOUT), LARGE, LIMITS, ONCE),
)


def with_one_of_each(store: Store) -> Job:
    """Return a job with a plan, beside a kept plan and an ended batch."""
    job = store.add(NewJob("me", ABOUT, batch="batch", line=0), LARGE, LIMITS, ONCE).job
    store.claim()
    store.finish(job.id, 1, End(JobState.SUCCEEDED, PLAN.summary, PLAN))
    store.keep([Kept("me", "key", PLAN)])
    store.cancel_lines("me", "batch")
    return job


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_changed_value_is_damage_where_it_is_read_and_nowhere_else(
    store: Store, file: Path, table: str, column: str
) -> None:
    job = with_one_of_each(store)
    size = len(LARGE) if column != "data" else None
    for value in VALUES:
        change(file, f"UPDATE OR IGNORE {table} SET {column} = ?", value)
        for read in READERS:
            assert "damaged: " not in str(_found(read, store, job.id))
        assert store.problem_size(job.id) in (size, None) or size is None
        added = store.add(NewJob("me", ABOUT), LARGE, LIMITS, Once(f"other {value!r}", "f"))
        assert added.is_new
        assert (store.prune(0.0, 1 << 30) == 0) or column == "created", "there is room for all"
        store.remove(added.job.id)
    store.prune(0.0, 0)
    assert store.job(job.id) is None, "it is removed as any other, since there is no room"


def _found(read: Callable[[Store, str], object], store: Store, id_: str) -> object:
    """Return what is read, or what is said of it."""
    try:
        return read(store, id_)
    except (StoreUnavailable, KeyReused) as said:
        return said
