"""What is needed when, where there is no plan: in each pool by buffers that can be nowhere else, and in several together by those that can choose."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice

from solvers.model.outcome import Proof

from ..facts.intervals import merged
from ..facts.possible_places import Places
from ..model.deadline import in_time
from ..model.plan import Placement, Plan
from ..model.problem import Pool, Problem
from ..reporting.live_profile import LiveProfile

DRAWING = "drawing the plan of"
MOST_WITHIN = 16
"""The most sets of pools looked at within those that are connected."""
NAMED = 3
"""The most pools that a name lists."""

Homes = Mapping[tuple[str, ...], list[int]]
"""The numbers of the buffers, by the pools that each can be in."""


@dataclass(frozen=True, slots=True)
class Demand:
    """The need in one pool, or in several together."""

    pools: tuple[Pool, ...]
    buffers: tuple[int, ...]
    """The numbers of those that can be nowhere else."""
    profile: tuple[tuple[int, int], ...]
    """The bytes needed from each time on."""

    @property
    def name(self) -> str:
        names = [pool.name for pool in self.pools]
        if len(names) == 1:
            return names[0]
        *firsts, last = names if len(names) <= NAMED else [*names[:NAMED], f"{len(names) - NAMED} more"]
        return f"{', '.join(firsts)} and {last} together"

    @property
    def size(self) -> int | None:
        """Return the bytes of the pools together, without those that are reserved; None: unlimited."""
        if len(self.pools) == 1:
            return self.pools[0].size
        sizes = [None if pool.size is None else _free(pool, pool.size) for pool in self.pools]
        known = [size for size in sizes if size is not None]
        return sum(known) if len(known) == len(sizes) else None

    @property
    def is_short(self) -> bool:
        return self.size is not None and max(needed for _, needed in self.profile) > self.size


def demands(problem: Problem, plan: Plan) -> list[Demand]:
    """Return each known need, those that exceed their room first."""
    homes = _homes(problem)
    sizes = {use.name: use.size for use in plan.pools}
    pools = {pool.name: replace(pool, size=sizes.get(pool.name, pool.size)) for pool in problem.pools}

    def needs(sets: Homes) -> Iterator[Demand]:
        """Yield the need of each set of pools; no buffer is in two of them, so one sweep serves all."""
        placed = (
            Placement(problem.buffers[i].id, names[0], 0, problem.buffers[i].size)
            for names in sets
            for i in sets[names]
        )
        profile = LiveProfile(problem, list(placed))
        for names, numbers in sets.items():
            if steps := profile.steps(names[0]):
                yield Demand(tuple(pools[name] for name in names), tuple(numbers), tuple(steps))

    together = {names: _within(homes, names) for names in _connected(homes)}
    found = [*needs({names: homes[names] for names in homes if len(names) == 1}), *needs(together)]
    known = {frozenset(names) for names in together}
    for names in islice(_within_others(homes, plan, known), MOST_WITHIN):
        found += (need for need in needs({names: _within(homes, names)}) if need.is_short)
    order = {name: i for i, name in enumerate(pools)}
    return sorted(found, key=lambda each: (not each.is_short, len(each.pools) > 1, order[each.pools[0].name]))


def _homes(problem: Problem) -> Homes:
    """Return where each buffer can be that is needed at known times; what fits nowhere is needed wherever it is allowed."""
    places = Places(problem)
    found: dict[tuple[str, ...], list[int]] = {}
    lists: dict[int, tuple[object, list[int]]] = {}
    for number, buffer in enumerate(in_time(problem.buffers, DRAWING)):
        if not buffer.size or not buffer.live:
            continue
        names = places.possible_pools(number) or places.allowed_pools(places.tied(number))
        if id(names) not in lists:  # many buffers have one list, which may be long
            lists[id(names)] = names, found.setdefault(tuple(names), [])
        lists[id(names)][1].append(number)
    return {names: numbers for names, numbers in found.items() if names}


def _within_others(homes: Homes, plan: Plan, known: set[frozenset[str]]) -> Iterator[tuple[str, ...]]:
    """Yield sets of pools that may be too small although pools connected with them have room: those of a proof, and all that a buffer chooses from."""
    proven = (
        tuple(dict.fromkeys(pool for pool, _, numerator, _ in certificate.weights if numerator > 0))
        for certificate in plan.certificates
        if certificate.proof is Proof.POOL_SHARING
    )
    for names in (*proven, *homes):
        if len(names) > 1 and frozenset(names) not in known:
            known.add(frozenset(names))
            yield names


def _connected(homes: Homes) -> Iterable[tuple[str, ...]]:
    """Return the pools among which buffers choose; those of two choices with one in common are one set."""
    sets: dict[str, dict[str, None]] = {}
    for names in homes:
        if len(names) > 1:
            known = {id(sets[name]): sets[name] for name in names if name in sets}
            joined = dict.fromkeys([*(name for each in known.values() for name in each), *names])
            sets.update(dict.fromkeys(joined, joined))
    return [tuple(each) for each in {id(each): each for each in sets.values()}.values()]


def _within(homes: Homes, names: tuple[str, ...]) -> list[int]:
    """Return the buffers that can be nowhere but in these pools."""
    these = set(names)
    return sorted(number for possible, numbers in homes.items() if these.issuperset(possible) for number in numbers)


def _free(pool: Pool, size: int) -> int:
    return size - sum(max(min(end, size) - start, 0) for start, end in merged(pool.reserved))
