"""Unused names, found in a time that does not grow with the number of requests for the same one."""

from __future__ import annotations

from collections.abc import Iterable


class Names:
    """Who asks for a name that is taken gets it with a mark behind it; who asks again, with a number behind that.

    With a `first` number, the number stands there from the second on.
    """

    def __init__(self, taken: Iterable[str] = (), mark: str = "'", first: int = 1) -> None:
        self._taken, self._mark, self._first = set(taken), mark, first
        self._numbers: dict[str, int] = {}
        """The next one, of each name that was asked for more than once."""

    def new(self, name: str) -> str:
        """The name, or the next one like it. It is taken from now on."""
        found = name
        while found in self._taken:
            number = self._numbers.get(name, self._first)
            self._numbers[name] = number + 1
            found = f"{name}{self._mark}{number if number > 1 else ''}"
        self._taken.add(found)
        return found


def numbers(ids: Iterable[int | str], most: int) -> dict[int | str, int]:
    """A number for each id: itself where it is one that is not too large, and otherwise one that nobody has."""
    ids = list(ids)
    taken = {each for each in ids if isinstance(each, int) and 0 <= each <= most}
    found: dict[int | str, int] = {}
    free = 0
    for each in ids:
        if isinstance(each, int) and each in taken:
            found[each] = each
            continue
        while free in taken:
            free += 1
        found[each] = free
        free += 1
    return found
