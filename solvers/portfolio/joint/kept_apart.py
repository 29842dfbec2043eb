"""The least cost of reuse as a choice of pairs that share: all others keep apart, and what remains is an instance without such costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...geometry.rules import violation
from ...model.conflicts import pair_keys
from ...model.errors import StopReason
from ...model.instance import Bools, Instance, Placement, Term
from ...model.objective import share_addresses
from ...model.outcome import Outcome, Proof, Value
from ...model.solver import Control, Task

MOST_WAYS = 64
"""With more ways to pay the least cost, engines that weigh it do better than trying them all."""
MOST_LOOKS = 500
"""Most sets of pairs looked at for such ways."""


@dataclass(slots=True)
class Way:
    """The pairs that share are chosen: all others keep apart."""

    instance: Instance
    bound: Value = ()
    """Of the terms after the cost of reuse."""
    is_done: bool = False
    """True if it is proven that no placement of this kind is better than the best."""

    def heard(self, outcome: Outcome) -> None:
        """Take what a solver proved of it."""
        self.bound = max(self.bound, outcome.bound)
        self.is_done = outcome.infeasible or outcome.is_optimal


class Ways:
    """All ways to pay what a placement pays, which is the least."""

    def __init__(self, ways: list[Way]) -> None:
        self._ways = ways

    @property
    def is_only(self) -> bool:
        """True if there is only one: then nothing else is left to solve."""
        return len(self._ways) == 1

    def open(self, value: Value) -> list[Way]:
        """Those that may lead to something better than this value."""
        return [way for way in self._ways if not way.is_done and way.bound < value[1:]]

    def solve(
        self, task: Task, control: Control, value: Value, solve: Callable[[Instance, Task, Control], Outcome]
    ) -> Outcome:
        """Look for placements better than the task's start, whose value this is, with the task's work in all; its bound is about the whole objective."""
        assert task.start is not None
        assert task.limits.work is not None
        left, took_part, prover = task.limits.work, dict[str, None](), None
        for number, way in enumerate(some := self.open(value)):
            limits = replace(task.limits, work=max(left, 0) // (len(some) - number))
            start = task.start if violation(way.instance, task.start) is None else None
            outcome = solve(way.instance, replace(task, limits=limits, start=start), control)
            way.heard(outcome)
            left -= outcome.work
            took_part.update(dict.fromkeys(outcome.took_part))
            prover = next((each.solver for each in outcome.certificates if each.proof is Proof.SEARCH), prover)
            if outcome.placement is not None and outcome.value is not None and outcome.value < value[1:]:
                value = (value[0], *outcome.value)
                control.incumbent(outcome.placement)
            if control.stopped():
                break
        return Outcome(
            StopReason.WORK_LIMIT,
            bound=self.bound(value),
            solver=prover,
            work=task.limits.work - left,
            took_part=tuple(took_part),
        )

    def bound(self, value: Value) -> Value:
        """What is proven of the whole objective: each placement that pays the least goes one of these ways."""
        return (value[0], *min((way.bound for way in self.open(value)), default=value[1:]))


def ways_to_share(instance: Instance, placement: Placement) -> Ways | None:
    """All ways to pay what this placement pays, which is the least; None if they are too many, or costs of reuse do not come first."""
    first, *later = instance.terms
    if first is not Term.REUSE_COST or not later or not instance.weighs_reuse or (instance.penalties[:, 2] < 0).any():
        return None
    keys, is_free = pair_keys(instance, instance.penalties[:, :2]), may_be_apart(instance)
    pairs, number = np.unique(keys[is_free], return_inverse=True)
    costs = np.zeros(len(pairs), dtype=np.int64)
    np.add.at(costs, number, instance.penalties[is_free, 2])
    due = is_free & share_addresses(instance, placement, instance.penalties[:, :2])
    paid = int(instance.penalties[due, 2].sum())
    pairs, costs = pairs[costs <= paid], costs[costs <= paid]
    rest = replace(instance, terms=tuple(later))
    ways: list[Way] = []
    for looked, (some, left) in enumerate(_sets(costs.tolist(), paid)):
        if len(ways) == MOST_WAYS or looked == MOST_LOOKS:
            return None
        if left == 0:
            ways.append(Way(parted(rest, np.isin(keys, pairs[some]))))
    return Ways(ways)


def may_share(instance: Instance, placement: Placement | None) -> Bools:
    """The pairs that pay in this placement; all, unless the cost of reuse comes first."""
    if placement is None or instance.terms[0] is not Term.REUSE_COST:
        return np.ones(len(instance.penalties), dtype=np.bool_)
    return share_addresses(instance, placement, instance.penalties[:, :2])


def may_be_apart(instance: Instance) -> Bools:
    """For each cost, true if there is one, and it is not between parts of one block, which lie as they lie."""
    first, second, cost = instance.penalties.T
    may: Bools = (cost > 0) & (instance.part_block[first] != instance.part_block[second])
    return may


def _sets(costs: list[int], most: int, begin: int = 0) -> Iterator[tuple[list[int], int]]:
    """All sets of costs, by number, that add up to no more than this, and what is left of it."""
    yield [], most
    for number in range(begin, len(costs)):
        if costs[number] <= most:
            for others, left in _sets(costs, most - costs[number], number + 1):
                yield [number, *others], left


def parted(instance: Instance, may_share: Bools) -> Instance:
    """The instance without costs of reuse; of the pairs that have one, only those that may share do."""
    pairs = instance.penalties[:, :2]
    apart = pairs[may_be_apart(instance) & ~may_share]
    is_excluded = np.isin(pair_keys(instance, instance.exclusions), pair_keys(instance, apart))
    return replace(
        instance,
        conflicts=np.concatenate([instance.conflicts, apart]),
        exclusions=instance.exclusions[~is_excluded],
        penalties=instance.penalties[:0],
    )
