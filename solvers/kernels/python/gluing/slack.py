"""The free room in each section below a height, and the cost of using some of it: the less room there is, the more it costs."""

from __future__ import annotations

from .course import Course

# The same numbers stand in kernels/native/gluing/slack.hpp.
HEIGHT_BITS = 24
WHOLE_COST = 1 << 31
SECTIONS_A_BLOCK = 64
ONE = 1 << 16
"""One, in logarithms and energies."""
EXACT_END = 10


class Slack:
    """The slack below one height. Work is counted as in the native kernel, which keeps sums over blocks of 64 sections."""

    def __init__(self, height: int, live: list[int], course: Course) -> None:
        self.free = [height - used for used in live]
        self.shift = max(height.bit_length() - HEIGHT_BITS, 0)
        self._course = course

    def scaled(self, height: int) -> int:
        return (height + (1 << self.shift) - 1) >> self.shift

    def total(self) -> int:
        return sum(room >> self.shift for room in self.free)

    def copy(self) -> Slack:
        """Another one like this."""
        new = Slack(0, [], self._course)
        new.free, new.shift = self.free.copy(), self.shift
        return new

    def room(self, height: int, live: list[int]) -> int:
        """The total below this height over these live sums, with nothing used."""
        return sum((height - used) >> self.shift for used in live)

    def shift_by(self, higher: int) -> None:
        """The same use of room below a height that is so much higher."""
        self.free = [room + higher for room in self.free]

    def take(self, first: int, last: int, height: int) -> None:
        self.free[first:last] = [room - height for room in self.free[first:last]]

    def price(self, first: int, last: int, height: int) -> int | None:
        """The cost of using this much room in each of these sections; None if a section has less."""
        free = self.free
        if free[first] < height or free[last - 1] < height:
            return None
        at = first
        while at < last:
            stop = min(last, (at // SECTIONS_A_BLOCK + 1) * SECTIONS_A_BLOCK)
            is_whole = at % SECTIONS_A_BLOCK == 0 and at + SECTIONS_A_BLOCK <= last
            self._course.work += 1 if is_whole else (stop - at + 7) // 8
            if min(free[at:stop]) < height:
                return None
            at = stop
        rooms = (room >> self.shift for room in free[first:last])
        wasted = self.scaled(height) * sum(WHOLE_COST if room <= 1 else WHOLE_COST // room for room in rooms)
        if (free[first - 1] if first else 0) == free[first] - height:
            wasted //= EXACT_END
        if (free[last] if last < len(free) else 0) == free[last - 1] - height:
            wasted //= EXACT_END
        return wasted


def log2(number: int) -> int:
    """The logarithm to base 2 in 65536ths: exact for powers of two, linear between them."""
    top = (number | 1).bit_length() - 1
    rest = number ^ (1 << top)
    return (top << 16) + (rest >> (top - 16) if top >= 16 else rest << (16 - top))
