"""What comes and goes: step by step it adds up to what is live at each section, and each class comes once and goes once."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.choice.pools.searches.following import Lives
from solvers.kernels.interface import Change, Course
from solvers.model.instance import Ints

POOLS = 3


def drawn(seed: int) -> tuple[Lives, Ints, int]:
    """Rects, some of one class, some with one pool; the sections that are looked at, and which of them is the fullest."""
    draw = np.random.default_rng(seed)
    count, length = int(draw.integers(1, 30)), 20
    group = draw.integers(0, draw.integers(1, count + 1), count)
    only = np.where(draw.random(count) < 0.3, draw.integers(0, POOLS, count), -1)[group]
    begin = draw.integers(0, length, count)
    lives = Lives(group, draw.integers(0, 9, (count, POOLS)), only, begin, begin + draw.integers(1, 8, count))
    sections = np.flatnonzero(draw.random(length) < 0.6)
    sections = sections if len(sections) else np.array([3])
    return lives, sections, int(draw.integers(len(sections)))


def is_replayed(lives: Lives, sections: Ints, course: Course) -> bool:
    """Does what the course adds to what is live at the first of these sections come to what is live at all others?"""
    classes = int(lives.group.max()) + 1
    taken, came, gone = np.zeros((classes, POOLS), dtype=np.int64), set[int](), set[int]()
    always, groups, units = lives.live_at(int(sections[0])).taken()
    taken[groups] = units
    came |= set(groups.tolist())
    for step, section in enumerate(sections.tolist()):
        always = always + course.always.reshape(-1, POOLS)[step]
        coming = list[tuple[int, int]]()
        for change in range(course.begin[step], course.begin[step + 1]):
            who, more = int(course.who[change]), course.more.reshape(-1, POOLS)[change]
            kind = Change(course.kind[change])
            assert (who in came) == (kind is not Change.COMES)
            assert who not in gone
            assert kind is Change.COMES or not coming
            if kind is Change.COMES:
                came.add(who)
                coming.append((-int(more.max()), who))
            if kind is Change.GOES:
                gone.add(who)
            taken[who] += more
        assert coming == sorted(coming)
        now, groups, units = lives.live_at(section).taken()
        expected = np.zeros_like(taken)
        expected[groups] = units
        if (now != always).any() or (taken != expected).any() or not set(groups.tolist()) <= came - gone:
            return False
    return True


@pytest.mark.parametrize("seed", range(60))
def test_both_courses_lead_from_the_fullest_section_to_an_end(seed: int) -> None:
    lives, sections, fullest = drawn(seed)
    both = [sections[fullest::-1], sections[fullest:]]
    both.sort(key=len)
    courses = lives.courses(sections, fullest)
    assert [len(course.begin) - 1 for course in courses] == [len(side) for side in both]
    assert all(is_replayed(lives, side, course) for side, course in zip(both, courses, strict=True))


def test_who_is_not_live_any_more_is_gone_at_once() -> None:
    lives = Lives(*(np.array(column) for column in ([0, 1], [[2] * POOLS] * 2, [-1, -1], [0, 0], [2, 4])))
    _, course = lives.courses(np.arange(5), 0)
    assert course.who.tolist() == [0, 1]
    assert course.kind.tolist() == [Change.GOES] * 2
    assert course.begin.tolist() == [0, 0, 0, 1, 1, 2]
