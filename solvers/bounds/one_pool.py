"""Lower bounds on the peak of a pool: sets of parts that must lie side by side, and how high they reach at least.

Every bound comes with the set that proves it. A bound never exceeds a reachable peak, so alignment padding counts only where it is unavoidable: if
all starts are multiples of g, every part but the topmost of a free range takes a multiple of g.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise

import numpy as np

from ..geometry.shape import outline, union
from ..kernels import active
from ..model.conflicts import live_pair_count, part_pairs, sets_of_partners
from ..model.instance import Bools, Instance, Ints
from ..model.interruption import GivenUp, check_interrupted, give_up, interrupted_by
from ..model.outcome import Certificate, Proof
from ..model.solver import never
from .above_ranges import crowds, raised
from .beside_walls import Piece, height_beside
from .conflicts.heavy_cliques import grown, grown_clique, heaviest_clique
from .stacks import least_stack

EXACT_SECTIONS = 64
MOST_MEASURED = 500_000
"""Most parts measured, over all sections together."""
MOST_TORN = 256
"""Of so many parts of a section at most that may share addresses with others, those that need most room of their own are looked for."""
CLIQUE_PAIRS = 2_000_000
GAP_PAIRS = 50_000
"""With more pairs that are live together, and no explicit conflicts, listing them all takes longer than what small problems take in all."""


def pool_bound(
    instance: Instance, pool: int, settled: Bools | None = None, stopped: Callable[[], object] | None = None
) -> Certificate | None:
    """The best lower bound on the pool's peak that is cheap to prove, from the blocks that can go nowhere else.

    `settled` marks the blocks with only one pool, for callers with many pools. When `stopped` returns true, expensive proofs are skipped.
    """
    forced = instance.allowed[:, pool] & (instance.has_one_home if settled is None else settled)
    if not forced.any():
        return None
    instance = raised(instance, pool, forced)
    single = _single(instance, pool, forced)
    live = _live_together(instance, pool, forced, stopped or never)
    if live is not None and instance.pools[pool].reserved and not (stopped and stopped()):
        live = _in_wide_gaps(instance, pool, forced, live)
    clique = _clique_in_time(instance, pool, forced, live, stopped) if _has_hidden_cliques(instance) else None
    return max((c for c in (live, clique, single) if c is not None), key=lambda c: c.value)


def homeless(instance: Instance) -> Certificate | None:
    """A block that fits into none of its pools, even alone; None if there is none."""
    for block in np.flatnonzero(~instance.allowed.any(axis=1)).tolist():
        part = int(np.argmax(instance.part_block == block))
        return Certificate(Proof.SINGLE_BLOCK, int(instance.block_high[block]), parts=(part,))
    return None


def _single(instance: Instance, pool: int, forced: Bools) -> Certificate:
    """The bound by the block with the greatest least end."""
    end = np.where(forced, instance.lowest[:, pool] + instance.block_high, -1)
    block = int(np.argmax(end))
    part = int(np.argmax((instance.part_block == block) & (instance.part_high == instance.block_high[block])))
    return Certificate(Proof.SINGLE_BLOCK, int(end[block]), pool, parts=(part,))


def _live_together(instance: Instance, pool: int, forced: Bools, stopped: Callable[[], object]) -> Certificate | None:
    """The bound by the section whose live parts reach highest: sections are ranked by their total size, then measured exactly.

    Once stopped, no more than the first is measured.
    """
    shape = outline(instance)
    here = forced[shape.block]
    if not here.any():
        return None
    blocks = np.flatnonzero(forced)
    grain = _grain(instance, pool, blocks, _fixed(instance, pool, blocks))
    height = shape.high[here] - shape.low[here]
    uniform = _is_uniform(instance, pool)
    if uniform and grain == 1:
        value, section = active().kernels.max_live(shape.start[here], shape.end[here], height, instance.sections)
        assert section is not None, "something is live"
        parts = _live_at(instance, section, forced)
        return Certificate(Proof.LIVE_TOGETHER, value, pool, section, tuple(sorted(parts.tolist())))
    change = np.zeros(instance.sections + 1, dtype=np.int64)
    np.add.at(change, shape.start[here], height + -height % grain)
    np.subtract.at(change, shape.end[here], height + -height % grain)
    total = np.cumsum(change[:-1])
    best: Certificate | None = None
    exclusions = _Exclusions(instance)
    candidates = np.argsort(-total, kind="stable")[:EXACT_SECTIONS]
    measured = 0
    for section in candidates.tolist():
        if best is not None and ((uniform and total[section] <= best.value) or measured > MOST_MEASURED or stopped()):
            break
        parts = exclusions.without(_live_at(instance, section, forced), 0 if best is None else best.value)
        if uniform:
            sizes = instance.part_high[parts]
            value = int(total[section]) - int((-sizes % grain).max(initial=0))
        else:
            value = stack_height(instance, pool, parts.tolist(), 0 if best is None else best.value)
            measured += len(parts)
        if best is None or value > best.value:
            best = Certificate(Proof.LIVE_TOGETHER, value, pool, section, tuple(sorted(parts.tolist())))
    return best


def _in_wide_gaps(instance: Instance, pool: int, forced: Bools, live: Certificate) -> Certificate:
    """The bound by some of the parts that are live in a section, if reserved ranges keep them higher than `live` proves."""
    blocks = np.flatnonzero(forced)
    exclusions = _Exclusions(instance)
    for section, some in crowds(instance, pool, forced, _grain(instance, pool, blocks, _fixed(instance, pool, blocks))):
        parts = exclusions.without(some).tolist()
        value = stack_height(instance, pool, parts, live.value)
        if value > live.value:
            live = Certificate(Proof.LIVE_TOGETHER, value, pool, section, tuple(sorted(parts)))
    return live


def _live_at(instance: Instance, section: int, forced: Bools) -> Ints:
    """The parts of forced blocks that are live in the section."""
    parts = instance.rect_part[(instance.rect_start <= section) & (instance.rect_end > section)]
    here: Ints = parts[forced[instance.part_block[parts]]]
    return here


def _is_uniform(instance: Instance, pool: int) -> bool:
    """True for plain blocks of one alignment without obstacles: then a section's height is its rounded sum less the largest padding."""
    alike = bool((instance.modulus[:, pool] == instance.modulus[0, pool]).all())
    return (
        alike
        and instance.is_plain
        and not instance.pools[pool].reserved
        and not bool(instance.lowest[:, pool].any())
        and not bool((instance.highest[:, pool] == 0).any())
    )


class _Exclusions:
    """Chooses parts that all need room of their own where some may share addresses; made once for many sections."""

    def __init__(self, instance: Instance) -> None:
        both = np.concatenate([instance.exclusions, instance.exclusions[:, ::-1]])
        both = both[np.argsort(both[:, 0], kind="stable")]
        count = len(instance.part_block)
        self._foes = both[:, 1]
        bounds = np.searchsorted(both[:, 0], np.arange(count + 1))
        self._has_foes = bounds[1:] > bounds[:-1]
        self._begin, self._end = bounds[:-1].tolist(), bounds[1:].tolist()
        self._rank = np.empty(count, dtype=np.int64)
        self._size = instance.part_high - instance.part_low
        self._rank[np.argsort(-self._size, kind="stable")] = np.arange(count)

    def without(self, parts: Ints, known: int = 0) -> Ints:
        """The parts without those that may share addresses with a larger one that is kept, or others that need more room; that is not looked for up to `known`."""
        if not len(self._foes):
            return parts
        parts = np.unique(parts)
        taken = np.zeros(len(self._rank), dtype=bool)
        taken[parts] = True
        torn = parts[self._has_foes[parts]]
        for part in torn[np.argsort(self._rank[torn])].tolist():
            if taken[part]:
                taken[self._foes_of(part)] = False
        if 2 < len(torn) <= MOST_TORN and self._size[parts].sum() > known:
            chosen = self._heavy_among(torn)
            if self._size[chosen].sum() > self._size[torn][taken[torn]].sum():
                taken[torn] = False
                taken[chosen] = True
        return np.flatnonzero(taken)

    def _heavy_among(self, torn: Ints) -> Ints:
        """Parts of these that all need room of their own."""
        place = np.full(len(self._rank), -1, dtype=np.int64)
        place[torn] = np.arange(len(torn))
        edges = ~np.eye(len(torn), dtype=bool)
        for number, part in enumerate(torn.tolist()):
            foes = place[self._foes_of(part)]
            edges[number, foes[foes >= 0]] = False
        return torn[grown(edges, self._size[torn])]

    def _foes_of(self, part: int) -> Ints:
        return self._foes[self._begin[part] : self._end[part]]


def _grain(instance: Instance, pool: int, blocks: Ints, fixed: Bools) -> int:
    """A common divisor of the starts of all these blocks' parts."""
    movable = blocks[~fixed]
    numbers = [
        instance.lowest[blocks[fixed], pool],
        instance.modulus[movable, pool],
        instance.residue[movable, pool],
    ]
    raised = instance.part_low > 0
    if raised.any():
        numbers.append(instance.part_low[raised & np.isin(instance.part_block, blocks)])
    return int(np.gcd.reduce(np.concatenate(numbers))) or 1


def _fixed(instance: Instance, pool: int, blocks: Ints) -> Bools:
    """True for each of these blocks that has only one place. If one of them overlaps a reserved range there is no plan, and none counts as fixed."""
    fixed: Bools = instance.lowest[blocks, pool] == instance.highest[blocks, pool]
    reserved = instance.pools[pool].reserved
    if not reserved or not fixed.any():
        return fixed
    parts = np.flatnonzero(np.isin(instance.part_block, blocks[fixed]) & (instance.part_high > instance.part_low))
    base = instance.lowest[instance.part_block[parts], pool]
    begin, end = np.array(reserved, dtype=np.int64).T
    after = np.searchsorted(end, base + instance.part_low[parts], side="right")
    inside = after < len(end)
    is_blocked = bool((begin[after[inside]] < (base + instance.part_high[parts])[inside]).any())
    return np.zeros_like(fixed) if is_blocked else fixed


def stack_height(instance: Instance, pool: int, parts: Iterable[int], known: int = 0) -> int:
    """A lower bound on the height of these parts in the pool. No two parts of different blocks may overlap.

    Where it may not be above `known`, less effort is made.
    """
    some = np.array([*parts], dtype=np.int64)
    by_block: dict[int, list[tuple[int, int]]] = {}
    columns = (each[some].tolist() for each in (instance.part_block, instance.part_low, instance.part_high))
    for block, low, high in zip(*columns, strict=True):
        by_block.setdefault(block, []).append((low, high))
    blocks = np.array(sorted(by_block), dtype=np.int64)
    fixed = _fixed(instance, pool, blocks)
    movable: list[Piece] = []
    places: list[Piece] = []
    bases = (each.tolist() for each in (blocks, fixed, instance.lowest[blocks, pool], instance.modulus[blocks, pool]))
    for block, is_fixed, lowest, modulus in zip(*bases, strict=True):
        for low, high in union(by_block[block]):
            (places if is_fixed else movable).append(Piece(lowest + low, high - low, modulus))
    places.sort()
    if any(one.end > other.start for one, other in pairwise(places)):
        movable, places = movable + places, []  # there is no plan; this is the height if they could move
    reserved, walls = instance.pools[pool].reserved, [(place.start, place.end) for place in places]
    height = max((end for _, end in walls), default=0)
    if not movable:
        return height
    settled = [place._replace(modulus=0) for place in places]
    height = max(height, height_beside([*movable, *settled], reserved))
    if walls:
        height = max(height, height_beside(movable, sorted([*reserved, *walls])))
    if (instance.lowest[blocks, pool] == instance.highest[blocks, pool]).any():
        return height
    stacked = least_stack(movable, max(height, known))
    return stacked if stacked > known else height


def _has_hidden_cliques(instance: Instance) -> bool:
    """True if parts may conflict pairwise and not all at one moment: by explicit conflicts, or since some are live several times."""
    if len(instance.conflicts):
        return True
    return len(instance.rect_part) > len(instance.part_block) and live_pair_count(instance) <= GAP_PAIRS


def _clique_in_time(
    instance: Instance, pool: int, forced: Bools, live: Certificate | None, stopped: Callable[[], object] | None
) -> Certificate | None:
    if stopped is None:
        return _clique(instance, pool, forced, live)
    try:
        with interrupted_by(partial(give_up, stopped)):
            return _clique(instance, pool, forced, live)
    except GivenUp:
        return None


def _clique(instance: Instance, pool: int, forced: Bools, live: Certificate | None) -> Certificate | None:
    """The bound by parts that conflict pairwise, by lifetime or constraint: the heaviest set that a short branch and bound finds.

    `live`: the bound by parts that are live together, where the search begins without explicit conflicts.
    """
    if live_pair_count(instance) + len(instance.conflicts) > CLIQUE_PAIRS:
        return None
    pairs = part_pairs(instance)
    check_interrupted()
    friends = sets_of_partners(pairs[forced[instance.part_block[pairs]].all(axis=1)].tolist())
    if not friends:
        return None
    size = instance.part_high - instance.part_low
    known = list[int]()
    if not len(instance.conflicts):  # beside these, rounding the sizes gains and loses
        blocks = np.flatnonzero(forced)
        size = size + -size % _grain(instance, pool, blocks, _fixed(instance, pool, blocks))
        known = [] if live is None else [*live.parts]
        if len(np.unique(instance.part_block[known])) < len(known):
            known = []  # parts of one block may overlap, so that their sizes do not add up
    else:
        known = grown_clique(friends, size)
    parts, is_heaviest = heaviest_clique(friends, size.tolist(), known)
    if not (is_heaviest or len(instance.conflicts)):
        known = grown_clique(friends, size)
        if size[known].sum() > size[parts].sum():
            parts, _ = heaviest_clique(friends, size.tolist(), known)
    return Certificate(Proof.CONFLICT_CLIQUE, stack_height(instance, pool, parts), pool, parts=tuple(sorted(parts)))
