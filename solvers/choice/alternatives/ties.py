"""Which parts some choice may tie together, so that they share addresses. All others are apart, whatever is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .instance import Pick
from .together import Link

MOST_LINKS = 8192
"""Beyond this, ties are not looked for."""


class Picks:
    """Which picks may be chosen together, as far as two of them and what they require tell."""

    def __init__(
        self,
        alternatives: Sequence[int],
        requires: Iterable[tuple[Pick, Pick]],
        forbids: Iterable[tuple[Pick, Pick]],
    ) -> None:
        self._number = {
            pick: n for n, pick in enumerate((g, a) for g, count in enumerate(alternatives) for a in range(count))
        }
        whole = {}
        for g, count in enumerate(alternatives):
            whole[g] = ((1 << count) - 1) << self._number[g, 0]
        against = [whole[g] & ~(1 << n) for (g, _), n in self._number.items()]
        for one, other in forbids:
            against[self._number[one]] |= 1 << self._number[other]
            against[self._number[other]] |= 1 << self._number[one]
        self._chosen = [1 << n for n in range(len(against))]
        """For each pick itself and what it requires, as bits."""
        self._against = [*against]
        """For each pick what cannot be chosen with these."""
        for one, other in requires:
            self._chosen[self._number[one]] |= 1 << self._number[other]
            self._against[self._number[one]] |= against[self._number[other]]

    def agree(self, one: Pick | None, other: Pick | None) -> bool:
        """False if no choice has both. None stands for what is always so."""
        if one is None or other is None:
            return True
        return not self._against[self._number[one]] & self._chosen[self._number[other]]


class Ties:
    """Links between parts, of which some choice may have several at once."""

    def __init__(self, links: Sequence[Link], picks: Picks) -> None:
        self._links, self._picks = links, picks
        self._at: dict[int, int] = {}
        """The links of each part, as bits."""
        for n, link in enumerate(links):
            for part in (link.part, link.base):
                self._at[part] = self._at.get(part, 0) | 1 << n
        self._agreeing: dict[Pick | None, int] = {}

    def reached(self, part: int, pick: Pick | None) -> set[int]:
        """Return all parts that may be tied to this one, which is there if the pick is chosen: those at the end of links that follow each other,
        of which each agrees with the pick and with the link before it.
        """
        open_to = self._agree_with(pick)
        found: set[int] = set()
        seen = 0
        todo = [(part, n) for n in _bits(self._at.get(part, 0) & open_to)]
        while todo:
            here, n = todo.pop()
            link = self._links[n]
            there = link.base if here == link.part else link.part
            state = 1 << (2 * n + (there == link.base))
            if seen & state:
                continue
            seen |= state
            found.add(there)
            further = self._at[there] & open_to & self._agree_with(link.pick) & ~(1 << n)
            todo += [(there, more) for more in _bits(further)]
        return found

    def _agree_with(self, pick: Pick | None) -> int:
        """Return the links that agree with a pick, as bits."""
        if pick not in self._agreeing:
            self._agreeing[pick] = sum(
                1 << n for n, link in enumerate(self._links) if self._picks.agree(pick, link.pick)
            )
        return self._agreeing[pick]


def _bits(number: int) -> Iterable[int]:
    """Return the positions of the bits that are set."""
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest
