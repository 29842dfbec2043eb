"""A solver's answer: a placement, its value, proven bounds, and why the solver stopped."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from .errors import StopReason

if TYPE_CHECKING:
    from .instance import Placement, Term

Value: TypeAlias = tuple[int, ...]
"""One integer per term of the objective, compared lexicographically. A bound may be shorter: it then does not bound the later terms."""


class Proof(StrEnum):
    """The argument by which a bound holds."""

    LIVE_TOGETHER = "live_together"
    """The named parts are live in one section and must lie side by side."""
    CONFLICT_CLIQUE = "conflict_clique"
    """The named parts conflict pairwise and must lie side by side."""
    CONFLICT_WEIGHTS = "conflict_weights"
    """Parts of these sets that do not conflict weigh no more than 1 together, so that each byte of the pool holds no more."""
    SINGLE_BLOCK = "single_block"
    """One block cannot end lower (fixed, aligned, or kept off by reserved ranges), or fits nowhere."""
    POOL_SHARING = "pool_sharing"
    """However the named parts are distributed over their pools, a weighted sum of live bytes remains."""
    PRICED_ROOM = "priced_room"
    """However all parts are distributed over their pools, with these prices on room the first term costs at least this."""
    MUST_SHARE = "must_share"
    """Of each of these sets only a limited number of parts fit side by side: others share addresses and pay for it."""
    MUST_MOVE = "must_move"
    """Of each of these sets all parts but one have moved; a set of one is a part that cannot stay."""
    TOO_FEW_POOLS = "too_few_pools"
    """The named parts must all be in different pools and have fewer pools than parts; the value is the number of parts."""
    SEARCH = "search"
    """A solver exhausted every placement below the bound."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why a peak (or, without a pool, the objective's first term) cannot be lower than value.

    A search without a pool and with value 0 found no placement.
    """

    proof: Proof
    value: int
    pool: int | None = None
    section: int | None = None
    parts: tuple[int, ...] = ()
    weights: tuple[tuple[int, int, int, int], ...] = ()
    """For pool sharing: (pool, section, numerator, denominator) of each dual weight."""
    sets: tuple[tuple[tuple[int, ...], int, int], ...] = ()
    """For what must be shared or moved: (parts, numerator, denominator), each set with its amount. For weights of conflicts: with the weight of each of its parts."""
    term: Term | None = None
    """The term that is bounded, if it is neither a pool's peak nor the objective's first term."""
    solver: str | None = None
    crowds: tuple[tuple[int, int, tuple[int, ...], tuple[int, ...], int, int], ...] = ()
    """For priced room: (pool, section, parts, the votes of each, numerator, denominator), each a price on a vote of these parts in that pool."""
    held: tuple[tuple[Term, int, int, int], ...] = ()
    """For a later term: (term, most, numerator, denominator), the price of an earlier term, which is at most so much; a search has no prices (0 of 1)."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run on one instance."""

    stop: StopReason
    placement: Placement | None = None
    value: Value | None = None
    bound: Value = ()
    """Proven: no placement has a lexicographically smaller value."""
    pool_bounds: tuple[int, ...] = ()
    """Proven: the peak of each pool is at least this."""
    certificates: tuple[Certificate, ...] = ()
    infeasible: bool = False
    """Proven: no placement exists within the capacities."""
    solver: str | None = None
    """The solver that found the placement (or proved that there is none)."""
    work: int = 0
    reproducible: bool = True
    took_part: tuple[str, ...] = ()
    """Every solver that took part, whether it found anything or not."""
    notes: tuple[str, ...] = ()
    """Notes for the user: a solver that failed, a bound that had to be discarded."""
    stuck: int | None = None
    """A part for which a heuristic found no place and gave up. That proves nothing."""
    floors: Value = ()
    """Proven for each term: it is never below this where the earlier ones are no higher than here. Empty if nothing is proven."""

    @property
    def is_optimal(self) -> bool:
        return self.value is not None and self.bound == self.value


def line_of_log(
    name: str, blocks: int, work: int, value: Value | None, bound: Value, stop: StopReason, *, infeasible: bool = False
) -> str:
    """What a solver did and found, for users who request it."""
    found = f"value {_numbers(value)}" if value is not None else "nothing fits" if infeasible else "nothing found"
    proven = f"bound {_numbers(bound)}" if bound else "no bound"
    return f"{name}: {blocks} blocks, {work} units of work: {found}, {proven} ({stop})"


def _numbers(value: Value) -> str:
    return ", ".join(map(str, value))
