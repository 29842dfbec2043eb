"""Solves an instance whose pools have reserved ranges room by room: each way is an instance without such ranges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TypeAlias

from ...bounds.first_bounds import first_bounds, least_beside_free
from ...geometry.rooms import Way, ways_of
from ...model.errors import StopReason
from ...model.instance import Instance, Placement
from ...model.linear_terms import choice_cost, peak_price
from ...model.objective import evaluate
from ...model.outcome import Certificate, Outcome, Proof, Value
from ...model.solver import Control, Goal, Limits, Task
from ..execute import ask

Solve: TypeAlias = Callable[[Instance, Task, Control], Outcome]

LEADER_OF_ROOMS = "pools_first"
"""Whose word it is that nothing better is in the rooms of pools."""
OF_A_LOOK = 16
"""Where several ways are open, each is looked at with such a part of the work first: that shows most of those that are no better."""
OF_A_WAY = 3, 4
"""The part of the work that is left which a way gets while others are open, too."""
BY_PRICES, OF_PRICES = "room_prices", 32
"""Who bounds ways before they are looked at, each with such a part of the work."""
AS_THEY_ARE = "pools_first"
"""Who looks at pools as they are before that, with as much."""
HARDLY = 100
"""Bounds that are no more than such a part above another do not say which way is better."""
OF_THE_LAST = 20
"""With less than such a part of the work, or this much in all, no way is begun: others do more with it."""
LEAST_WORK = 20_000
WORK_OF_FIRST_BOUNDS = 10
"""For each block of a way."""


class Passed:
    """The Control of one way's run: placements are passed on as they are in the pools, bounds are not."""

    def __init__(self, way: Way, control: Control) -> None:
        self._way, self._control = way, control
        self.log, self.stopped = control.log, control.stopped

    def incumbent(self, placement: Placement) -> None:
        self._control.incumbent(self._way.lifted(placement))

    def bound(self, bound: Value) -> None: ...


@dataclass(slots=True, eq=False)
class KnownWay:
    """What is known of a way."""

    way: Way
    bound: Value
    is_impossible: bool = False
    best: Value | None = None
    """The best that is known there."""
    floors: list[tuple[Value, Value]] = field(default_factory=list)
    """What is proven of each term where the earlier ones are no higher than in the second value."""

    def floor(self, index: int, held: Value) -> int | None:
        """What is proven of a later term where the earlier ones are no higher than this; None: here they are higher."""
        if self.is_impossible or self.bound[:index] > held:
            return None
        found = [floor[index] for floor, value in self.floors if all(a <= b for a, b in zip(held, value, strict=False))]
        if self.bound[:index] == held:
            found += self.bound[index : index + 1]
        return max(found, default=0)


def solve_in_rooms(instance: Instance, task: Task, control: Control, solve: Solve) -> Outcome | None:
    """The best placement and bound of all ways together, with the task's work; None if there is nothing to choose, or too little work."""
    ways = ways_of(instance)
    look = WORK_OF_FIRST_BOUNDS * instance.blocks * len(ways)
    if not ways or (task.limits.work or 0) < look + LEAST_WORK:
        return None
    return InRooms(instance, task, control, solve, ways).run(look)


class InRooms:
    """One run."""

    def __init__(self, instance: Instance, task: Task, control: Control, solve: Solve, ways: list[Way]) -> None:
        self._instance, self._task, self._control, self._solve = instance, task, control, solve
        self._best = Outcome(
            StopReason.WORK_LIMIT, task.start, None if task.start is None else evaluate(instance, task.start)
        )
        self._all = task.limits.work or 0
        self._took_part = dict[str, None]()
        self._notes = dict[str, None]()
        self._priced = list[Certificate]()
        """What prices prove of the pools as they are."""
        self._ways = [self._known(way) for way in ways]
        self._free = sum(1 for _ in takewhile(lambda term: not peak_price(instance, term), ways[0].instance.terms))
        """How many terms come before the first that counts peaks."""

    def run(self, work: int) -> Outcome:
        self._work = work
        self._begin_as_they_are()
        self._bound_all()
        if self._is_better_as_they_are():
            self._try_as_they_are((self._all - self._work) * OF_A_WAY[0] // OF_A_WAY[1])
        if len(self._open()) > 1:
            self._try_all(self._all // OF_A_LOOK)
        self._try_all(self._all)
        return self._outcome()

    def _try_all(self, most: int) -> None:
        """Try open ways once each, those of the least bound first, with no more work than this for each."""
        waiting = self._open()
        while waiting and self._best.stop is StopReason.WORK_LIMIT:
            left = self._all - self._work
            if left < max(LEAST_WORK, self._all // OF_THE_LAST):
                return
            one = self._likeliest(waiting)
            self._try(one, min(most, left if len(waiting) == 1 else left * OF_A_WAY[0] // OF_A_WAY[1]))
            self._spread()
            waiting = [each for each in waiting if each is not one and not self._is_closed(each)]

    def _likeliest(self, waiting: list[KnownWay]) -> KnownWay:
        """That of the least bound; of those hardly above it that in which the best was found."""
        least = min(each.bound for each in waiting)
        near = [each for each in waiting if (each.bound[0] - least[0]) * HARDLY <= least[0]]
        found = [each for each in near if each.best is not None]
        return min(found or near, key=lambda each: (each.best or (), each.bound, -len(each.way.rooms)))

    def _begin_as_they_are(self) -> None:
        """Where peaks alone come first, all in one pool is often the least of them: that needs no rooms."""
        if self._free or self._counts_choice() or not self._open():
            return
        self._try_as_they_are(self._all // OF_PRICES)

    def _try_as_they_are(self, work: int) -> None:
        """Solve the pools as they are with this work: what is proven of them holds for all ways."""
        bound = min(each.bound for each in self._open())
        task = replace(self._task, limits=self._limits(work), start=self._best.placement, bound=bound)
        outcome = ask(AS_THEY_ARE, self._instance, task, self._control)
        if isinstance(outcome, Outcome):
            self._take_of_all(outcome)
            self._keep(outcome.placement, outcome.value, outcome, self._best.stop)

    def _take_of_all(self, outcome: Outcome) -> None:
        """Take what is proven of the pools as they are, for all ways, and its account."""
        self._count(outcome)
        self._priced += [proof for proof in outcome.certificates if proof.proof is Proof.PRICED_ROOM]
        for each in self._ways:
            each.bound = max(each.bound, outcome.bound)

    def _is_better_as_they_are(self) -> bool:
        """Do prices prove more of the pools as they are than of a way? In ways, room below the highest rooms costs nothing; as they are, it does in part."""
        if not self._counts_choice() or len(self._open()) < 2:
            return False
        least = min(each.bound for each in self._open())
        outcome = ask(BY_PRICES, self._instance, self._task_of(self._all // OF_PRICES), self._control)
        if not isinstance(outcome, Outcome) or not outcome.bound:
            return False
        self._take_of_all(outcome)
        return (outcome.bound[0] - least[0]) * HARDLY > least[0]

    def _counts_choice(self) -> bool:
        """Does the first term count more than peaks?"""
        return choice_cost(self._instance, self._instance.terms[0]) is not None

    def _bound_all(self) -> None:
        """Bound all open ways without solving them, if there are several."""
        found, task = self._open(), self._task_of(self._all // OF_PRICES)
        for each in found if len(found) > 1 else ():
            outcome = ask(BY_PRICES, each.way.instance, task, Passed(each.way, self._control))
            if isinstance(outcome, Outcome):
                self._take(each, outcome)

    def _task_of(self, work: int) -> Task:
        return replace(self._task, limits=self._limits(work), start=None, bound=(), target=(), pool_bounds=())

    def _limits(self, work: int) -> Limits:
        return replace(self._task.limits, work=work)

    def _count(self, outcome: Outcome) -> None:
        self._work += outcome.work
        self._took_part.update(dict.fromkeys(outcome.took_part))
        self._notes.update(dict.fromkeys(outcome.notes))

    def _take(self, one: KnownWay, outcome: Outcome) -> None:
        """Take what a run proved of a way, and its account."""
        self._count(outcome)
        one.is_impossible |= outcome.infeasible
        one.bound = max(one.bound, one.way.bound(outcome.bound))
        if outcome.floors and outcome.value is not None:
            one.floors.append((one.way.bound(outcome.floors), one.way.bound(outcome.value)))

    def _spread(self) -> None:
        """With rooms closed, terms that only the choice decides are no lower than with all open."""
        for wide in self._ways:
            if wide.way.is_widest:
                for each in self._ways:
                    each.bound = max(each.bound, wide.bound[: self._free])

    def _known(self, way: Way) -> KnownWay:
        """What the cheap bounds tell of a way."""
        first = first_bounds(way.instance, self._control.stopped)
        bound = max(first.value, (least_beside_free(way.instance, way.instance.terms[0]),))
        return KnownWay(way, way.bound(bound), is_impossible=bool(first.shortage))

    def _open(self) -> list[KnownWay]:
        """Ways that may have something better."""
        if self._task.goal is Goal.FIT and self._best.value is not None:
            return []
        return [each for each in self._ways if not self._is_closed(each)]

    def _is_closed(self, each: KnownWay) -> bool:
        """Is nothing better there?"""
        is_none_better = self._best.value is not None and each.bound >= self._best.value
        return each.is_impossible or is_none_better

    def _try(self, one: KnownWay, work: int) -> None:
        """Solve a way with this work; where peaks alone come first, from the best so far if it lies in the way's rooms."""
        start = None if self._best.placement is None or self._counts_choice() else one.way.inside(self._best.placement)
        task = replace(self._task_of(work), start=start)
        outcome = self._solve(one.way.instance, task, Passed(one.way, self._control))
        self._take(one, outcome)
        placement = None if outcome.placement is None else one.way.lifted(outcome.placement)
        value = None if placement is None else evaluate(self._instance, placement)
        if value is not None and (one.best is None or value < one.best):
            one.best = value
        self._keep(placement, value, outcome, outcome.stop if self._ends_all(outcome) else self._best.stop)

    def _keep(self, placement: Placement | None, value: Value | None, outcome: Outcome, stop: StopReason) -> None:
        """Keep what a run found if it is better, and why all stops."""
        best = replace(self._best, stop=stop, reproducible=self._best.reproducible and outcome.reproducible)
        if value is not None and (best.value is None or value < best.value):
            best = replace(best, placement=placement, value=value, solver=outcome.solver)
        self._best = best

    def _ends_all(self, outcome: Outcome) -> bool:
        """Did the run end for a reason that ends all others?"""
        return outcome.stop not in (StopReason.PROVED, StopReason.GOAL_MET, StopReason.WORK_LIMIT)

    def _outcome(self) -> Outcome:
        bounds = [each.bound for each in self._ways if not each.is_impossible]
        value = self._best.value
        bound = min(bounds, default=()) if value is None else min([value, *bounds])
        is_proven = not bounds or (value is not None and bound == value)
        return replace(
            self._best,
            stop=StopReason.PROVED if is_proven else self._best.stop,
            bound=bound,
            certificates=(*self._priced, *(() if value is None else self._proofs(value))),
            infeasible=not bounds and value is None,
            work=self._work,
            took_part=tuple(self._took_part),
            notes=tuple(self._notes),
        )

    def _proofs(self, value: Value) -> tuple[Certificate, ...]:
        """What is proven of later terms where the earlier ones are no higher than in this value."""
        terms, found = self._ways[0].way.instance.terms, list[Certificate]()
        for index in range(1, len(terms)):
            floors = [floor for each in self._ways if (floor := each.floor(index, value[:index])) is not None]
            held = tuple((term, most, 0, 1) for term, most in zip(terms, value[:index], strict=False))
            least = min(floors, default=0)
            found.append(Certificate(Proof.SEARCH, least, term=terms[index], solver=LEADER_OF_ROOMS, held=held))
        return tuple(proof for proof in found if proof.value)
