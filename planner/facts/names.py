"""Unused names, found in constant time however often the same one is requested."""

from __future__ import annotations

from collections.abc import Container, Iterable


class Names:
    """Makes names unique: a taken name gets a mark as suffix; from the second such name on, a number behind it.

    With `first` 2, the number appears from the first such name on.
    """

    def __init__(self, taken: Iterable[str] = (), mark: str = "'", first: int = 1) -> None:
        self._taken, self._mark, self._first = set(taken), mark, first
        self._numbers: dict[str, int] = {}
        """The next number for each name that was requested more than once."""

    def new(self, name: str) -> str:
        """Return the name, or the next free variant of it, and mark it as taken."""
        found = self.free(name, self._taken)
        self._taken.add(found)
        return found

    def free(self, name: str, taken: Container[str]) -> str:
        """Return the name, or the next variant of it that is not among those taken."""
        found = name
        while found in taken:
            number = self._numbers.get(name, self._first)
            self._numbers[name] = number + 1
            found = f"{name}{self._mark}{number if number > 1 else ''}"
        return found


def numbers(ids: Iterable[int | str], most: int) -> dict[int | str, int]:
    """Return a number for each id: the id itself if it is a number of at most `most`, otherwise an unused number."""
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
