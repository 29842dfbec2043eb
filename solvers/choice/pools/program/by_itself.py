"""What chooses its pool by itself: searches that move blocks one at a time leave the others, which rules tie to or keep apart from some, where they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....bounds.prices.market import Floats
from ....model.instance import Bools, Instance
from .writing import class_numbers


def ruled(instance: Instance) -> Bools:
    """The blocks that share a pool with others, or must be in another pool than some."""
    number = class_numbers(instance)
    is_ruled = np.bincount(number) > 1
    is_ruled[number[instance.apart].reshape(-1)] = True
    found: Bools = is_ruled[number]
    return found


def by_itself(instance: Instance, costs: Floats) -> Instance | None:
    """The instance where blocks under such rules are in the pools that cost their classes least; None if some are then left without one.

    Those that lose most elsewhere choose first. Every placement of it is one of the instance.
    """
    is_ruled = ruled(instance)
    if not is_ruled.any():
        return instance
    number, costs = class_numbers(instance), costs.copy()
    others: dict[int, list[int]] = {}
    for one, other in number[instance.apart].tolist():
        others.setdefault(one, []).append(other)
        others.setdefault(other, []).append(one)
    least, next_least = np.partition(costs, 1, axis=1)[:, :2].T
    loses = np.full(len(costs), np.inf)
    np.subtract(next_least, least, out=loses, where=np.isfinite(next_least))
    chosen = costs.argmin(axis=1)
    for group in np.argsort(-loses, kind="stable").tolist():
        if group not in others:
            continue
        pool = int(costs[group].argmin())
        if costs[group, pool] == np.inf:
            return None
        chosen[group] = pool
        costs[others[group], pool] = np.inf
    stays = np.arange(len(instance.pools)) == chosen[number][:, None]
    allowed = instance.allowed & (stays | ~is_ruled[:, None])
    return replace(instance, allowed=allowed, pool_class=np.arange(instance.blocks), apart=instance.apart[:0])
