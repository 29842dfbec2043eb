"""The kinds of findings about answers and plans, and where in memory each was found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from ..model.errors import echo
from ..model.problem import BufferId


class FindingKind(StrEnum):
    """Stable names of everything that verification can object to."""

    MISSING_BUFFER = "missing_buffer"
    UNKNOWN_BUFFER = "unknown_buffer"
    DUPLICATE_PLACEMENT = "duplicate_placement"
    WRONG_ORDER = "wrong_order"
    WRONG_SIZE = "wrong_size"
    UNKNOWN_POOL = "unknown_pool"
    WRONG_POOL = "wrong_pool"
    OUTSIDE_POOL = "outside_pool"
    MISALIGNED = "misaligned"
    IN_RESERVED_RANGE = "in_reserved_range"
    FIXED_MOVED = "fixed_moved"
    ABOVE_MAX_OFFSET = "above_max_offset"
    OVERLAP = "overlap"
    SEPARATION_BROKEN = "separation_broken"
    COLOCATION_BROKEN = "colocation_broken"
    SAME_POOL_BROKEN = "same_pool_broken"
    DIFFERENT_POOL_BROKEN = "different_pool_broken"
    WRONG_STATUS = "wrong_status"
    WRONG_POOL_USE = "wrong_pool_use"
    """The plan's list of pools, or of their sizes, differs from the problem's."""
    WRONG_PEAK = "wrong_peak"
    WRONG_OBJECTIVE = "wrong_objective"
    WRONG_GAP = "wrong_gap"
    CLAIMED_OPTIMAL_ABOVE_BOUND = "claimed_optimal_above_bound"
    BOUND_ABOVE_PEAK = "bound_above_peak"
    UNPROVEN_BOUND = "unproven_bound"
    """A bound exceeds what the plan's certificates prove."""
    UNPROVEN_INFEASIBILITY = "unproven_infeasibility"
    WRONG_SHORTAGE = "wrong_shortage"
    """It names pools or buffers that do not exist, or belongs to a plan that is not infeasible."""
    WRONG_SEED = "wrong_seed"
    WRONG_CERTIFICATE = "wrong_certificate"
    WRONG_DIGEST = "wrong_digest"
    WRONG_CHOICE = "wrong_choice"
    """For a problem with variants: the choice is invalid, breaks a rule, or costs something else than stated."""
    WRONG_PROOF = "wrong_proof"
    """A step of the proof is not allowed, or the proof shows less than the plan claims."""


CLAIMS: frozenset[StrEnum] = frozenset(
    {
        FindingKind.WRONG_CERTIFICATE,
        FindingKind.UNPROVEN_BOUND,
        FindingKind.BOUND_ABOVE_PEAK,
        FindingKind.CLAIMED_OPTIMAL_ABOVE_BOUND,
        FindingKind.WRONG_STATUS,
        FindingKind.WRONG_GAP,
    }
)
"""Findings about what a plan claims to be proven. Its addresses may still be right."""


@dataclass(frozen=True, slots=True)
class AddressRange:
    """Offsets of one pool, half-open."""

    pool: str
    start: int
    end: int

    def __str__(self) -> str:
        return f"[{self.start}, {self.end}) of pool {echo(self.pool)}"


@dataclass(frozen=True, slots=True)
class AnswerFinding:
    """One fault of a plan or a sharing: its kind, one clear sentence, and the buffers concerned."""

    kind: StrEnum
    message: str
    buffers: tuple[BufferId, ...] = ()


@dataclass(frozen=True, slots=True)
class VerifyFinding(AnswerFinding):
    """One fault of a plan, and the addresses concerned."""

    kind: FindingKind
    ranges: tuple[AddressRange, ...] = ()


LISTED_PER_KIND = 100
"""The most findings listed of one kind: a plan with everything at offset 0 has millions of overlaps."""


AnyFinding = TypeVar("AnyFinding", bound=AnswerFinding)


class Findings(Generic[AnyFinding]):
    """Collects findings, with a limit for each kind."""

    def __init__(self) -> None:
        self.listed: list[AnyFinding] = []
        self._count: dict[StrEnum, int] = {}

    def extend(self, findings: Iterable[AnyFinding]) -> None:
        for finding in findings:
            self._count[finding.kind] = self._count.get(finding.kind, 0) + 1
            if not self.is_full(finding.kind):
                self.listed.append(finding)

    def is_full(self, kind: StrEnum) -> bool:
        return self._count.get(kind, 0) > LISTED_PER_KIND


class PlanFindings(Findings[VerifyFinding]):
    """The findings about a plan."""

    def add(
        self,
        kind: FindingKind,
        message: str,
        buffers: tuple[BufferId, ...] = (),
        ranges: tuple[AddressRange, ...] = (),
    ) -> None:
        self.extend([VerifyFinding(kind, message, buffers, ranges)])
