"""A placement cut into boxes that move as a whole, each alone or tied to others, as the exact search takes them."""

from __future__ import annotations

import numpy as np

from ...kernels.columns import Columns
from ...model.instance import ADDRESS_LIMIT, Ints
from .pieces import Pieces
from .tiles import Tiles


class Boxes:
    """Boxes of tiles. First they are tied, then numbered, then restricted."""

    def __init__(self, tiles: Tiles, pieces: Pieces, low: Ints, loose: list[int]) -> None:
        """Each loose tile is a box of its own, and free of what is known of its base."""
        self._tiles, self._low = tiles, low
        members = pieces.boxes(low, loose)
        count = len(members)
        sizes = np.array([len(box) for box in members], dtype=np.int64)
        self._order = np.concatenate(members)
        self._from = np.cumsum(sizes) - sizes
        self._box_of = np.zeros(len(low), dtype=np.int64)
        self._box_of[self._order] = np.repeat(np.arange(count), sizes)
        self._floor = self._least(low)
        self._height = -self._least(-low - tiles.size) - self._floor
        self._anchor = self._floor.copy()
        self._anchor[self._box_of[loose]] = 0
        self._whole = list(range(count))
        self._pairs = list[int]()

    def __len__(self) -> int:
        return len(self._from)

    def _least(self, numbers: Ints) -> Ints:
        """Of each box the least of its tiles' numbers."""
        least: Ints = np.minimum.reduceat(numbers[self._order], self._from)
        return least

    def tie(self, one: int, other: int) -> None:
        """The boxes of these two tiles keep their distance from now on; two loose ones have the same base."""
        first, second = (self._whole[self._box_of[tile]] for tile in (one, other))
        self._whole = [first if whole == second else whole for whole in self._whole]

    def number(self) -> None:
        """Number what moves together."""
        _, self._block = np.unique(self._whole, return_inverse=True)
        count = int(self._block.max()) + 1
        lowest = np.full(count, ADDRESS_LIMIT, dtype=np.int64)
        np.minimum.at(lowest, self._block, self._anchor)
        self._distance = self._anchor - lowest[self._block]
        self._top = np.zeros(count, dtype=np.int64)
        np.maximum.at(self._top, self._block, self._distance + self._height)
        self._lowest, self._highest = [0] * count, [ADDRESS_LIMIT // 2] * count
        self._modulus, self._residue = [self._tiles.modulus] * count, [0] * count

    def restrict(self, tile: int, lowest: int, highest: int, modulus: int, residue: int) -> None:
        """The tile's base lies within these bounds, and is as aligned as can be without breaking what is known of the box."""
        box = self._box_of[tile]
        block = int(self._block[box])
        distance = int(self._distance[box] + self._low[tile] - self._floor[box])
        self._lowest[block] = max(self._lowest[block], lowest - distance)
        self._highest[block] = min(self._highest[block], highest - distance)
        residue = (residue - distance) % modulus
        if modulus % self._modulus[block] == 0 and residue % self._modulus[block] == self._residue[block]:
            self._modulus[block], self._residue[block] = modulus, residue

    def keep_apart(self, one: int, other: int) -> None:
        """These two loose tiles must not share addresses."""
        self._pairs += [int(self._box_of[one]), int(self._box_of[other])]

    def columns(self, limit: int) -> Columns | None:
        """The boxes as blocks for the search, below this height; None if one has no place."""
        modulus, residue = (np.array(numbers, dtype=np.int64) for numbers in (self._modulus, self._residue))
        lowest, highest = np.array(self._lowest, dtype=np.int64), np.minimum(self._highest, limit - self._top)
        lowest += (residue - lowest) % modulus
        highest -= (highest - residue) % modulus
        if (lowest > highest).any():
            return None
        number, none = np.arange(len(self), dtype=np.int64), np.zeros(0, dtype=np.int64)
        return Columns(
            part_block=self._block.astype(np.int64),
            part_low=self._distance,
            part_high=self._distance + self._height,
            rect_part=number,
            rect_start=self._least(self._tiles.begin),
            rect_end=-self._least(-self._tiles.end),
            modulus=modulus,
            residue=residue,
            lowest=lowest,
            highest=highest,
            reserved=none,
            conflicts=np.array(self._pairs, dtype=np.int64),
            exclusions=none,
        )

    def moved(self, base: Ints) -> Ints:
        """The tiles' bases once the search has placed the boxes."""
        shift = base[self._block] + self._distance - self._floor
        return self._low + shift[self._box_of]
