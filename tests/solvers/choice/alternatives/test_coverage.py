"""Coverage names the values to ask for next: where most is open, and again where an answer left something open."""

from __future__ import annotations

from fractions import Fraction

from solvers.choice.alternatives.coverage import Coverage, Stretch
from solvers.choice.alternatives.points import Point


def point(value: int, cost: int, cost_bound: int) -> Point:
    return Point((value,), value, cost, value, cost_bound)


def wanted(coverage: Coverage, *points: Point) -> set[int]:
    """Return all values that are asked for until nothing is open, if no question finds anything."""
    found = set()
    while following := coverage.next_values(points):
        value, _ = following[0]
        assert value not in found
        found.add(value)
        coverage.give_up(Stretch(value, value))
    return found


def test_only_values_still_open_are_asked_again() -> None:
    fast, open_, small = point(9, 10, 10), point(5, 20, 20), point(2, 30, 30)
    coverage = Coverage()
    coverage.settle(fast, None)
    coverage.settle(small, 2)
    coverage.settle(point(5, 20, 15), 7)
    assert wanted(coverage, fast, open_, small) == {3, 4, 8}
    assert wanted(coverage, fast, open_, small) == set()
    coverage.reopen({9: fast, 2: small})
    assert wanted(coverage, fast, open_, small) == {3, 4, 5, 6, 7, 8}
    coverage.reopen(
        {9: fast, 5: open_, 2: small}
    )  # the point at 5 is proven there, but not that nothing up to 7 costs less
    assert wanted(coverage, fast, open_, small) == {3, 4, 6, 7, 8}
    coverage.settle(open_, 7)
    coverage.reopen({9: fast, 5: open_, 2: small})
    assert wanted(coverage, fast, open_, small) == {3, 4, 8}


def test_without_any_answer_nothing_is_proven() -> None:
    assert Coverage().within((), 0, {}) is None
    assert Coverage().within((point(5, 20, 20),), 2, {}) is None


def test_one_more_point_makes_no_value_more_open() -> None:
    """Above 100 the cost may be as low as 50; the added point at 110 costs 90 and is farther from that than 52."""
    coverage = Coverage()
    far, near = point(150, 52, 50), point(110, 90, 50)
    coverage.settle(far, None)
    coverage.settle(point(100, 100, 100), 100)
    small = point(100, 100, 100)
    without = coverage.within((far, small), 100, {})
    assert without is not None
    more = coverage.within((far, near, small), 100, {})
    assert more is not None
    assert more <= without


def test_a_question_that_found_no_point_narrows_what_is_open() -> None:
    """No choice up to 120 costs less than 80: the points at 150 and 100 leave less open than if that were unknown."""
    coverage = Coverage()
    dear = point(100, 100, 100)
    coverage.settle(point(150, 52, 50), None)
    coverage.settle(dear, 100)
    without = coverage.within((point(150, 52, 50), dear), 100, {})
    known = coverage.within((point(150, 52, 50), dear), 100, {120: 80})
    assert without == Fraction(49, 101)
    assert known == Fraction(1, 4)
