"""What can be wrong with a sharing: kinds of findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from ..problem import BufferId
from ..verifying.findings import LISTED_PER_KIND


class SharingFindingKind(StrEnum):
    """Stable names of everything that verification can object to."""

    MISSING_BUFFER = "missing_buffer"
    UNKNOWN_BUFFER = "unknown_buffer"
    DUPLICATE_ASSIGNMENT = "duplicate_assignment"
    WRONG_ORDER = "wrong_order"
    UNKNOWN_OBJECT = "unknown_object"
    DUPLICATE_OBJECT = "duplicate_object"
    OBJECT_TOO_SMALL = "object_too_small"
    WRONG_POOL = "wrong_pool"
    WRONG_DEVICE = "wrong_device"
    WRONG_DTYPE = "wrong_dtype"
    CLASH = "clash"
    """Two users of one object are needed at the same time, or must not share whatever their lifetimes."""
    COLOCATION_BROKEN = "colocation_broken"
    OVER_CAPACITY = "over_capacity"
    WRONG_STATUS = "wrong_status"
    WRONG_POOL_TOTAL = "wrong_pool_total"
    """The sharing lists other pools, or other sizes of pools, than the problem has."""
    WRONG_TOTAL = "wrong_total"
    WRONG_GAP = "wrong_gap"
    CLAIMED_OPTIMAL_ABOVE_BOUND = "claimed_optimal_above_bound"
    BOUND_ABOVE_TOTAL = "bound_above_total"
    UNPROVEN_BOUND = "unproven_bound"
    """A bound is greater than what the certificates prove of it."""
    UNPROVEN_INFEASIBILITY = "unproven_infeasibility"
    WRONG_SHORTAGE = "wrong_shortage"
    WRONG_SEED = "wrong_seed"
    WRONG_CERTIFICATE = "wrong_certificate"
    WRONG_DIGEST = "wrong_digest"


@dataclass(frozen=True, slots=True)
class SharingFinding:
    """One thing that is wrong with a sharing: its kind, one clear sentence, and the buffers and objects concerned."""

    kind: SharingFindingKind
    message: str
    buffers: tuple[BufferId, ...] = ()
    objects: tuple[int, ...] = ()


def listed(findings: Iterable[SharingFinding]) -> tuple[SharingFinding, ...]:
    """The findings, none of a kind more often than LISTED_PER_KIND times."""
    count: dict[SharingFindingKind, int] = {}
    kept = []
    for finding in findings:
        count[finding.kind] = count.get(finding.kind, 0) + 1
        if count[finding.kind] <= LISTED_PER_KIND:
            kept.append(finding)
    return tuple(kept)
