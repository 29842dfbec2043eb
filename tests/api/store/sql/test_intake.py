"""Places for jobs are counted now and then; in between, fewer are given out than were counted, and only for a while."""

from __future__ import annotations

import contextlib

import pytest

from api.store import QueueFull
from api.store.opening import open_store
from api.store.records import NewJob, QueueLimits
from api.store.sql import intake
from api.store.sql.databases import postgres
from api.store.sql.intake import Room
from api.store.sql.store import DatabaseStore
from tests.api.store.conftest import ABOUT, WORST
from tests.running.postgresql import Server

LIMITS = QueueLimits(100, 50, 1000)
SHARE = 8
"""One free place in this many is taken at once, where it is usually one in 64: a store is full after fewer jobs."""


@pytest.fixture
def small_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "SHARE", SHARE)


class Counted:
    """Says how many places there are, and how often it was asked."""

    def __init__(self, mine: int, everybody: int) -> None:
        self.places = mine, everybody
        self.times = 0

    def __call__(self, _owner: str, _limits: QueueLimits, _mine: int, _everybody: int) -> tuple[int, int]:
        self.times += 1
        return self.places


def times_counted(room: Room, jobs: int, counted: Counted, owner: str = "me", limits: QueueLimits = LIMITS) -> int:
    """Take places for so many jobs, and return how often that took counting."""
    before = counted.times
    for _ in range(jobs):
        with room.place(owner, limits, counted):
            pass
    return counted.times - before


def test_places_are_counted_once_for_several_jobs() -> None:
    room = Room()
    assert times_counted(room, 6, Counted(1, 100)) == 6, "near the limit every job is counted"
    assert times_counted(room, 6, Counted(5, 100)) == 2
    assert times_counted(room, 3, Counted(5, 100), limits=QueueLimits(1, 1, 1)) == 1, "of other limits nothing is known"


def test_all_owners_share_the_counted_places() -> None:
    room, counted = Room(), Counted(5, 8)
    assert times_counted(room, 1, counted, "you") == 1
    assert times_counted(room, 5, counted) == 1
    assert [times_counted(room, 3, counted, "you"), times_counted(room, 1, counted, "you")] == [0, 1]


def test_a_count_expires_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "COUNTED_SECONDS", -1.0)
    assert times_counted(Room(), 3, Counted(50, 50)) == 3


def fill(store: DatabaseStore, limits: QueueLimits, most: int, owner: str) -> int:
    """Add jobs until one is refused; return how many were taken."""
    taken = 0
    with contextlib.suppress(QueueFull):
        while taken < most:
            store.add(NewJob(owner, ABOUT), b"", limits)
            taken += 1
    return taken


@pytest.mark.usefixtures("small_share")
@pytest.mark.parametrize(
    ("limits", "owners"), [(QueueLimits(3 * SHARE, WORST, WORST), "ab"), (QueueLimits(WORST, 3 * SHARE, WORST), "aa")]
)
def test_several_processes_together_take_as_many_jobs_as_are_allowed(
    postgresql: Server, monkeypatch: pytest.MonkeyPatch, limits: QueueLimits, owners: str
) -> None:
    monkeypatch.setattr(intake, "COUNTED_SECONDS", 600.0)
    monkeypatch.setattr(postgres, "RESERVED_SECONDS", 600)
    url = postgresql.new_database()
    with contextlib.closing(open_store(url)) as one, contextlib.closing(open_store(url)) as other:
        first = fill(one, limits, 1, owners[0])
        second = fill(other, limits, 4 * SHARE, owners[1])
        assert second < 3 * SHARE - 1, "those of the first process are left to it"
        assert first + second + fill(one, limits, 4 * SHARE, owners[0]) == 3 * SHARE


@pytest.mark.usefixtures("small_share")
def test_places_that_nobody_fills_are_free_again(postgresql: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "RESERVED_SECONDS", 0)
    limits, url = QueueLimits(2 * SHARE, WORST, WORST), postgresql.new_database()
    with contextlib.closing(open_store(url)) as one, contextlib.closing(open_store(url)) as other:
        assert fill(one, limits, 1, "a") + fill(other, limits, 3 * SHARE, "b") == 2 * SHARE
