"""The answer for shared storage: which buffers use an object in turn, the total size of the objects, and what is proven."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from solvers.model.errors import StopReason

from .plan import PlanStatus, Run, Shortage
from .problem import BufferId


@dataclass(frozen=True, slots=True)
class Kind:
    """What kind of storage: buffers of different kinds never share an object."""

    pool: str
    device: str | None = None
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class StorageObject:
    """One piece of storage that the runtime allocates."""

    id: int
    size: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Assignment:
    """One buffer's storage."""

    id: BufferId
    object: int


@dataclass(frozen=True, slots=True)
class PoolTotal:
    """One pool's part of the sharing."""

    name: str
    size: int | None
    total: int | None
    """The sum of its objects' sizes; None without assignments."""
    bound: int
    """Proven: no sharing has a smaller total in this pool."""


class SharingProof(StrEnum):
    """The argument by which a bound holds."""

    RANKED = "ranked"
    """The buffers of a set all use different objects; so the k-th largest object is at least as large as the k-th largest of any set."""
    SEARCH = "search"
    """A solver exhausted every sharing below the bound."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Buffers that need different objects: they are all needed at one time or, without a time, conflict pairwise."""

    time: int | None
    buffers: tuple[BufferId, ...]


@dataclass(frozen=True, slots=True)
class SharingCertificate:
    """Why the objects of one kind add up to at least `value`."""

    proof: SharingProof
    value: int
    kind: Kind
    sets: tuple[Witness, ...] = ()
    solver: str | None = None


@dataclass(frozen=True, slots=True)
class Sharing:
    """The answer to a Problem, as storage objects."""

    status: PlanStatus
    stop: StopReason
    total: int | None
    """In bytes: the sum of all objects' sizes."""
    bound: int
    """Proven: no sharing has a smaller total."""
    gap: float | None
    pools: tuple[PoolTotal, ...]
    objects: tuple[StorageObject, ...]
    """Numbered in the order of first use by the problem's buffers; empty without a sharing."""
    assignments: tuple[Assignment, ...]
    """In the order of the problem's buffers."""
    solver: str | None
    seed: int
    reproducible: bool
    versions: dict[str, str]
    problem_digest: str
    certificates: tuple[SharingCertificate, ...] = ()
    shortage: Shortage | None = None
    warnings: tuple[str, ...] = ()
    run: Run = field(default_factory=lambda: Run(0.0))
