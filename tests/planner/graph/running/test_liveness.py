"""When tensors are needed in branches of many arms: as if every arm were gone through, though only those are in which something happens."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from planner.graph.running import liveness
from planner.graph.running.liveness import Event, Life, Part, Region, life_of


def branch(lengths: Sequence[int]) -> Part:
    """Return a tick, a branch with arms of these lengths, and another tick."""
    arms, now = [], 1
    for length in lengths:
        arms.append(Part(now, now + length))
        now += length
    return Part(0, now + 1, [Region(False, arms)])


def in_every_arm(whole: Part, events: Sequence[Event]) -> Life:
    """Return when it is needed, arm by arm: each arm follows the first tick and comes before the last."""
    happened = {event.tick: event for event in events}
    (region,) = whole.inside
    needed_at, ends = set[int](), set[int]()
    is_needed_after_first = False

    def back(ticks: Sequence[int], needed: bool) -> bool:
        for tick in reversed(ticks):
            event = happened.get(tick)
            if event is not None or needed:
                needed_at.add(tick)
            if event is not None:
                if not needed:
                    ends.add(tick)
                needed = event.is_read or (needed and not event.is_written)
        return needed

    after = back([whole.end - 1], False)
    for arm in region.parts:
        is_needed_after_first = back(range(arm.start, arm.end), after) or is_needed_after_first
    back([0], is_needed_after_first)
    spans: list[tuple[int, int]] = []
    for tick in sorted(needed_at):
        if spans and spans[-1][1] == tick:
            spans[-1] = spans[-1][0], tick + 1
        else:
            spans.append((tick, tick + 1))
    return Life(tuple(spans), tuple(sorted(ends)))


def test_arms_without_events_are_left_as_if_gone_through() -> None:
    chance = random.Random(1)
    for _ in range(500):
        whole = branch([chance.randrange(3) for _ in range(chance.randrange(1, 7))] + [1])
        ticks = sorted(chance.sample(range(whole.end), chance.randrange(1, min(whole.end, 5) + 1)))
        events = [
            Event(tick, read, not read or chance.random() < 0.5) for tick in ticks for read in [chance.random() < 0.5]
        ]
        assert life_of(whole, events) == in_every_arm(whole, events)


def test_only_arms_in_which_something_happens_are_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts, usual = branch([2] * 1000), 0, liveness._Walk._part

    def counted(self: liveness._Walk, part: Part, needed: bool, is_last_pass: bool) -> bool:
        nonlocal parts
        parts += 1
        return usual(self, part, needed, is_last_pass)

    monkeypatch.setattr(liveness._Walk, "_part", counted)
    life = life_of(whole, [Event(0, False, True), Event(777, True, False), Event(whole.end - 1, True, False)])
    assert life.spans == ((0, whole.end),)
    assert parts <= 3
