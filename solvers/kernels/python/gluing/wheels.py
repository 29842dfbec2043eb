"""Pinwheels among loose pieces, as in native/gluing/wheels.cpp: four around a fifth, which no straight cut separates.

Their pieces begin and end where others of them end and begin; their heights may leave some room unused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .course import Course
from .forest import Forest

# The same numbers stand in kernels/native/gluing.
MOST_AT_A_TIME = 16
LOOKS_A_PIECE = 2
LOOKS_A_TIME = 4


def wheels_with(forest: Forest, node: int, course: Course) -> list[tuple[int, ...]]:
    """The wheels of which this loose piece is part."""
    found: list[tuple[int, ...]] = []
    for view in (_View(forest, course, mirrored=False), _View(forest, course, mirrored=True)):
        for corner in list(_corners(view, node))[:MOST_AT_A_TIME]:
            for below, right, left, above, middle in _completed(view, *corner):
                found.append(
                    (above, left, right, below, middle) if view.mirrored else (below, right, left, above, middle)
                )
    course.work += LOOKS_A_PIECE * len(found)
    return found


class _View:
    """The loose pieces, or their mirror image in time.

    Of a wheel's image the right piece is the left one, and what lies above the middle lies below it.
    """

    def __init__(self, forest: Forest, course: Course, *, mirrored: bool) -> None:
        self.forest, self.mirrored, self._course = forest, mirrored, course

    def begin(self, node: int) -> int:
        return -self.forest[node].end if self.mirrored else self.forest[node].begin

    def end(self, node: int) -> int:
        return -self.forest[node].begin if self.mirrored else self.forest[node].end

    def beginning(self, time: int) -> list[int]:
        return self._looked_at(self.forest.ends[-time] if self.mirrored else self.forest.begins[time])

    def ending(self, time: int) -> list[int]:
        return self._looked_at(self.forest.begins[-time] if self.mirrored else self.forest.ends[time])

    def _looked_at(self, nodes: list[int]) -> list[int]:
        some = nodes[:MOST_AT_A_TIME]
        self._course.work += LOOKS_A_TIME + LOOKS_A_PIECE * len(some)
        return some


def _corners(view: _View, node: int) -> Iterator[tuple[int, int, int]]:
    """The left, the lower and the middle piece of wheels of which this piece is one of the three. A middle piece has no need of the image."""
    begin, end = view.begin(node), view.end(node)
    middles = _by(view.begin, view.ending(end), after=begin)
    if middles:
        for left in view.beginning(begin):
            for middle in middles.get(view.end(left), ()):
                yield node, left, middle
    belows = _by(view.end, view.beginning(begin), after=end)
    if belows:
        for middle in view.beginning(end):
            for below in belows.get(view.end(middle), ()):
                yield below, node, middle
    if view.mirrored:
        return
    belows = {time: row for time, row in _by(view.begin, view.ending(end)).items() if time < begin}
    if belows:
        for left in view.ending(begin):
            for below in belows.get(view.begin(left), ()):
                yield below, left, node


def _completed(view: _View, below: int, left: int, middle: int) -> Iterator[tuple[int, int, int, int, int]]:
    """With the two other pieces: the upper begins with the middle, the right one when that ends."""
    forest, end = view.forest, view.end(middle)
    if forest[left].height <= forest[middle].height:
        return
    aboves = _by(view.end, view.beginning(view.begin(middle)), after=end)
    if aboves:
        for right in view.beginning(end):
            for above in aboves.get(view.end(right), ()) if forest[right].height > forest[middle].height else ():
                yield below, right, left, above, middle


def _by(time_of: Callable[[int], int], nodes: list[int], after: int | None = None) -> dict[int, list[int]]:
    """Pieces by one of their times, if it is after this one."""
    found: dict[int, list[int]] = {}
    for node in sorted(nodes):
        if after is None or time_of(node) > after:
            found.setdefault(time_of(node), []).append(node)
    return found
