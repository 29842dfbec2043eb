"""The features that an instance needs beyond one rect per block, one pool and the peak."""

from __future__ import annotations

from collections.abc import Iterable

from .instance import Bools, Instance, Term
from .solver import Feature

TORN = 10
"""Blocks are torn if for each so many of them there is a rectangle more than there are blocks."""


def is_joint(instance: Instance) -> bool:
    """True if the pools depend on each other or the objective counts more than peaks: then it cannot be split into single pools."""
    return instance.has_choice or instance.weighs_reuse or instance.weighs_moves or len(instance.apart) > 0


def is_one_pool(instance: Instance) -> bool:
    """True if only offsets in one pool are to be decided and only the peak is to be minimised."""
    return len(instance.pools) == 1 and not is_joint(instance)


def is_torn(instance: Instance) -> bool:
    """True if many blocks are live several times, or have several parts."""
    return TORN * (len(instance.rect_part) - instance.blocks) >= instance.blocks


def fixed(instance: Instance) -> Bools:
    """(n) true for blocks with a fixed place: fixed by the user, where that is known, or with only one allowed place."""
    if instance.source is not None:
        return instance.source.placed
    only: Bools = (instance.allowed & (instance.lowest == instance.highest)).any(axis=1)
    return only


def needs(instance: Instance, joint: bool) -> frozenset[Feature]:
    """The features that a solver needs for this instance, whole (joint) or pool by pool."""
    several = len(instance.rect_part) != len(instance.part_block) or len(instance.part_block) != instance.blocks
    present = {
        Feature.FIXED: bool(fixed(instance).any()),
        Feature.RESERVED: any(pool.reserved for pool in instance.pools),
        Feature.CAPACITY: any(pool.capacity is not None for pool in instance.pools),
        Feature.MULTI_RECT: several and bool(len(instance.rect_part)),
        Feature.CONFLICTS: bool(len(instance.conflicts)),
        Feature.EXCLUSIONS: bool(len(instance.exclusions)),
        Feature.POOLS: instance.has_choice,
        Feature.TERMS: joint and instance.terms != (Term.SUM_OF_PEAKS,),
        Feature.MOVES: instance.weighs_moves,
    }
    return frozenset(feature for feature, needed in present.items() if needed)


def refusal(missing: Iterable[Feature]) -> str:
    """Why a solver refuses an instance that needs these features."""
    return "it does not take " + ", ".join(sorted(feature.words for feature in missing))
