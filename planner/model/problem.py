"""The problem in the user's words: pools, buffers, constraints, objective. Immutable.

Lifetimes are half-open here, whatever the file used; `lifetimes` records the file's convention for writing it back.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from solvers.model.instance import ADDRESS_LIMIT, Ints, Term

MAX_ADDRESS = ADDRESS_LIMIT
"""The greatest size, offset, alignment, cost and count, inclusive: everything computed from them fits into 63 bits."""
MAX_TIME = ADDRESS_LIMIT
"""Times lie between -MAX_TIME and MAX_TIME, inclusive."""
MAX_TEXT = 1024
"""The most characters of a name, an id, or any other text in a problem: kinds, devices, types. A constant's data is limited only by its size."""

BufferId: TypeAlias = int | str
"""Ids compare by type and value: 1 is not "1" (as in Python; booleans are refused before)."""

Interval: TypeAlias = tuple[int, int]


class Lifetimes(StrEnum):
    """What the end of a live interval means in the user's file."""

    HALF_OPEN = "half_open"
    INCLUSIVE = "inclusive"


@dataclass(frozen=True, slots=True)
class Speed:
    """How fast a memory is, in the words of TVM's USMP."""

    clock_frequency_hz: int
    read_bandwidth_bytes_per_cycle: int
    write_bandwidth_bytes_per_cycle: int
    read_latency_cycles: int = 0
    """Cycles before the first byte arrives."""
    write_latency_cycles: int = 0
    target_burst_bytes: int = 1
    """Transfers are rounded up to a multiple of this."""


@dataclass(frozen=True, slots=True)
class Pool:
    """A memory to put buffers in."""

    name: str
    size: int | None = None
    """Bytes; None: unlimited."""
    alignment: int = 1
    """Every address in the pool is a multiple of this, including the base."""
    base: int | None = None
    """The address of offset 0, if known; alignment then applies to base + offset."""
    reserved: Sequence[Interval] = ()
    """Half-open offset ranges that no buffer may touch."""
    cost: int = 1
    """The price of a byte of this pool's peak."""
    rank: int = 0
    """Order of preference, fastest first."""
    speed: Speed | None = None
    """How long an access takes; None: unknown, and accesses are weighed by rank."""
    read_only: bool = False
    """True if the pool holds only constants, and so all of them."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A buffer's pool, and possibly its offset there, fixed by the user."""

    pool: str
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Buffer:
    """A piece of memory that is needed at certain times."""

    id: BufferId
    size: int
    alignment: int = 1
    live: tuple[Interval, ...] | None = None
    """Half-open intervals; an empty one conflicts with nothing. None: only the constraints cause conflicts."""
    pools: tuple[str, ...] | None = None
    """Allowed pools in order of preference; None: all, by rank."""
    fixed: Fixed | None = None
    hint: int | None = None
    """An offset that solvers may try first."""
    max_offset: int | None = None
    kind: str | None = None
    """A label; only `constant` has a meaning, if some pool is read-only (see planner.facts.constants)."""
    accesses: int = 0
    """The number of uses, if reads and writes are not known apart; counted as reads."""
    device: str | None = None
    """Where it is; only buffers of one device share a storage object. For offsets, devices are pools."""
    dtype: str | None = None
    """The type of its elements; only buffers of one type share a storage object. No effect on offsets."""
    reads: int = 0
    """How often the whole buffer is read."""
    writes: int = 0
    """How often the whole buffer is written."""
    data: bytes | None = field(default=None, repr=False)
    """The contents of a constant; planning ignores them."""


@dataclass(frozen=True, slots=True)
class Colocation:
    """`buffer` lies at the address of `base` plus `offset`."""

    buffer: BufferId
    base: BufferId
    offset: int


@dataclass(frozen=True, slots=True)
class ReusePenalty:
    """The cost if the two buffers share addresses."""

    first: BufferId
    second: BufferId
    cost: int


Pair: TypeAlias = tuple[BufferId, BufferId]


@dataclass(frozen=True, slots=True)
class Constraints:
    """Everything that relates buffers to each other."""

    conflicts: Sequence[Pair] = ()
    """Pairs that must not share addresses, whatever their lifetimes."""
    exclusions: Sequence[Pair] = ()
    """Pairs that never exist together, although their lifetimes overlap."""
    colocations: Sequence[Colocation] = ()
    same_pool: tuple[tuple[BufferId, ...], ...] = ()
    different_pool: tuple[tuple[BufferId, ...], ...] = ()
    reuse_penalties: tuple[ReusePenalty, ...] = ()
    listed: Sequence[Pair] = field(default=(), compare=False)
    """The source's conflict lists if they are not symmetric: (a, b) if a's list names b; b may be a itself.

    The problem's own conflicts hold both ways; these serve planners that follow the source to the letter.
    """


@dataclass(frozen=True, slots=True)
class CostTerm:
    """A kind of cost that alternatives have: cycles, energy."""

    name: str
    weight: int = 1
    """The weight of one unit in the cost that is minimised."""


@dataclass(frozen=True, slots=True)
class MoreLife:
    """Additional times at which a buffer of the problem is needed."""

    buffer: BufferId
    live: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to do something: its costs, and what holds if it is chosen."""

    name: str
    costs: tuple[int, ...] = ()
    """In the order of the cost terms."""
    buffers: tuple[Buffer, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)
    """Between its own buffers and those of the problem."""
    live: tuple[MoreLife, ...] = ()


@dataclass(frozen=True, slots=True)
class VariantGroup:
    """Alternatives of which exactly one is chosen."""

    name: str
    alternatives: tuple[Alternative, ...]


Pick: TypeAlias = tuple[str, str]
"""A group and one of its alternatives, by name."""


@dataclass(frozen=True, slots=True)
class Variants:
    """Groups of alternatives, and which choices are allowed together."""

    groups: Sequence[VariantGroup]
    costs: tuple[CostTerm, ...] = ()
    requires: tuple[tuple[Pick, Pick], ...] = ()
    """If the first is chosen, the second must be."""
    forbids: tuple[tuple[Pick, Pick], ...] = ()
    """At most one of the two is chosen."""


@dataclass(frozen=True, slots=True)
class Was:
    """Where a buffer was in an older plan."""

    buffer: BufferId
    pool: str
    offset: int


Column: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[Any]]
"""Something of each buffer, in rows."""

DEFAULT_TERMS = (Term.SUM_OF_PEAKS,)


class Figures(NamedTuple):
    """Sizes, alignments and lifetimes of all buffers of a problem, in arrays."""

    size: Ints
    alignment: Ints
    pieces: Ints
    """The number of time ranges of each buffer; 0 if it is never live."""
    start: Ints
    """The start of each range; a buffer's ranges are in order and side by side."""
    end: Ints
    owner: Ints
    """The buffer of each range."""
    is_plain: bool
    """True if the buffers have nothing besides these figures."""
    is_free: bool
    """True if they are plain, or would be if they had lifetimes."""


class Rows(NamedTuple):
    """Which of a problem's buffers are objects of its neighbour."""

    new: Sequence[int]
    """The buffers that the neighbour does not have."""
    at: Ints
    """For each buffer, its row if the new ones followed those of the neighbour."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A problem known to be sound, which nobody can change. What is known of its buffers holds in others with pools of the same names."""

    buffers: Sequence[Buffer] = ()
    pools: Sequence[Pool] = ()
    written: tuple[str, ...] = ()
    """Each buffer's text in the digest."""
    figures: Figures | None = None
    rules: tuple[Constraints, str] | None = None
    """Its constraints, if nobody can change them, and their text in the digest."""
    columns: Mapping[Hashable, Column] = field(default_factory=dict)
    """Whatever else is known of each buffer: see planner.facts.figures.carried."""
    of_rules: Mapping[str, Any] = field(default_factory=dict)
    """What is known of its constraints by the buffers' numbers: see planner.facts.figures.of_rules."""


KEPT_FACTS = ("neighbour", "rows", "columns", "figures", "has_old_rules", "of_rules", "is_sound_but_for_objective")


@dataclass(slots=True)
class Facts:
    """What is known of a problem that came from bytes. Nobody else holds its parts, so the knowledge stays valid."""

    is_from_bytes: bool = False
    is_sound: bool = False
    is_sound_but_for_objective: bool = False
    """True if there is a neighbour, and everything else was found sound."""
    digest: str | None = None
    is_spelled_out: bool = False
    """True if pools and lifetimes already say all that being a constant implies."""
    spelled_out: Problem | None = None
    """The problem with this written out."""
    has_moments: bool = False
    """True if lifetimes were found for its conflicts, so that times say nothing to the user."""
    neighbour: Neighbour | None = None
    """A problem of which this one may be a variation."""
    rows: Rows | None = None
    """Which buffers are those of the neighbour, if there is one."""
    columns: dict[Hashable, Column] = field(default_factory=dict)
    """Whatever else is known of each buffer, if there is a neighbour."""
    has_old_rules: bool | None = None
    """True if the constraints are those of the neighbour, between buffers of the same names; None: not known yet."""
    of_rules: dict[str, Any] = field(default_factory=dict)
    """What is known of the constraints by the buffers' numbers, if there is a neighbour."""
    written: tuple[str, ...] = ()
    """Each buffer's text in the digest, if there is a neighbour."""
    rules: str = ""
    """The text of the constraints there, if there is a neighbour."""
    figures: Figures | None = None
    places: Any = None
    """Where its buffers may be, if there is a neighbour: see planner.verifying.arguments.height.places_of."""
    costs: list[tuple[int, Sequence[int]]] | None = None
    """What uses of each used buffer cost in each pool, if there is a neighbour."""

    def take_over(self, others: Facts) -> None:
        """Know of the buffers what is known of another problem's, which are the same."""
        for name in KEPT_FACTS:
            setattr(self, name, getattr(others, name))


@dataclass(frozen=True, slots=True)
class Problem:
    """Buffers, the memories for them, and what holds between them."""

    buffers: Sequence[Buffer]
    pools: Sequence[Pool] = (Pool("default"),)
    constraints: Constraints = field(default_factory=Constraints)
    terms: tuple[Term, ...] = DEFAULT_TERMS
    name: str | None = None
    lifetimes: Lifetimes | None = None
    steps: Sequence[tuple[int, str]] = ()
    """What happens at some of the times, for people: pictures show it on the time axis."""
    peak_price: int = 1
    """What a byte of the cost-weighted sum of peaks counts beside access cost (balanced term) or a moved byte (stability)."""
    was: tuple[Was, ...] = ()
    """Where buffers were in an older plan, for terms that count moves; a buffer not named here counts nothing."""
    variants: Variants | None = None
    """What remains to be chosen; None: nothing."""
    facts: Facts = field(default_factory=Facts, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Replace lists by the tuples for which they count, where these are compared."""
        for name in ("terms", "steps", "was"):
            value = getattr(self, name)
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))


def measures_bytes(problem: Problem) -> bool:
    """True if the first minimised value is a number of bytes, not a cost."""
    first = problem.terms[0] if problem.terms else Term.SUM_OF_PEAKS
    if first is Term.SUM_OF_PEAKS:
        return not weighs_peaks(problem)
    return first is Term.LARGEST_PEAK


def weighs_peaks(problem: Problem) -> bool:
    """True if a sum of peaks counts no bytes, since pools have costs."""
    return any(pool.cost != 1 for pool in problem.pools)


def term_in_words(problem: Problem, term: Term) -> str:
    """Return the name of what a term counts; a sum of peaks is none of peaks if pools have costs."""
    return "peaks by cost" if term is Term.SUM_OF_PEAKS and weighs_peaks(problem) else term.value.replace("_", " ")


NO_CONSTRAINTS = Constraints()
_SAID = attrgetter("pools", "fixed", "max_offset", "data", "device")
_LIVE = attrgetter("live")
_NOTHING = (None,) * 5


def is_simple(problem: Problem) -> bool:
    """True if only the peak of one pool counts, and buffers have only sizes, lifetimes and alignments, and perhaps hints."""
    return has_one_peak(problem) and are_plain(problem.buffers)


def has_one_peak(problem: Problem) -> bool:
    """True if only the peak of one pool counts, whatever else buffers have."""
    return len(problem.pools) == 1 and has_peaks_alone(problem)


def has_peaks_alone(problem: Problem) -> bool:
    """True if only the sum of the pools' peaks counts, no buffers are related to each other, and nothing in a pool is in their way."""
    is_free = problem.constraints == NO_CONSTRAINTS and not any(pool.reserved for pool in problem.pools)
    return is_free and is_of_peaks(problem)


def is_of_peaks(problem: Problem) -> bool:
    """True if only the sum of the pools' peaks counts, whatever relates buffers to each other or is in their way."""
    return problem.terms == DEFAULT_TERMS and has_only_peaks(problem)


def has_only_peaks(problem: Problem) -> bool:
    """True if nothing but the sum of peaks and the choice of pools could count, each byte alike, whatever the terms are."""
    if problem.was or problem.variants is not None:
        return False
    return not any(pool.read_only or pool.cost != 1 for pool in problem.pools)


def are_plain(buffers: Sequence[Buffer]) -> bool:
    """True if the buffers have only sizes, lifetimes and alignments, and perhaps hints, which bind nothing."""
    return are_free(buffers) and None not in map(_LIVE, buffers)


def are_free(buffers: Sequence[Buffer]) -> bool:
    """True if the same holds of all but the lifetimes."""
    return [*map(_SAID, buffers)].count(_NOTHING) == len(buffers)
