"""The kinds of findings about a sharing."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...verifying.findings import AnswerFinding


class SharingFindingKind(StrEnum):
    """Stable names of everything that verification can object to."""

    MISSING_BUFFER = "missing_buffer"
    UNKNOWN_BUFFER = "unknown_buffer"
    DUPLICATE_ASSIGNMENT = "duplicate_assignment"
    WRONG_ORDER = "wrong_order"
    UNKNOWN_OBJECT = "unknown_object"
    DUPLICATE_OBJECT = "duplicate_object"
    UNUSED_OBJECT = "unused_object"
    """No buffer uses the object, so it is no part of the answer, whatever its size."""
    OBJECT_TOO_SMALL = "object_too_small"
    WRONG_POOL = "wrong_pool"
    WRONG_DEVICE = "wrong_device"
    WRONG_DTYPE = "wrong_dtype"
    CLASH = "clash"
    """Two users of one object are needed at the same time, or must not share at all."""
    COLOCATION_BROKEN = "colocation_broken"
    OVER_CAPACITY = "over_capacity"
    WRONG_STATUS = "wrong_status"
    WRONG_POOL_TOTAL = "wrong_pool_total"
    """The sharing's list of pools, or of their sizes, differs from the problem's."""
    WRONG_TOTAL = "wrong_total"
    WRONG_GAP = "wrong_gap"
    CLAIMED_OPTIMAL_ABOVE_BOUND = "claimed_optimal_above_bound"
    BOUND_ABOVE_TOTAL = "bound_above_total"
    UNPROVEN_BOUND = "unproven_bound"
    """A bound exceeds what the certificates prove."""
    UNPROVEN_INFEASIBILITY = "unproven_infeasibility"
    WRONG_SHORTAGE = "wrong_shortage"
    WRONG_SEED = "wrong_seed"
    WRONG_CERTIFICATE = "wrong_certificate"
    WRONG_DIGEST = "wrong_digest"


CLAIMS: frozenset[StrEnum] = frozenset(
    {
        SharingFindingKind.WRONG_CERTIFICATE,
        SharingFindingKind.UNPROVEN_BOUND,
        SharingFindingKind.BOUND_ABOVE_TOTAL,
        SharingFindingKind.CLAIMED_OPTIMAL_ABOVE_BOUND,
        SharingFindingKind.WRONG_STATUS,
        SharingFindingKind.WRONG_GAP,
    }
)
"""Findings about what a sharing claims to be proven. Its assignments may still be right."""


@dataclass(frozen=True, slots=True)
class SharingFinding(AnswerFinding):
    """One fault of a sharing, and the objects concerned."""

    kind: SharingFindingKind
    objects: tuple[int, ...] = ()
