"""The order in which owners' jobs are claimed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from api.store import Store
from api.store.opening import open_store
from api.store.records import About, JobState, NewJob, Where
from api.store.sql.turns import LOOKED_AT_BUFFERS
from tests.api.store.conftest import LIMITS


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'jobs.sqlite'}")
    yield opened
    opened.close()


def queue(store: Store, owner: str, name: str, seconds: float = 600.0, *, urgent: bool = False) -> None:
    about = About("key", "digest", name, 3, {"time_limit": seconds}, (), None)
    store.add(NewJob(owner, about, urgent), b"{}", LIMITS)


def taken(store: Store, *, short: bool = False, look: bool = False, where: Where | None = None) -> str | None:
    claim = store.claim(short=short, look=look, where=where)
    return None if claim is None else claim.job.about.name


def test_the_owner_with_the_fewest_running_jobs_is_next(store: Store) -> None:
    for number in range(5):
        queue(store, "a", f"a{number}", urgent=True)
    queue(store, "b", "b0")
    queue(store, "c", "c0")
    assert [taken(store) for _ in range(7)] == ["a0", "b0", "c0", "a1", "a2", "a3", "a4"]
    assert taken(store) is None


def test_owners_with_equally_many_running_jobs_take_turns(store: Store) -> None:
    for number in range(3):
        queue(store, "a", f"a{number}")
        queue(store, "b", f"b{number}")
    assert [taken(store) for _ in range(6)] == ["a0", "b0", "a1", "b1", "a2", "b2"]


def test_urgent_and_short_jobs_of_one_owner_come_first(store: Store) -> None:
    queue(store, "a", "long")
    queue(store, "a", "short", 2.0)
    queue(store, "a", "long, waited for", urgent=True)
    queue(store, "a", "short, waited for", 2.0, urgent=True)
    assert [taken(store) for _ in range(4)] == ["short, waited for", "long, waited for", "short", "long"]


def test_room_kept_for_short_jobs_is_not_given_to_long_ones(store: Store) -> None:
    queue(store, "a", "long")
    assert taken(store, short=True) is None
    queue(store, "b", "short", 2.0)
    assert taken(store, short=True) == "short"
    assert taken(store) == "long"


def test_each_long_job_is_looked_at_once_and_keeps_its_place(store: Store) -> None:
    for name in ("a0", "a1"):
        queue(store, "a", name)
    queue(store, "a", "short", 2.0)
    queue(store, "a", "waited for", urgent=True)
    queue(store, "b", "b0")
    looked = []
    while (claim := store.claim(look=True)) is not None:
        looked.append(claim.job.about.name)
        assert store.release(claim.job.id, claim.job.attempt)
    assert looked == ["waited for", "b0", "a0", "a1"]
    order = [taken(store) for _ in range(5)]
    assert [name for name in order if name != "b0"] == ["waited for", "short", "a0", "a1"]


def test_looks_go_round_whoever_has_jobs_running(store: Store) -> None:
    """Looks at short jobs too are for services with several owners."""
    queue(store, "b", "running")
    assert taken(store) == "running"
    for number in range(3):
        queue(store, "a", f"a{number}", 10.0)
    queue(store, "b", "waited for", 10.0, urgent=True)
    looked = []
    while (claim := store.claim(look=True, short=True)) is not None:
        looked.append(claim.job.about.name)
        assert store.release(claim.job.id, claim.job.attempt)
    assert looked == ["a0", "waited for", "a1", "a2"]


def test_what_cannot_be_over_in_a_look_is_not_looked_at(store: Store) -> None:
    about = About("key", "digest", "large", LOOKED_AT_BUFFERS + 1, {"time_limit": 600.0}, (), None)
    store.add(NewJob("a", about), b"{}", LIMITS)
    queue(store, "a", "long")
    assert [taken(store, look=True) for _ in range(2)] == ["long", None]
    assert taken(store) == "large"


def test_a_job_that_is_to_stop_is_not_put_back(store: Store) -> None:
    queue(store, "a", "long")
    claim = store.claim()
    assert claim is not None
    store.cancel(claim.job.id, "a")
    assert store.release(claim.job.id, claim.job.attempt)
    job = store.job(claim.job.id)
    assert job is not None
    assert job.state is JobState.CANCELLED


def test_jobs_for_a_cluster_wait_in_a_line_of_their_own(store: Store) -> None:
    about = About("key", "digest", "line", 3, {"time_limit": 600.0}, (), None)
    for owner in ("a", "b", "a"):
        store.add(NewJob(owner, replace(about, name=f"line of {owner}"), where=Where.CLUSTER), b"{}", LIMITS)
    queue(store, "a", "here")
    assert taken(store, where=Where.HERE) == "here"
    assert taken(store, where=Where.HERE) is None
    assert {taken(store, where=Where.CLUSTER) for _ in range(2)} == {"line of a", "line of b"}
    assert taken(store, where=Where.CLUSTER, short=True) is None
    assert taken(store) == "line of a", "where there is no cluster, anybody carries it out"
