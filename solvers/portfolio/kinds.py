"""Kinds of components where other engines do better than usual."""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from ..model.conflicts import live_pair_count
from ..model.instance import Instance
from ..model.needs import fixed, is_torn

FEW = 50
"""With fewer blocks, what proves is worth its work whoever conflicts and however blocks are aligned."""
MOST_WOVEN = 40
"""With more blocks CP-SAT seldom proves anything in the first round, and what the search finds with that work is lower."""
MIXED, PADDED = 10, 1_000
"""Alignments are mixed if one of so many blocks has another alignment than most, and all together they are one of so many parts of all heights."""


class Kind(StrEnum):
    """A new kind is a member, a line of `kind_of`, and shares in the rows of solvers/portfolio/roster.py."""

    USUAL = "usual"
    PAIRS = "pairs"
    """Most pairs conflict that no lifetimes say."""
    WOVEN = "woven"
    """Few blocks, of which some are live several times or have several parts, so that no moment shows who is in whose way. With explicit conflicts it is usual."""
    MIXED = "mixed"
    """Many blocks have another alignment than most, and alignments are large enough beside heights to matter."""
    TORN = "torn"
    """Many blocks are live several times or have several parts: what is set down later mostly fits into none of the room that these leave."""
    EXEMPT = "exempt"
    """Some pairs that are live together may share addresses all the same."""
    FIXED = "fixed"
    """Some blocks have one place, so that there is room below and between them that others must fill."""
    SPLIT = "split"
    """Some blocks are live several times or have several parts, but not many: time may be a ring."""


def kind_of(instance: Instance) -> Kind:
    """The kind of a component; where several fit, the first."""
    if instance.blocks < FEW:
        return Kind.WOVEN if _is_woven(instance) else Kind.USUAL
    if len(instance.conflicts) and len(instance.conflicts) > live_pair_count(instance):
        return Kind.PAIRS
    if _has_mixed_alignments(instance):
        return Kind.MIXED
    if len(instance.exclusions):
        return Kind.EXEMPT
    if is_torn(instance):
        return Kind.TORN
    if fixed(instance).any():
        return Kind.FIXED
    return Kind.SPLIT if len(instance.rect_part) > instance.blocks else Kind.USUAL


def _is_woven(instance: Instance) -> bool:
    return instance.blocks < MOST_WOVEN and len(instance.rect_part) > instance.blocks and not len(instance.conflicts)


def _has_mixed_alignments(instance: Instance) -> bool:
    counts = np.unique(instance.modulus, return_counts=True)[1]
    if MIXED * (instance.blocks - int(counts.max(initial=0))) < instance.blocks:
        return False
    moduli: list[int] = instance.modulus[:, 0].tolist()
    heights: list[int] = instance.block_high.tolist()
    return PADDED * sum(moduli) >= sum(heights)
