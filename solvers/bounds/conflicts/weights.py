"""Bounds from weights of parts, of which no byte can hold more than a whole.

Parts that lie at one address do not conflict. Give each part a weight so that no parts without a conflict weigh more than 1 together. Then each byte
of the pool holds at most a weight of 1, and the pool is at least as high as all parts' sizes times their weights. A clique is such weights, 1 for each
member; an odd ring of conflicts, 1/2 each, has a bound that no clique has.

The best weights are the dual solution of a linear program that fills the pool with layers, each a set of parts without a conflict. It begins with layers
of one part. A simplex step adds the layer that is heaviest by the weights so far, and those weights, divided by what it weighs, prove a bound at once.

The same holds of sizes that are rounded down to multiples of a length: addresses rounded down to multiples of it keep parts apart that conflict. The
bound then is a multiple of that length, and with it often larger.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from math import gcd
from typing import NamedTuple

import numpy as np

from ...model.conflicts import live_pair_count, part_pairs, sets_of_partners
from ...model.instance import Instance
from ...model.outcome import Certificate, Proof
from ...model.solver import never
from .together import grown_together, heavier_together

MOST_PAIRS = 200_000
"""With more pairs that conflict, listing them takes too long."""
MOST_PARTS = 128
"""Of more parts in each other's way, those that have most beside them are weighed."""
MOST_STEPS = 5_000
"""Of one search for a heavier layer."""
STEPS_OF_VERIFIERS = 10_000
"""Verifiers search once more, and are ready for more steps than these."""
MOST_LENGTHS = 6
"""To how many lengths sizes are rounded down."""
WHOLE = 5_040
"""Weights are rounded to parts of it."""
WHOLES = (6_552, 5_544, 5_191, 5_090, 5_045)
"""So much no layer weighs any more, in turn: the nearer to a whole, the higher is the bound, and the longer it takes to see that."""
SIMPLE = (1, 2, 3, 4, 6, 12, 60)
"""Weights with one of these denominators are taken if they prove as much."""
NOTHING = 1e-9
WORK_PER_STEP, PARTS_PER_WORK, CELLS_PER_WORK = 10, 10, 500
"""What a step of the search counts, and one unit more for so many parts; a simplex step changes so many cells for each unit."""

Sets = tuple[tuple[tuple[int, ...], int, int], ...]
"""(parts, numerator, denominator), as in a certificate."""


class Weighed(NamedTuple):
    """Weights of parts, as parts of `whole`, and the bound they prove, in the unit of the sizes."""

    value: int
    weights: tuple[int, ...]
    whole: int


def has_hidden_conflicts(instance: Instance) -> bool:
    """True if who conflicts with whom is not simply who is live with whom, once and without interruption: only then weights prove more than cliques."""
    return bool(
        len(instance.conflicts) or len(instance.exclusions) or len(instance.rect_part) > len(instance.part_block)
    )


def weighed_conflicts(
    instance: Instance,
    pool: int,
    known: int,
    enough: int | None,
    work: int,
    stopped: Callable[[], object] = never,
) -> tuple[Certificate | None, int]:
    """The best bound of the pool that weights prove, if it is above the `known` one, and the work that took. Ends once it is `enough`.

    All blocks must be in the pool, whose `known` bound says which of them matter.
    """
    if live_pair_count(instance) + len(instance.conflicts) > MOST_PAIRS:
        return None, 0
    best, spent = None, 0
    for parts, apart in _crowds(instance, known):
        spent += len(parts) ** 2 // PARTS_PER_WORK
        cells, _, _ = _cells(instance, pool, parts)
        lengths = lengths_of(cells)
        for number, length in enumerate(lengths):
            if spent >= work or stopped():
                return best, spent
            share = (work - spent) // (len(lengths) - number)
            weighed, more = weigh([size // length for size in cells], apart, share, stopped)
            spent += more
            groups: dict[int, list[int]] = {}
            for part, weight in zip(parts, weighed.weights, strict=True):
                if weight:
                    groups.setdefault(weight, []).append(part)
            sets = tuple((tuple(group), weight, weighed.whole) for weight, group in sorted(groups.items()))
            value = weighed_value(instance, pool, sets)
            if value <= max(known, 0 if best is None else best.value):
                continue
            is_sure, more = _is_seen(weighed, apart)
            spent += more
            if is_sure:
                best = Certificate(Proof.CONFLICT_WEIGHTS, value, pool, sets=sets)
            if enough is not None and best is not None and best.value >= enough:
                return best, spent
    return best, spent


def weighed_value(instance: Instance, pool: int, sets: Sets) -> int:
    """The bound of the pool that these weights prove, if no parts without a conflict weigh more than 1 together."""
    parts = [part for some, _, _ in sets for part in some]
    if not parts:
        return 0
    cells, grain, last = _cells(instance, pool, parts)
    weights = [numerator for some, numerator, _ in sets for _ in some]
    whole = sets[0][2]
    height = max(_height(cells, weights, whole, length) for length in {*cells, reduce(gcd, cells)})
    return _above_ranges((height - 1) * grain + last, instance.pools[pool].reserved)


def weigh(
    sizes: Sequence[int], apart: Sequence[int], work: int, stopped: Callable[[], object] = never
) -> tuple[Weighed, int]:
    """The weights of the parts whose bound is best of those found, and the work; `apart` has a bit for each part that conflicts with one."""
    best, spent = Weighed(0, (0,) * len(sizes), 1), len(sizes) ** 2 // CELLS_PER_WORK
    per_step = WORK_PER_STEP + len(sizes) // PARTS_PER_WORK
    layers, wholes = _Layers(sizes), [*WHOLES]
    while spent < work and wholes and not stopped():
        weights = [weight if size else 0 for weight, size in zip(layers.weights(), sizes, strict=True)]
        grown = grown_together(weights, apart)
        layer: Sequence[int] | None = grown
        spent += per_step + len(sizes) ** 2 // CELLS_PER_WORK
        if sum(weights[part] for part in grown) <= wholes[0]:
            layer, steps, is_sure = heavier_together(weights, apart, wholes[0], MOST_STEPS)
            spent += per_step * steps
            if not is_sure:
                break
        if layer is None:
            best = max(best, _weighed(sizes, weights, wholes.pop(0)), key=lambda each: each.value)
        elif not layers.add([*layer]):
            break
    for whole in SIMPLE if best.value else ():
        weights = [(2 * weight * whole + best.whole) // (2 * best.whole) for weight in best.weights]
        simple = _weighed(sizes, weights, whole)
        if simple.value >= best.value:
            found = heavier_together(weights, apart, whole, MOST_STEPS)
            spent += per_step * found.steps
            if found.parts is None and found.is_sure:
                return simple, spent
    return best, spent


def _is_seen(weighed: Weighed, apart: Sequence[int]) -> tuple[bool, int]:
    """Will a verifier see it, and the work: it knows of those that weigh something alone, and goes through them in another order, in which it may take far longer."""
    named = [part for part, weight in enumerate(weighed.weights) if weight]
    among = [sum(1 << place for place, other in enumerate(named) if apart[part] >> other & 1) for part in named]
    found = heavier_together([weighed.weights[part] for part in named], among, weighed.whole, STEPS_OF_VERIFIERS)
    steps = found.steps * (WORK_PER_STEP + len(named) // PARTS_PER_WORK)
    return found.is_sure and found.parts is None, steps


def _weighed(sizes: Sequence[int], weights: Sequence[int], whole: int) -> Weighed:
    return Weighed(_height(sizes, weights, whole, 1), tuple(weights), whole)


def _height(sizes: Iterable[int], weights: Iterable[int], whole: int, length: int) -> int:
    """How high the parts reach at least, in multiples of the length."""
    total = sum(size // length * weight for size, weight in zip(sizes, weights, strict=True))
    return -(-total // whole) * length


class _Layers:
    """The linear program: layers in amounts that give each part its size, and the weights that belong to them."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._amounts = np.array(sizes, dtype=np.float64)
        self._inverse = np.eye(len(sizes))
        self._prices = np.ones(len(sizes))
        self._steps, self._most = 0, 20 * len(sizes)

    def weights(self) -> list[int]:
        rounded: list[int] = np.maximum(np.rint(self._prices * WHOLE), 0).astype(np.int64).tolist()
        return rounded

    def add(self, layer: list[int]) -> bool:
        """Take a layer in place of another; False if that changes nothing any more."""
        column = self._inverse[:, layer].sum(axis=1)
        gain = 1.0 - float(self._prices[layer].sum())
        inside = np.flatnonzero(column > NOTHING)
        self._steps += 1
        if gain > -NOTHING or not len(inside) or self._steps > self._most:
            return False
        row = int(inside[np.argmin(self._amounts[inside] / column[inside])])
        pivot = self._inverse[row] / column[row]
        amount = self._amounts[row] / column[row]
        self._inverse -= column[:, None] * pivot
        self._amounts = np.maximum(self._amounts - column * amount, 0.0)
        self._inverse[row], self._amounts[row] = pivot, amount
        self._prices += gain * pivot
        return True


def _crowds(instance: Instance, known: int) -> Iterator[tuple[list[int], list[int]]]:
    """Parts that are in each other's way, largest sets first, and who conflicts with whom among them, as bits.

    A part that has no more room beside it than is known to be needed finds a place in any case, and is left out; so may others be then.
    """
    size = (instance.part_high - instance.part_low).tolist()
    friends = sets_of_partners(part_pairs(instance).tolist())
    beside = {part: size[part] + sum(size[other] for other in others) for part, others in friends.items()}
    leaving = [part for part, room in beside.items() if room <= known]
    while leaving:
        part = leaving.pop()
        for other in friends.pop(part):
            friends[other].discard(part)
            was, beside[other] = beside[other], beside[other] - size[part]
            if was > known >= beside[other]:
                leaving.append(other)
    found = list[list[int]]()
    seen = set[int]()
    for first in friends:
        if first in seen:
            continue
        seen.add(first)
        crowd = [first]
        for part in crowd:
            new = sorted(friends[part] - seen)
            seen.update(new)
            crowd += new
        found.append(sorted(sorted(crowd, key=lambda part: (-beside[part], part))[:MOST_PARTS]))
    for crowd in sorted(found, key=lambda crowd: -sum(size[part] for part in crowd)):
        place = {part: number for number, part in enumerate(crowd)}
        yield crowd, [sum(1 << place[other] for other in friends[part] if other in place) for part in crowd]


def lengths_of(cells: Sequence[int]) -> list[int]:
    """What sizes are rounded down to, longest first: those of the sizes that lose least by it, and their greatest common divisor."""
    kept = {length: sum(size // length * length for size in cells) for length in {*cells}}
    best = sorted(kept, key=lambda length: (-kept[length], length))[:MOST_LENGTHS]
    return sorted({*best, reduce(gcd, cells)}, reverse=True)


def _cells(instance: Instance, pool: int, parts: Sequence[int]) -> tuple[list[int], int, int]:
    """The parts' sizes in cells at whose ends all of them begin, the size of a cell, and how much of the last one is filled at least."""
    some = np.array(parts, dtype=np.int64)
    blocks = instance.part_block[some]
    sizes = (instance.part_high[some] - instance.part_low[some]).tolist()
    begins = [instance.modulus[blocks, pool], instance.residue[blocks, pool] + instance.part_low[some]]
    grain = 1 if instance.pools[pool].reserved else int(np.gcd.reduce(np.concatenate(begins))) or 1
    return [-(-size // grain) for size in sizes], grain, min((size - 1) % grain + 1 for size in sizes)


def _above_ranges(height: int, reserved: Iterable[tuple[int, int]]) -> int:
    """The address below which so much room is free."""
    free = 0
    for begin, end in sorted(reserved):
        if height <= begin - free:
            break
        height -= max(begin - free, 0)
        free = max(free, end)
    return free + height
