"""The problem in the user's words: pools, buffers, constraints, objective. Immutable, and valid by the time it exists.

Lifetimes are half-open here, whatever the file said; `lifetimes` remembers what that was, so that it can be written back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from solvers.model.instance import ADDRESS_LIMIT, Ints, Term

MAX_ADDRESS = ADDRESS_LIMIT
"""Greatest size, offset, alignment, cost and count, inclusive: everything computed from them fits into 63 bits."""
MAX_TIME = ADDRESS_LIMIT
"""Times lie between -MAX_TIME and MAX_TIME, inclusive."""
MAX_TEXT = 1024
"""Characters of a name, an id, or any other text of a problem's: kinds, devices, types. What a constant holds is as long as its size says."""

BufferId: TypeAlias = int | str
"""Ids compare by type and value: 1 is not "1" (Python agrees, and booleans never get this far)."""

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
    """Every address in the pool is a multiple of this, the base included."""
    base: int | None = None
    """Address of offset 0, where known; alignment then holds for base + offset."""
    reserved: tuple[Interval, ...] = ()
    """Half-open offset ranges that no buffer may touch."""
    cost: int = 1
    """What a byte of this pool's peak costs."""
    rank: int = 0
    """Order of preference, fastest first."""
    speed: Speed | None = None
    """What an access takes; None: not known, and then accesses are weighed by rank."""
    read_only: bool = False
    """For constants, and for nothing else."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A buffer's pool, and perhaps its offset there, decided by the user."""

    pool: str
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Buffer:
    """A piece of memory that is needed at certain times."""

    id: BufferId
    size: int
    alignment: int = 1
    live: tuple[Interval, ...] | None = None
    """Half-open intervals; an empty one conflicts with nothing. None: conflicts come only from the constraints."""
    pools: tuple[str, ...] | None = None
    """Allowed pools in order of preference; None: all, by rank."""
    fixed: Fixed | None = None
    hint: int | None = None
    """An offset that a solver may try first."""
    max_offset: int | None = None
    kind: str | None = None
    """A label; only `constant` means something, where some pool is read-only (see planner.facts.constants)."""
    accesses: int = 0
    """How often the buffer is used, if reads and writes are not known apart; it counts as read."""
    device: str | None = None
    """Where it is; only buffers of one device share a storage object. Offsets know devices as pools."""
    dtype: str | None = None
    """What its elements are; only buffers of one type share a storage object. Of no effect on offsets."""
    reads: int = 0
    """How often all of it is read."""
    writes: int = 0
    """How often all of it is written."""
    data: bytes | None = field(default=None, repr=False)
    """What a constant holds; planning does not look at it."""


@dataclass(frozen=True, slots=True)
class Colocation:
    """`buffer` lies at the address of `base` plus `offset`."""

    buffer: BufferId
    base: BufferId
    offset: int


@dataclass(frozen=True, slots=True)
class ReusePenalty:
    """What it costs if the two buffers share addresses."""

    first: BufferId
    second: BufferId
    cost: int


Pair: TypeAlias = tuple[BufferId, BufferId]


@dataclass(frozen=True, slots=True)
class Constraints:
    """Everything that relates buffers to each other."""

    conflicts: tuple[Pair, ...] = ()
    """Must not share addresses, whatever their lifetimes."""
    exclusions: tuple[Pair, ...] = ()
    """Never coexist, although their lifetimes overlap."""
    colocations: tuple[Colocation, ...] = ()
    same_pool: tuple[tuple[BufferId, ...], ...] = ()
    different_pool: tuple[tuple[BufferId, ...], ...] = ()
    reuse_penalties: tuple[ReusePenalty, ...] = ()
    listed: tuple[Pair, ...] = field(default=(), compare=False)
    """Conflict lists as their source has them, where they are not symmetric: (a, b) if a's list names b, be it a itself.

    No rule of the problem, whose conflicts hold both ways: planners that follow the source to the letter go by it.
    """


@dataclass(frozen=True, slots=True)
class CostTerm:
    """A kind of cost of alternatives: cycles, energy."""

    name: str
    weight: int = 1
    """What one of it counts in the cost that is minimised."""


@dataclass(frozen=True, slots=True)
class MoreLife:
    """Further times at which a buffer of the problem is needed."""

    buffer: BufferId
    live: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to do something: what it costs, and what holds if it is chosen."""

    name: str
    costs: tuple[int, ...] = ()
    """In the order of the cost terms."""
    buffers: tuple[Buffer, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)
    """Between its own buffers and those of the problem."""
    live: tuple[MoreLife, ...] = ()


@dataclass(frozen=True, slots=True)
class VariantGroup:
    """Alternatives of which one is chosen."""

    name: str
    alternatives: tuple[Alternative, ...]


Pick: TypeAlias = tuple[str, str]
"""A group and one of its alternatives, by name."""


@dataclass(frozen=True, slots=True)
class Variants:
    """Groups of alternatives to choose from, and which choices are allowed together."""

    groups: tuple[VariantGroup, ...]
    costs: tuple[CostTerm, ...] = ()
    requires: tuple[tuple[Pick, Pick], ...] = ()
    """If the first is chosen, so is the second."""
    forbids: tuple[tuple[Pick, Pick], ...] = ()
    """Not both are chosen."""


@dataclass(frozen=True, slots=True)
class Was:
    """Where an older plan had a buffer."""

    buffer: BufferId
    pool: str
    offset: int


DEFAULT_TERMS = (Term.SUM_OF_PEAKS,)


class Figures(NamedTuple):
    """Sizes, alignments and lifetimes of all buffers of a problem, in arrays."""

    size: Ints
    alignment: Ints
    pieces: Ints
    """In how many ranges of time each lives; one that is never live has none."""
    start: Ints
    """Of each of these, those of one buffer in order and side by side."""
    end: Ints
    owner: Ints
    """Whose it is."""
    is_plain: bool
    """True if no more is said of the buffers."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A problem that was found sound, whose buffers nobody can change: where another with pools of the same names has the very same buffer, what was
    found of it need not be found out again."""

    buffers: Sequence[Buffer] = ()
    pools: tuple[Pool, ...] = ()
    rows: Mapping[int, int] = field(default_factory=dict)
    """By the identity of each buffer: where it stands."""
    written: tuple[str, ...] = ()
    """What each buffer adds to the digest."""
    figures: Figures | None = None

    def rows_of(self, buffers: Sequence[Buffer]) -> list[int | None]:
        """Where the very same buffers stand here; None: nowhere."""
        return [*map(self.rows.get, map(id, buffers))]


@dataclass(slots=True)
class Facts:
    """What has been found out of a problem that came from bytes: nobody else holds its parts, so it need not be found out again."""

    is_from_bytes: bool = False
    is_sound: bool = False
    digest: str | None = None
    is_spelled_out: bool = False
    """Is all that being a constant means written out?"""
    spelled_out: Problem | None = None
    """The same problem with that written out."""
    neighbour: Neighbour | None = None
    """A problem of which this one may be a variant."""
    rows: Sequence[int | None] = ()
    """Of each buffer: where the neighbour has the very same one."""
    written: tuple[str, ...] = ()
    """What each buffer adds to the digest, where there is a neighbour."""
    figures: Figures | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """Buffers, the memories for them, and what holds between them."""

    buffers: Sequence[Buffer]
    pools: tuple[Pool, ...] = (Pool("default"),)
    constraints: Constraints = field(default_factory=Constraints)
    terms: tuple[Term, ...] = DEFAULT_TERMS
    name: str | None = None
    lifetimes: Lifetimes | None = None
    steps: tuple[tuple[int, str], ...] = ()
    """What happens at some of the times, for people: pictures show it beside the time."""
    peak_price: int = 1
    """What a byte of the cost-weighted sum of peaks counts beside the access cost (in the balanced term), or beside a byte that moved (stability)."""
    was: tuple[Was, ...] = ()
    """Where an older plan had the buffers, for terms that count what moved; of a buffer that is not named nothing counts."""
    variants: Variants | None = None
    """What is still to be chosen; None: nothing."""
    facts: Facts = field(default_factory=Facts, init=False, repr=False, compare=False)


def measures_bytes(problem: Problem) -> bool:
    """True if the value that is minimised first is a number of bytes, not a cost."""
    first = problem.terms[0] if problem.terms else Term.SUM_OF_PEAKS
    if first is Term.SUM_OF_PEAKS:
        return all(pool.cost == 1 for pool in problem.pools)
    return first is Term.LARGEST_PEAK


NO_CONSTRAINTS = Constraints()
_SAID = attrgetter("pools", "fixed", "max_offset", "hint", "data", "device")
_LIVE = attrgetter("live")
_NOTHING = (None,) * 6


def is_simple(problem: Problem) -> bool:
    """True if all that counts is the peak of one pool, and nothing restricts buffers but sizes, lifetimes and alignments."""
    return has_one_peak(problem) and are_plain(problem.buffers)


def has_one_peak(problem: Problem) -> bool:
    """True if all that counts is the peak of one pool, whatever its buffers say."""
    return len(problem.pools) == 1 and has_peaks_alone(problem)


def has_peaks_alone(problem: Problem) -> bool:
    """True if all that counts is the sum of the pools' peaks, and nothing relates buffers to each other, or is in their way in a pool."""
    return is_of_peaks(problem) and problem.constraints == NO_CONSTRAINTS


def is_of_peaks(problem: Problem) -> bool:
    """The same, whatever relates buffers to each other."""
    if problem.terms != DEFAULT_TERMS or problem.was or problem.variants is not None:
        return False
    return not any(pool.reserved or pool.read_only or pool.cost != 1 for pool in problem.pools)


def are_plain(buffers: Sequence[Buffer]) -> bool:
    """True if they say no more than their sizes, lifetimes and alignments."""
    is_plain = [*map(_SAID, buffers)].count(_NOTHING) == len(buffers)
    return is_plain and None not in map(_LIVE, buffers)
