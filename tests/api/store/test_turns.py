"""Whose turn it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.store import Store
from api.store.opening import open_store
from api.store.records import About, NewJob, QueueLimits

LIMITS = QueueLimits(1000, 1000, 1 << 30)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:///{tmp_path / 'jobs.sqlite'}")
    yield opened
    opened.close()


def queue(store: Store, owner: str, name: str, seconds: float = 600.0, *, urgent: bool = False) -> None:
    about = About("key", "digest", name, 3, {"time_limit": seconds}, (), None)
    store.add(NewJob(owner, about, urgent), b"{}", LIMITS)


def taken(store: Store, *, short: bool = False) -> str | None:
    claim = store.claim(short=short)
    return None if claim is None else claim.job.about.name


def test_whoever_has_the_fewest_that_run_is_next(store: Store) -> None:
    for number in range(5):
        queue(store, "a", f"a{number}", urgent=True)
    queue(store, "b", "b0")
    queue(store, "c", "c0")
    assert [taken(store) for _ in range(7)] == ["a0", "b0", "c0", "a1", "a2", "a3", "a4"]
    assert taken(store) is None


def test_owners_that_have_as_many_running_take_turns(store: Store) -> None:
    for number in range(3):
        queue(store, "a", f"a{number}")
        queue(store, "b", f"b{number}")
    assert [taken(store) for _ in range(6)] == ["a0", "b0", "a1", "b1", "a2", "b2"]


def test_of_one_owner_s_those_that_are_waited_for_and_short_ones_come_first(store: Store) -> None:
    queue(store, "a", "long")
    queue(store, "a", "short", 2.0)
    queue(store, "a", "long, waited for", urgent=True)
    queue(store, "a", "short, waited for", 2.0, urgent=True)
    assert [taken(store) for _ in range(4)] == ["short, waited for", "long, waited for", "short", "long"]


def test_room_that_is_kept_for_short_ones_is_not_for_long_ones(store: Store) -> None:
    queue(store, "a", "long")
    assert taken(store, short=True) is None
    queue(store, "b", "short", 2.0)
    assert taken(store, short=True) == "short"
    assert taken(store) == "long"
