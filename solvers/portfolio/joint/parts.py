"""Parts of a problem whose terms add up, so that each can be solved on its own: no two have a pool in common, or anything else that counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...geometry.presolve import Piece, restrict
from ...model.conflicts import components, connected
from ...model.errors import StopReason
from ...model.instance import Bools, Instance, Ints, Placement, Term
from ...model.linear_terms import ADDITIVE, LINEAR
from ...model.objective import evaluate
from ...model.outcome import Outcome, Value
from .added_up import after


def parts_of(instance: Instance) -> list[Piece]:
    """The parts, in each the blocks and the pools that they may be in; none if there are not several, or if dividing gains nothing.

    Where a choice of pools meets costs of reuse or moves, a run of each part was tried and gave no better plans than one of all.
    """
    additive = LINEAR if instance.has_choice else ADDITIVE
    weighs_more = instance.weighs_moves if instance.has_choice else len(instance.apart) > 0
    if weighs_more or not additive.issuperset(instance.terms):
        return []
    label = _by_pools(instance)
    if instance.terms == (Term.REUSE_COST,) and not instance.has_choice:
        # With no peak to minimise, even blocks of one pool are independent unless they meet or share a penalty.
        pairs = np.concatenate([instance.conflicts, instance.penalties[:, :2]])
        label = np.stack([label, components(replace(instance, conflicts=pairs))])
        label = np.unique(label, axis=1, return_inverse=True)[1].reshape(-1)
    if instance.has_choice:
        has_choice = np.isin(label, label[instance.allowed.sum(axis=1) > 1])
        if len(np.unique(label[has_choice])) < 2:
            return []
        label = np.where(has_choice, label, -1)  # pools without a choice need no division
    marks = np.unique(label).tolist()
    return [_cut(instance, label == mark) for mark in marks] if len(marks) > 1 else []


def _by_pools(instance: Instance) -> Ints:
    """(n) the same number for blocks that have a pool in common, or are kept together by others that have."""
    of_class = instance.class_number
    common = np.zeros((int(of_class.max()) + 1, len(instance.pools)), dtype=bool)
    np.logical_or.at(common, of_class, instance.allowed)
    first = np.argmax(common, axis=1)
    rows, pools = np.nonzero(common)
    label: Ints = connected(np.arange(len(instance.pools)), np.stack([first[rows], pools], axis=1))[first][of_class]
    return label


def _cut(instance: Instance, is_there: Bools) -> Piece:
    """These blocks with the pools that they may be in."""
    blocks = np.flatnonzero(is_there)
    return restrict(instance, blocks, np.flatnonzero(instance.allowed[blocks].any(axis=0)).tolist())


class Part:
    """One part, and what is known of it."""

    def __init__(self, cut: Piece) -> None:
        self.cut = cut
        self.places = int(np.count_nonzero(cut.instance.allowed))
        self.best: Placement | None = None
        self.value: Value | None = None
        self.outcome = Outcome(StopReason.WORK_LIMIT)
        self.least = 0
        """What is proven of its first term."""
        self.took = 0
        """The work of its last run."""

    def part_of(self, whole: Placement) -> Placement:
        """Its part of a placement of the whole."""
        blocks, pools = self.cut.blocks, self.cut.pools
        return Placement(np.searchsorted(pools, whole.pool[blocks]), whole.offset[blocks])

    def take(self, placement: Placement) -> bool:
        """Keep it if it is better."""
        value = evaluate(self.cut.instance, placement)
        if self.value is not None and self.value <= value:
            return False
        self.best, self.value = placement, value
        return True

    def learn(self, outcome: Outcome) -> None:
        """Take the outcome of one more run, which began with the best placement."""
        self.outcome, self.took = after(self.outcome, outcome), outcome.work
        if outcome.placement is not None:
            self.take(outcome.placement)
