"""How what classes cost should move between pieces that choose differently, so that together the pieces prove more.

Wherever costs move, no piece costs more there than one of its known choices. So a mixture of known choices for each piece tells how much all pieces together
can prove at most. Where mixtures differ, costs move: by the shortest step after which known choices no longer keep the sum below a wanted level (the
level method). If mixtures can agree below that level, no step leads there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from operator import sub
from typing import NamedTuple, TypeAlias

import numpy as np

from ....bounds.prices.market import Floats

SWEEPS = 100
"""Over all pieces, until their mixtures are settled."""
ALIKE = 1e-6
"""Mixtures that differ by less, as a part of what the largest choice weighs, are alike."""
SETTLED = 1e-7
"""A sweep that changes less is the last."""


Shares: TypeAlias = defaultdict[int, float]
"""By pool."""


class Known(NamedTuple):
    """A known choice of one piece."""

    piece: int
    homes: Mapping[int, int]
    """The pool of each class that lives in other pieces, too."""
    excess: int
    """What it costs there more than the piece is proven to cost."""


class Mixture:
    """Of the known choices of all pieces. `pieces_of` names the pieces of each class that lives in several, `units` says what such a class weighs."""

    def __init__(
        self, known: Sequence[Known], pieces_of: Mapping[int, Sequence[int]], units: Mapping[int, int]
    ) -> None:
        self._known, self._pieces_of, self._units = known, pieces_of, units
        column = {each: n for n, each in enumerate(sorted({each for one in known for each in one.homes.items()}))}
        inside = np.zeros((len(known), len(column)))
        for n, one in enumerate(known):
            inside[n, [column[each] for each in one.homes.items()]] = 1.0
        piece = np.array([one.piece for one in known])
        weight = np.array([float(units[group]) for group, _ in column])
        among = weight / np.array([float(len(pieces_of[group])) for group, _ in column])
        # Not the product of matrices: how its sums are rounded depends on the machine's cores.
        alone, all_pieces = (np.einsum("ik,jk,k->ij", inside, inside, each) for each in (weight, among))
        self._alike: Floats = (piece[:, None] == piece) * alone - all_pieces
        """How far two choices differ from all others in the same way."""
        self._excess = np.array([float(one.excess) for one in known])
        self._of_piece = [np.flatnonzero(piece == n) for n in sorted({one.piece for one in known})]
        self._parts = np.zeros(len(known))
        for some in self._of_piece:
            self._parts[some[np.argmin(self._excess[some])]] = 1.0
        self.step = 0.0
        """How far costs move for each unit of weight."""
        self.most = 0.0
        """What the mixture allows all pieces to prove more, where costs stay or where mixtures agree."""
        self.sweeps = 0

    def aim(self, level: float) -> bool:
        """Find the mixtures that say where costs must move if pieces are to prove so much more; false if that is impossible."""
        differs = (self._alike * self._parts).sum(axis=1)
        alike = ALIKE * float(self._alike.diagonal().max(initial=0.0))
        while True:
            apart, self.most = float((self._parts * differs).sum()), float((self._parts * self._excess).sum())
            if apart <= alike or self.most >= level:
                return False
            self.step = (level - self.most) / apart
            if self.sweeps >= SWEEPS or self._sweep(differs) < SETTLED:
                return True

    def _sweep(self, differs: Floats) -> float:
        """Mix the choices of each piece better, the others' mixtures being as they are; how much changed."""
        self.sweeps += 1
        changed, alike = 0.0, self._alike
        for some in self._of_piece:
            worth = self._excess[some] + self.step * differs[some]
            best = some[np.argmin(worth)]
            worst = some[np.argmax(np.where(self._parts[some] > 0.0, worth, -np.inf))]
            gain = float(worth.max(where=self._parts[some] > 0.0, initial=-np.inf) - worth.min())
            bend = self.step * float(alike[best, best] + alike[worst, worst] - 2.0 * alike[best, worst])
            part = float(self._parts[worst])
            part = min(part, gain / bend) if bend > 0.0 else part
            if best != worst and part > 0.0:
                self._parts[worst] -= part
                self._parts[best] += part
                differs += part * (alike[best] - alike[worst])
                changed += part
        return changed

    def moves(self, homes: Sequence[Sequence[int]]) -> dict[int, dict[int, list[int]]]:
        """By piece and class, how much more the class is to cost in each of its homes; over all pieces that is nothing. `homes` are those of each class."""
        found, shares = dict[int, dict[int, list[int]]](), self._shares()
        for group, pieces in self._pieces_of.items():
            mean = {pool: sum(shares[n, group][pool] for n in pieces) / len(pieces) for pool in homes[group]}
            step, rest = self.step * self._units[group], [0] * len(mean)
            for n in pieces[:-1]:
                rises = [round(step * (shares[n, group][pool] - middle)) for pool, middle in mean.items()]
                rest = list(map(sub, rest, rises))
                if any(rises):
                    found.setdefault(n, {})[group] = rises
            if any(rest):
                found.setdefault(pieces[-1], {})[group] = rest
        return found

    def most_divided(self, are_small: Callable[[int, int], bool]) -> tuple[int, int] | None:
        """The two pieces that mix most of the classes that live in both; None if no two mix any. Only such as are small together."""
        divided, shares = defaultdict[tuple[int, int], float](float), self._shares()
        for group, pieces in self._pieces_of.items():
            mixed = {n: sum(part * (1.0 - part) for part in shares[n, group].values()) for n in pieces}
            for two in combinations(pieces, 2):
                divided[two] += self._units[group] * sum(mixed[n] for n in two)
        least = ALIKE * sum(self._units[group] for group in self._pieces_of)
        some = [(much, two) for two, much in divided.items() if much > least and are_small(*two)]
        return max(some)[1] if some else None

    def _shares(self) -> dict[tuple[int, int], Shares]:
        """By piece and class, how much of the class the mixture has in each pool."""
        found = dict[tuple[int, int], Shares]()
        for one, part in zip(self._known, self._parts.tolist(), strict=True):
            for group, pool in one.homes.items() if part > 0.0 else ():
                shares = found.setdefault((one.piece, group), Shares(float))
                shares[pool] += part
        return found
