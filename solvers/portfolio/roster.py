"""Which engines take part when no solver is named: a row for each, and rounds of growing work.

There are rounds because what one solver does not find soon, another solver or seed may. A new engine of `auto` is a row here; all that `auto` does with
it follows from the row, and from its kind in solvers/model/registry.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple, Protocol

from ..kernels import Origin, active
from ..model.instance import Instance
from ..model.needs import is_joint
from ..model.registry import SolverKind, is_of
from ..model.solver import Task
from .kinds import Kind

FIRST_ROUND_WORK = 100_000
"""Work of an engine with the usual parts on each open piece in the first round."""
LEAST_WORK = 2_000
"""With less work an engine gets nowhere. In a short round each part has so much."""
SEED_STEP = 1_000_003
"""Every round has another seed: with the same one a search would get stuck in the same place."""
USUAL_PARTS = 2
MOST_PARTS = 12
FAR = 10
"""An engine that takes too long with more blocks declines where there are so many times as many."""


class Share(NamedTuple):
    """An engine's share in the rounds on components of single pools."""

    parts: int = USUAL_PARTS
    """Parts of a round's work, as measured by what it finds."""
    smallest: int = 0
    """With fewer blocks, other engines find better placements in the same time."""
    largest: int | None = None
    """With more blocks it takes too long to build its model, or to go through them again and again."""
    most_pairs: int | None = None
    """With more pairs of rectangles that are live together or in conflict it works far longer than it counts."""
    least_work: int = 0
    """With less work for all, its usual share does better than this one."""
    from_round: int = 1
    """The first round it takes part in: most components are done before its library is loaded."""
    needs_native: bool = False
    """Without native kernels it is too slow to be useful."""
    least_fill: int = 0
    """If less than this percentage of the room below the bound is in use, other engines do better."""
    most_fill: int | None = None
    """If more than this percentage is in use, other engines do better."""
    least_core: int = 0
    """If the few largest blocks take less than this percentage of the room in use, other engines do better."""
    needs_hidden_conflicts: bool = False
    """It is of use only where who conflicts with whom is not simply who is live with whom."""
    most_sizes: int | None = None
    """With more different heights of blocks it hardly ever finds or proves anything."""
    needs_limits: bool = False
    """It is of use only where some blocks must end below where others may."""
    blocks_per_part: int | None = None
    """It gets one more part for each this many blocks: large components need it more than others."""
    most_fill_to_grow: int | None = None
    """If more than this percentage of the room is in use it gets none of these, since other engines need the work."""
    at_once: bool = False
    """If it works alone, it gets all the work in one round, since it starts from nothing in each."""
    scales: bool = False
    """It can use several workers."""
    rests: bool = True
    """It can be made to rest: it often asks whether to stop, and works in this process."""
    leads_in_python: bool = False
    """Without native kernels it is the fastest and comes first."""
    is_quick: bool = False
    """It often finishes a component with little work that others cannot finish: a short round comes first, and in the round after it this engine does."""

    def is_far_too_small_for(self, extent: Extent) -> bool:
        """True if it would decline so many blocks, after looking at them all, or get nowhere with so many conflicts."""
        is_small = self.largest is not None and extent.blocks > FAR * self.largest
        most = self.most_pairs
        return is_small or (extent.kind is Kind.PAIRS and most is not None and extent.pairs > most)


class Role(NamedTuple):
    """How `auto` uses an engine. An engine without a row takes part only if it is asked for by name."""

    separate: Share | None = None
    """Its share if no block has a choice of pools and only peaks count; None: it takes no part."""
    others: Mapping[Kind, Share] = MappingProxyType({})
    """Its shares in components of other kinds than the usual one, where they differ."""
    joint: bool = False
    """It works on everything else: a choice of pools, or objectives that weigh more than peaks."""
    leads: bool = False
    """It works before bounds are computed: it mostly proves the optimum sooner than they are found."""
    works_ahead: bool = False
    """If there is a placement, its answer depends on the instance alone, and another process works it out: it can begin before engines that lead are done."""
    saves_greedy: bool = False
    """It finds what greedy would find with more work, and sooner."""
    packs_pools: bool = False
    """It packs each pool of a joint problem once the choice of pools is made."""
    settles_ties: bool = False
    """It picks the best of several placements of the least cost."""
    minds_moves: bool = False
    """It is useful only if the objective counts moves."""
    minds_reuse: bool = False
    """It is useful only if the objective counts the cost of shared addresses."""
    most_places: int | None = None
    """With more pairs of a block and a pool that it may be in, a joint program takes hundreds of MiB and is hardly ever solved."""
    most_blocks: int | None = None
    """With more blocks it declines, which need not be asked of another process;"""
    least_work_per_block: int = 0
    """and so it does with less work for each block."""

    def takes(self, places: int, blocks: int) -> bool:
        """True if it is of use for so many blocks, and so many pairs of a block and a pool."""
        return (self.most_places is None or places <= self.most_places) and (
            self.most_blocks is None or blocks <= self.most_blocks
        )

    @property
    def needs_no_choice(self) -> bool:
        """True if it can prove something where every block has only one pool. Other bounders need several."""
        return self.minds_moves or self.minds_reuse


CPSAT = Share(largest=3_000, most_pairs=100_000, from_round=3, leads_in_python=True, rests=False)

ROSTER = {
    "must_share": Role(joint=True, minds_reuse=True),
    "must_move": Role(joint=True, minds_moves=True),
    "room_prices": Role(joint=True),
    "pool_sharing": Role(joint=True, works_ahead=True, most_blocks=2_000, least_work_per_block=30),
    "keep": Role(joint=True, saves_greedy=True, minds_moves=True),
    "reuse": Role(joint=True, saves_greedy=True, minds_reuse=True),
    "pools_first": Role(joint=True, leads=True, saves_greedy=True),
    "assign": Role(joint=True, saves_greedy=True),
    "core": Role(Share(parts=4, smallest=4_000, most_fill=80, least_core=95, needs_native=True)),
    "late_first": Role(
        Share(needs_limits=True, needs_native=True),
        {
            Kind.PAIRS: Share(parts=1, needs_native=True),
            Kind.MIXED: Share(parts=6, least_work=FIRST_ROUND_WORK, needs_native=True),
        },
    ),
    "mosaic": Role(
        Share(parts=4, smallest=100, largest=3_000, from_round=2, least_fill=90, needs_native=True, rests=False)
    ),
    "saturation": Role(Share(largest=300, most_pairs=20_000, most_sizes=16, from_round=2, needs_hidden_conflicts=True)),
    "search": Role(
        Share(parts=6, scales=True),
        {Kind.PAIRS: Share(parts=2, most_pairs=10_000, scales=True), Kind.WOVEN: Share(scales=True)},
        packs_pools=True,
    ),
    "beam": Role(Share(parts=1, largest=3_000, needs_native=True)),
    "gluing": Role(
        Share(smallest=250, largest=40_000, least_fill=80, blocks_per_part=125, needs_native=True, is_quick=True),
        packs_pools=True,
    ),
    "improve": Role(
        Share(parts=1, smallest=250, blocks_per_part=125, most_fill_to_grow=79, needs_native=True),
        {
            Kind.PAIRS: Share(parts=6, needs_native=True),
            Kind.EXEMPT: Share(parts=6, needs_native=True),
            Kind.FIXED: Share(parts=6, needs_native=True),
            Kind.TORN: Share(parts=6, blocks_per_part=125, needs_native=True),
            Kind.SPLIT: Share(parts=1, smallest=250, blocks_per_part=125, needs_native=True),
            Kind.MIXED: Share(parts=10, least_work=FIRST_ROUND_WORK, needs_native=True),
        },
    ),
    "cpsat": Role(
        CPSAT,
        {Kind.PAIRS: CPSAT._replace(parts=1, most_pairs=2_000), Kind.WOVEN: CPSAT._replace(from_round=1)},
        joint=True,
        settles_ties=True,
        most_places=9_000,
    ),
    "cpsat_order": Role(Share(largest=100, most_pairs=1_000, at_once=True, rests=False)),
}
"""In their order of use, after greedy; those that are quick come first in the first round."""

NAMED = {"cbc": Share(at_once=True, rests=False), "highs": Share(at_once=True, rests=False)}
"""Shares of engines that take no part in `auto`, where it is not the usual one."""


def role_of(name: str) -> Role:
    """The engine's row, or an empty one."""
    return ROSTER.get(name, Role())


def share_of(name: str, kind: Kind = Kind.USUAL, work: int | None = None) -> Share:
    """Its share in the rounds; for an engine that takes no part in `auto`, the share it gets if it is asked for by name."""
    role = role_of(name)
    other = role.others.get(kind)
    if other is not None and (work is None or work >= other.least_work):
        return other
    return role.separate or NAMED.get(name, Share())


def joint_engines(*, moves: bool, reuse: bool) -> tuple[str, ...]:
    """The engines of `auto` for joint problems. `moves`, `reuse`: the objective counts moves, and the cost of shared addresses."""
    return tuple(
        name
        for name, role in ROSTER.items()
        if role.joint and (moves or not role.minds_moves) and (reuse or not role.minds_reuse)
    )


def separate_engines(*, native: bool) -> tuple[str, ...]:
    """The engines of `auto` for components that greedy leaves open."""
    shares = {name: role.separate for name, role in ROSTER.items() if role.separate is not None}
    if native:
        return tuple(shares)
    of_use = [name for name, share in shares.items() if not share.needs_native]
    return tuple(sorted(of_use, key=lambda name: not shares[name].leads_in_python))


def engines_of_auto(instance: Instance) -> tuple[str, ...]:
    """The engines of `auto` for this instance, as a whole or pool by pool."""
    if is_joint(instance):
        return joint_engines(moves=instance.weighs_moves, reuse=instance.weighs_reuse)
    return separate_engines(native=active().origin is Origin.NATIVE)


def packers() -> tuple[str, ...]:
    """The engines that pack each pool of a joint problem."""
    engines = separate_engines(native=active().origin is Origin.NATIVE)
    return tuple(name for name in engines if role_of(name).packs_pools)


class Extent(Protocol):
    """The figures of a component that decide which engines are useful; computed on demand, as some take a while."""

    @property
    def blocks(self) -> int: ...

    @property
    def pairs(self) -> int:
        """Pairs of rectangles that are live together, or in conflict whatever their lifetimes."""

    @property
    def fill(self) -> int:
        """The percentage of the room below the bound that is in use."""

    @property
    def core(self) -> int:
        """The percentage of that which the few largest blocks take."""

    @property
    def is_limited(self) -> bool:
        """Must some block that can move end below where others may?"""

    @property
    def hides_conflicts(self) -> bool:
        """Is who conflicts with whom not simply who is live with whom, once and without interruption?"""

    @property
    def sizes(self) -> int:
        """How many different heights its blocks have."""

    @property
    def kind(self) -> Kind: ...


def team(engines: Iterable[str], extent: Extent, number: int, work: int | None = None) -> tuple[tuple[str, int], ...]:
    """Name and parts of each engine that is useful for a component of this extent in this round (numbered from 1; 0 is a short round).

    An engine that is too slow, or would come later, works if no other can, but not where it is far too slow and improvers can. `work`: for
    all of them in all rounds.
    """
    shares = {name: share_of(name, extent.kind, work) for name in engines}
    ready = {
        name
        for name, share in shares.items()
        if share.smallest <= extent.blocks
        and (share.largest is None or extent.blocks <= share.largest)
        and (share.most_pairs is None or extent.pairs <= share.most_pairs)
        and max(number, 1) >= share.from_round
        and (share.least_fill == 0 or extent.fill >= share.least_fill)
        and (share.most_fill is None or extent.fill <= share.most_fill)
        and (share.least_core == 0 or extent.core >= share.least_core)
        and (not share.needs_limits or extent.is_limited)
        and (not share.needs_hidden_conflicts or extent.hides_conflicts)
        and (share.most_sizes is None or extent.sizes <= share.most_sizes)
    }
    if all(is_of(SolverKind.IMPROVER, name) for name in ready):
        slow = {name for name in shares if not is_of(SolverKind.IMPROVER, name)} or shares.keys()
        ready |= {name for name in slow if not ready or not shares[name].is_far_too_small_for(extent)}
    in_order = sorted(shares, key=lambda name: number == 1 and not shares[name].is_quick)
    return tuple((name, part) for name in in_order if name in ready for part in _parts(shares[name], extent))


def _parts(share: Share, extent: Extent) -> tuple[int, ...]:
    """Split many parts of what is quick into two turns with different seeds, so that a round does not wait for one engine alone."""
    most = share.most_fill_to_grow
    if share.blocks_per_part is None or (most is not None and extent.fill > most):
        return (share.parts,)
    parts = min(max(share.parts, extent.blocks // share.blocks_per_part), MOST_PARTS)
    return (parts,) if parts <= MOST_PARTS // 2 or not share.is_quick else (parts - parts // 2, parts // 2)


def round_work(
    limit: int | None,
    spent: int,
    shares: int,
    *,
    first: int = FIRST_ROUND_WORK,
    least: int = LEAST_WORK,
    growth: int = 1,
) -> int:
    """The work of each share in the next round: `growth` times as much as in all rounds so far; 0 if too little is left.

    If less than another such round would be left, that is spent now too.
    """
    shares = max(1, shares)
    wanted = max(first, growth * spent // shares)
    if limit is None:
        return wanted
    left = (limit - spent) // shares
    if left < least:
        return 0
    return left if left < 2 * wanted else wanted


def task_of_round(task: Task, number: int, work: int | None) -> Task:
    """The task with the work limit and the seed of this round."""
    return replace(task, limits=replace(task.limits, work=work), seed=task.seed + number * SEED_STEP)
