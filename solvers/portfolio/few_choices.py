"""Problems with so few choices of pools that each can be tried."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np

from ..model.instance import LINEAR_TERMS, Instance, Ints, Term
from ..model.linear_terms import choice_cost

PEAKS_ADD_UP = frozenset(term for term, adds in LINEAR_TERMS.items() if adds.peaks)
"""Terms that improve when any pool is packed lower."""
OF_PEAKS = PEAKS_ADD_UP | {Term.LARGEST_PEAK}
"""Terms that improve when a pool is packed lower, the choice of pools staying as it is."""
MOST_CHOICES, MOST_BLOCKS = 64, 200
"""Up to this many choices of pools, each is packed: that takes milliseconds, while loading a solver's library takes hundreds."""
WORK_OF_A_CHOICE = 100_000


def is_settled_by_choice(instance: Instance) -> bool:
    """Are there few enough choices of pools to try them all, and does the objective weigh nothing but how low each pool is packed?"""
    if instance.blocks > MOST_BLOCKS:
        return False
    choices = math.prod(instance.allowed.sum(axis=1).tolist())
    terms = all(term in PEAKS_ADD_UP or choice_cost(instance, term) is not None for term in instance.terms)
    weighs_more = len(instance.penalties) > 0 or instance.weighs_moves
    return choices <= MOST_CHOICES and terms and not weighs_more


def all_choices(instance: Instance) -> Iterator[Ints]:
    """The pool of each block, in every way that keeps together and apart what must be."""
    first, second = instance.apart[:, 0], instance.apart[:, 1]
    _, leader, of_class = np.unique(instance.pool_class, return_index=True, return_inverse=True)
    together = leader[of_class]
    for pools in product(*(np.flatnonzero(row).tolist() for row in instance.allowed)):
        pool = np.array(pools, dtype=np.int64)
        if (pool[first] != pool[second]).all() and (pool == pool[together]).all():
            yield pool
