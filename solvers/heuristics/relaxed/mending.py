"""Mends a placement of tiles rule by rule: what breaks one is taken out, all else is cut into few boxes, and the exact search places these anew."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np

from ...kernels import Selection
from ...kernels.interface import Report, TooLarge
from ...model.instance import Instance, Ints
from .boxes import Boxes
from .pieces import Pieces
from .tiles import Tiles

Rule: TypeAlias = tuple[int, ...]
"""One block, which must lie as its own rules demand, or two that must not share addresses."""

MOST_BOXES = 150
SEARCH = 10_000
"""The most work of one search."""
HIGHER = (0, 64, 8, 2)
"""Heights that are tried: nothing above the least, then these parts of what lies between it and the known peak."""
LOOKS_A_TILE, LOOKS_A_RULE, LOOKS_A_SEARCH = 3, 100, 50
"""What mending a rule takes besides its searches, for each tile and at all, and what a search takes before it counts."""


class Mending:
    """The rules of one instance."""

    def __init__(self, instance: Instance, tiles: Tiles, selection: Selection) -> None:
        self.instance, self.tiles = instance, tiles
        self.kernels, self.most_pairs = selection.kernels, selection.sizes.search_pairs
        self.done = 0
        self.lowest, self.highest = instance.lowest[:, 0].tolist(), instance.highest[:, 0].tolist()
        self.modulus, self.residue = instance.modulus[:, 0].tolist(), instance.residue[:, 0].tolist()
        self.size: list[int] = tiles.size.tolist()
        self.area = tiles.size.astype(np.float64) * (tiles.end - tiles.begin)
        self.tiles_of: dict[int, list[int]] = {}
        for tile, block in enumerate(tiles.block.tolist()):
            self.tiles_of.setdefault(block, []).append(tile)
        self.rules: list[Rule] = [(block,) for block in self._ruled()] + self._pairs()

    def mend(self, pieces: Pieces, low: Ints, height: int, peak: int, seed: int, until: int, report: Report) -> Ints:
        """The tiles' bases, below the peak; some rules may still be broken."""
        given_up = set[Rule]()
        for step in range(2 * len(self.rules)):
            broken = [rule for rule in self.broken(low) if rule not in given_up]
            if not broken or self.done >= until or report(None):
                break
            rule = max(broken, key=self._largest)
            mended = self._mended(pieces, rule, low, height, peak, seed + step, until, report)
            if mended is None:
                given_up.add(rule)
            else:
                low = mended
                height = max(height, int((low + self.tiles.size).max()))
        return low

    def broken(self, low: Ints) -> list[Rule]:
        """The rules that these bases break."""
        listed: list[int] = low.tolist()
        return [rule for rule in self.rules if not self._is_kept(rule, listed)]

    def _ruled(self) -> list[int]:
        """The blocks that may not lie wherever the plain kernel puts them."""
        high, lowest, highest, modulus, residue = (
            self.instance.block_high,
            *(
                numbers[:, 0]
                for numbers in (
                    self.instance.lowest,
                    self.instance.highest,
                    self.instance.modulus,
                    self.instance.residue,
                )
            ),
        )
        roof = int((lowest + high).max(initial=0)) + int(high.sum())
        odd = (lowest > 0) | (highest + high < roof) | (residue != 0) | (self.tiles.modulus % modulus != 0)
        return [block for block, own in sorted(self.tiles_of.items()) if odd[block] or len(own) > 1]

    def _pairs(self) -> list[Rule]:
        pairs = np.sort(self.instance.part_block[self.instance.conflicts], axis=1).tolist()
        return sorted({(a, b) for a, b in pairs if a != b and a in self.tiles_of and b in self.tiles_of})

    def _largest(self, rule: Rule) -> float:
        return max(float(self.area[tile]) for block in rule for tile in self.tiles_of[block])

    def _is_kept(self, rule: Rule, low: list[int]) -> bool:
        if len(rule) == 2:
            return not any(
                low[a] < low[b] + self.size[b] and low[b] < low[a] + self.size[a]
                for a in self.tiles_of[rule[0]]
                for b in self.tiles_of[rule[1]]
            )
        (block,) = rule
        base, *others = (low[tile] for tile in self.tiles_of[block])
        return (
            all(other == base for other in others)
            and self.lowest[block] <= base <= self.highest[block]
            and (base - self.residue[block]) % self.modulus[block] == 0
        )

    def _mended(
        self, pieces: Pieces, rule: Rule, low: Ints, height: int, peak: int, seed: int, until: int, report: Report
    ) -> Ints | None:
        """The bases of all tiles with this rule kept; None if none were found."""
        self.done += LOOKS_A_TILE * len(low) + LOOKS_A_RULE
        boxes = self._boxes(pieces, rule, low)
        if len(boxes) > MOST_BOXES:
            return None
        limits = [height + ((peak - 1 - height) // part if part else 0) for part in HIGHER]
        for limit in dict.fromkeys(limits):
            columns = boxes.columns(limit)
            if self.done >= until or report(None):
                break
            if columns is None:
                continue
            try:
                _, base, _, _, spent = self.kernels.search(
                    sections=self.instance.sections,
                    columns=columns,
                    bound=min(height, limit),
                    incumbent=None,
                    fit=True,
                    seed=seed % (1 << 64),
                    threads=1,
                    work=min(SEARCH, until - self.done),
                    max_pairs=self.most_pairs,
                    report=lambda _offset, _bound: report(None),
                )
            except TooLarge:
                return None
            self.done += spent + LOOKS_A_SEARCH
            if base is not None:
                return boxes.moved(base)
        return None

    def _boxes(self, pieces: Pieces, rule: Rule, low: Ints) -> Boxes:
        """What can be moved for this rule. Blocks that lie as they must do so still when they are moved, but for what two of them demand of each other."""
        boxes = Boxes(self.tiles, pieces, low, [tile for block in rule for tile in self.tiles_of[block]])
        listed: list[int] = low.tolist()
        kept = [
            block for block, *other in self.rules if not other and (block in rule or self._is_kept((block,), listed))
        ]
        for block in kept:
            for one, other in pairwise(self.tiles_of[block]):
                boxes.tie(one, other)
        boxes.number()
        for block in kept:
            boxes.restrict(
                self.tiles_of[block][0],
                self.lowest[block],
                self.highest[block],
                self.modulus[block],
                self.residue[block],
            )
        if len(rule) == 2:
            for one in self.tiles_of[rule[0]]:
                for other in self.tiles_of[rule[1]]:
                    boxes.keep_apart(one, other)
        return boxes
