"""Who takes part when no solver is named: a row for each engine, and rounds of work that grow.

Rounds, because what a solver does not find soon, another, or another seed, may. A new engine of `auto` is a row here; whatever else `auto` does with
it follows from the row, and from its kind in solvers/model/registry.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, Protocol

from ..model.registry import SolverKind, is_of
from ..model.solver import Task

USUAL_PARTS = 2
MOST_PARTS = 12


class Share(NamedTuple):
    """An engine's part in the rounds on components of single pools."""

    parts: int = USUAL_PARTS
    """How many parts of a round's work it gets: what it earns by what it finds."""
    smallest: int = 0
    """Of fewer blocks than this others find better placements in no more time."""
    largest: int | None = None
    """With more blocks than this it takes too long: to build its model, or to go through all of them again and again."""
    most_pairs: int | None = None
    """Where more pairs of rectangles are live together it works for far longer than it counts."""
    from_round: int = 1
    """Most components are done before it would have loaded its library."""
    needs_native: bool = False
    """In Python it is too slow to be of use."""
    least_fill: int = 0
    """Where less than so many per cent of the room below the bound are in use, others do better."""
    most_fill: int | None = None
    """Where more than that is in use, others do better."""
    least_core: int = 0
    """Where the few largest blocks take less than so many per cent of the room in use, others do better."""
    blocks_per_part: int | None = None
    """With more blocks it gets more parts, one for each so many: it earns them where they make up for what others no longer can."""
    at_once: bool = False
    """Working alone it gets all work in one round: in each it would begin from nothing."""
    scales: bool = False
    """It can use several workers."""
    leads_in_python: bool = False
    """Without native kernels it is the fastest, and comes before the others."""


class Role(NamedTuple):
    """What is known of an engine. One without a row takes part when it is asked for by name."""

    separate: Share | None = None
    """Its part where no block has a choice of pools and only peaks count; None: it has none."""
    joint: bool = False
    """Does it work on everything else: a choice of pools, or objectives that weigh more than peaks?"""
    leads: bool = False
    """It works before bounds are looked for: where it can do its part, it mostly proves the optimum sooner than they are found."""
    saves_greedy: bool = False
    """It finds sooner what greedy would find with more work."""
    packs_pools: bool = False
    """It packs the pools of a joint problem, once a choice of pools is made, each on its own."""
    settles_ties: bool = False
    """It is asked for the best of several placements of the least cost."""
    minds_moves: bool = False
    """It is of use only where the objective counts what moved."""
    minds_reuse: bool = False
    """It is of use only where the objective counts what sharing addresses costs."""

    @property
    def needs_no_choice(self) -> bool:
        """Does it prove something although every block has one pool alone? Other bounders are of several pools."""
        return self.minds_moves or self.minds_reuse


ROSTER = {
    "must_share": Role(joint=True, minds_reuse=True),
    "must_move": Role(joint=True, minds_moves=True),
    "room_prices": Role(joint=True),
    "pool_sharing": Role(joint=True),
    "keep": Role(joint=True, saves_greedy=True, minds_moves=True),
    "reuse": Role(joint=True, saves_greedy=True, minds_reuse=True),
    "pools_first": Role(joint=True, leads=True, saves_greedy=True),
    "assign": Role(joint=True, saves_greedy=True),
    "core": Role(Share(parts=4, smallest=4_000, most_fill=80, least_core=95, needs_native=True)),
    "improve": Role(Share(parts=1, smallest=2_000, needs_native=True)),
    "search": Role(Share(parts=6, scales=True), packs_pools=True),
    "beam": Role(Share(parts=1, largest=3_000, needs_native=True)),
    "gluing": Role(
        Share(smallest=250, largest=40_000, least_fill=80, blocks_per_part=125, needs_native=True),
    ),
    "cpsat": Role(
        Share(largest=3_000, most_pairs=100_000, from_round=3, leads_in_python=True),
        joint=True,
        settles_ties=True,
    ),
    "cpsat_order": Role(Share(largest=100, most_pairs=1_000, from_round=3, at_once=True)),
}
"""In the order in which they are asked; greedy comes before all of them."""


def role_of(name: str) -> Role:
    """The engine's row, or an empty one."""
    return ROSTER.get(name, Role())


def share_of(name: str) -> Share:
    """Its part in the rounds; the usual one where it takes part only because it was asked for by name."""
    return role_of(name).separate or Share()


def joint_engines(*, moves: bool, reuse: bool) -> tuple[str, ...]:
    """Those of `auto` on joint problems; `moves`, `reuse`: the objective counts what moved, and what sharing addresses costs."""
    return tuple(
        name
        for name, role in ROSTER.items()
        if role.joint and (moves or not role.minds_moves) and (reuse or not role.minds_reuse)
    )


def separate_engines(*, native: bool) -> tuple[str, ...]:
    """Those of `auto` on components that greedy leaves open."""
    shares = {name: role.separate for name, role in ROSTER.items() if role.separate is not None}
    if native:
        return tuple(shares)
    of_use = [name for name, share in shares.items() if not share.needs_native]
    return tuple(sorted(of_use, key=lambda name: not shares[name].leads_in_python))


PACKERS = tuple(name for name, role in ROSTER.items() if role.packs_pools)


class Extent(Protocol):
    """What decides who is of use for a component. Asked for one by one, as some take a while to count."""

    @property
    def blocks(self) -> int: ...

    @property
    def pairs(self) -> int:
        """Of rectangles that are live together."""

    @property
    def fill(self) -> int:
        """How much of the room below the bound is in use, in per cent."""

    @property
    def core(self) -> int:
        """How much of that the few largest blocks take, in per cent."""


def team(engines: Iterable[str], extent: Extent, number: int) -> tuple[tuple[str, int], ...]:
    """Name and parts of those that are of use for a component of this extent in the round of that number (from 1).

    One that is too slow, or comes too early, works where nobody else can.
    """
    shares = {name: share_of(name) for name in engines}
    ready = {
        name
        for name, share in shares.items()
        if share.smallest <= extent.blocks
        and (share.largest is None or extent.blocks <= share.largest)
        and (share.most_pairs is None or extent.pairs <= share.most_pairs)
        and number >= share.from_round
        and (share.least_fill == 0 or extent.fill >= share.least_fill)
        and (share.most_fill is None or extent.fill <= share.most_fill)
        and (share.least_core == 0 or extent.core >= share.least_core)
    }
    if all(is_of(SolverKind.IMPROVER, name) for name in ready):
        ready |= {name for name in shares if not is_of(SolverKind.IMPROVER, name)} or shares.keys()
    return tuple(
        (name, part) for name, share in shares.items() if name in ready for part in _parts(share, extent.blocks)
    )


def _parts(share: Share, blocks: int) -> tuple[int, ...]:
    """Who gets many parts uses them twice, with another seed each, so that a round does not wait for one alone."""
    if share.blocks_per_part is None:
        return (share.parts,)
    parts = min(max(share.parts, blocks // share.blocks_per_part), MOST_PARTS)
    return (parts,) if parts <= MOST_PARTS // 2 else (parts - parts // 2, parts // 2)


FIRST_ROUND_WORK = 100_000
"""What an engine with the usual parts may spend on each open piece in the first round."""
LEAST_WORK = 2_000
"""With less an engine does not get anywhere."""
SEED_STEP = 1_000_003
"""Every round has another seed: what a search ran into with the last one it would run into again."""


def round_work(
    limit: int | None,
    spent: int,
    shares: int,
    *,
    first: int = FIRST_ROUND_WORK,
    least: int = LEAST_WORK,
    growth: int = 1,
) -> int:
    """What each of the shares may spend in the next round: `growth` times as much as in all rounds so far; 0 if too little is left.

    What would then be left, but be less than this round, is spent in it.
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
    """The task with what may be spent in the round of that number, and the round's seed."""
    return replace(task, limits=replace(task.limits, work=work), seed=task.seed + number * SEED_STEP)
