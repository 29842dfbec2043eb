"""Places for jobs are counted now and then; in between, fewer are given out than were counted, and only for a while."""

from __future__ import annotations

import pytest

from api.store.records import QueueLimits
from api.store.sql import intake
from api.store.sql.intake import SHARE, Room

LIMITS = QueueLimits(100, 50, 1000)


def taken(places: Room, owner: str = "me", limits: QueueLimits = LIMITS) -> int:
    """Take all places that are given out without counting, and return their number."""
    count = 0
    while places.take(owner, limits):
        count += 1
    return count


def test_no_place_is_given_out_before_it_was_counted() -> None:
    places = Room()
    assert taken(places) == 0
    places.counted("me", LIMITS, SHARE - 1, 100)
    assert taken(places) == 0, "near the limit every job is counted"
    places.counted("me", LIMITS, 5 * SHARE, 100 * SHARE)
    assert [taken(places, "me", QueueLimits(1, 1, 1)), taken(places, "you"), taken(places)] == [0, 0, 5]


def test_all_owners_share_the_counted_places() -> None:
    places = Room()
    places.counted("me", LIMITS, 5 * SHARE, 8 * SHARE)
    places.counted("you", LIMITS, 5 * SHARE, 8 * SHARE)
    assert [taken(places), taken(places, "you")] == [5, 3]


def test_a_count_expires_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intake, "COUNTED_SECONDS", -1.0)
    places = Room()
    places.counted("me", LIMITS, 5 * SHARE, 8 * SHARE)
    assert taken(places) == 0
