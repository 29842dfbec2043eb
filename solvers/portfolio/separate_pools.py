"""The common case: no block has a choice of pools, and only peaks count. Each pool is solved on its own, each component of it too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..geometry.presolve import by_pool
from ..model.errors import SolverError, SolverFailed, StopReason, Unavailable, Unsupported
from ..model.instance import Instance, Ints, Placement, Term
from ..model.linear_terms import LINEAR, choice_cost, peak_price
from ..model.objective import evaluate, value_of_peaks
from ..model.outcome import Outcome, Value
from ..model.registry import Kind, is_of
from ..model.solver import Control, Goal, Task
from .board import Board
from .execute import execute, failed
from .rounds import FIRST_ROUND_WORK, SEED_STEP, USUAL, round_work, team
from .single_pool import Component, Strip

WIDTH_PER_WORK = 18
"""Sections lived in for each unit that a part of the work must have for the search's parts to pay for a first dive."""


def solve_strips(instance: Instance, task: Task, control: Control, engines: tuple[str, ...], by_name: bool) -> Outcome:
    """Greedy on every pool, then the engines in turn on the components that greedy left open, in rounds of growing work.

    An engine that the user asked for by name must take the instance; others may refuse it, which is then noted.
    """
    return _Strips(instance, task, control, engines, by_name).run()


@dataclass(slots=True)
class _Turn:
    """One component's part of a round: what its engines said, in their order."""

    strip: Strip
    component: Component
    team: tuple[tuple[str, int], ...]
    answers: list[tuple[str, Outcome]] = field(default_factory=list)
    refusals: list[tuple[str, SolverError]] = field(default_factory=list)


class _Strips:
    """One run."""

    def __init__(
        self, instance: Instance, task: Task, control: Control, engines: tuple[str, ...], by_name: bool
    ) -> None:
        self.instance = instance
        self.task = task
        self.by_name = by_name
        self.engines = list(engines)
        self.board = Board(instance, control)
        self.pool_of = np.argmax(instance.allowed, axis=1)
        # Time stays as it is: how long a block lives in the user's steps is what orders of placing go by.
        self.strips = [Strip(piece) for piece in by_pool(instance, self.pool_of)]
        self.notes: list[str] = []
        self.refusals: list[SolverError] = []
        self.solver: str | None = None
        self.work = 0
        self.rounds = 0
        self.asked: dict[str, None] = {"greedy": None}
        self.broken: StopReason | None = None

    def run(self) -> Outcome:
        self._prove()
        if any(strip.impossible for strip in self.strips):
            return self._outcome(StopReason.PROVED)
        for strip in self.strips:
            self._greedy(strip)
            self._begin_with_start(strip)
        while (stop := self._finished()) is None:
            stop = self._round()
            if stop is not None:
                break
        if self.refusals and self.by_name:
            raise self.refusals[0]
        return self._outcome(stop)

    def _greedy(self, strip: Strip) -> None:
        """A first placement; with a capacity in the way, one that keeps to it wherever it can."""
        any_will_do = self.task.goal is Goal.FIT and strip.capacity is None
        goal = Goal.FIT if any_will_do else Goal.MINIMISE
        task = Task(limits=self.task.limits, goal=goal, seed=self.task.seed, target=(self._enough(strip),))
        outcome = execute("greedy", strip.uncapped(), task, _Quiet(self.board))
        self.work += outcome.work
        if outcome.placement is None:
            strip.split_all()
            return
        strip.accept(outcome.placement.offset)
        if strip.placed.any():
            self.solver = self.solver or "greedy"
            at = strip.placed
            self.board.put(strip.blocks[at], strip.pool, strip.offset[at] * strip.unit)

    def _begin_with_start(self, strip: Strip) -> None:
        """What the caller knew already, wherever it is better than greedy's."""
        if self.task.start is None:
            return
        offset = self.task.start.offset[strip.blocks] // strip.unit  # what was apart stays apart: sizes are whole units
        for component in strip.open:
            piece = component.piece
            found = Placement(np.zeros(len(piece.blocks), dtype=np.int64), offset[piece.blocks])
            if strip.improve(component, found, int((found.offset + piece.instance.block_high).max(initial=0))):
                self.solver = None
                self.board.put(strip.blocks[piece.blocks], strip.pool, found.offset * strip.unit)

    def _enough(self, strip: Strip) -> int:
        """A peak that needs no lowering: the strip's bound, or its capacity where all that counts is to keep within it."""
        if self.task.goal is Goal.FIT and strip.capacity is not None:
            return strip.capacity
        return strip.bound

    def _finished(self) -> StopReason | None:
        for strip in self.strips:
            strip.close()
        if any(strip.impossible for strip in self.strips) or all(strip.done for strip in self.strips):
            return StopReason.PROVED
        if self.board.value is not None and self.board.value == self._bound():
            return StopReason.PROVED  # peaks that are still open are none of this objective's terms
        if self.task.goal is Goal.FIT and self.board.placement is not None:
            return StopReason.GOAL_MET
        stop = self.board.stopped()
        if stop is not None:
            return stop
        if not self.engines:
            return self.broken or StopReason.WORK_LIMIT
        return None

    def _round(self) -> StopReason | None:
        """Every engine on every open component, then take what they found, in an order that does not depend on who was first."""
        from concurrent.futures import ThreadPoolExecutor  # of no use where greedy is enough

        self.rounds += 1
        # Who works on what is settled before anybody begins: what comes of one component must not matter for another of the same round.
        todo = [
            _Turn(strip, component, team(self.engines, component.piece.instance.blocks, self.rounds))
            for strip in self.strips
            for component in strip.open
            if not (self.task.goal is Goal.FIT and component.placement)
        ]
        budget = self._budget(todo)
        if budget == 0:
            return self.broken or StopReason.WORK_LIMIT
        before, engines, value = self.work, list(self.engines), self.board.value
        threads = max(1, self.task.limits.workers // max(1, len(todo)))
        with ThreadPoolExecutor(max_workers=max(1, self.task.limits.workers)) as pool:
            list(pool.map(lambda turn: self._play(turn, budget, threads), todo))
        for turn in todo:
            for name, refusal in turn.refusals:
                self._drop(name, refusal)
            for name, outcome in turn.answers:
                self._take(turn.strip, turn.component, name, outcome)
        self._prove()
        is_stuck = self.work == before and self.engines == engines
        if all(
            is_of(Kind.IMPROVER, name) for name in self.engines
        ):  # what improves ends early where there is nothing left to try
            is_stuck |= self.work - before < budget and self.board.value == value
        if is_stuck and self._finished() is None:
            return self.broken or StopReason.WORK_LIMIT
        return None

    def _budget(self, todo: list[_Turn]) -> int:
        """Each part of the work in this round; 0 when nothing is left."""
        first = max([FIRST_ROUND_WORK // USUAL, *(_dive_work(turn.component) for turn in todo)])
        parts = sum(parts for turn in todo for _, parts in turn.team)
        return round_work(self.task.limits.work, self.work, parts, first=first)

    def _play(self, turn: _Turn, work: int, threads: int) -> None:
        strip, component = turn.strip, turn.component
        bound, placement, peak = component.bound, component.placement, component.peak
        relay = _Relay(self.board, strip, component)
        for name, parts in turn.team:
            task = Task(
                limits=replace(self.task.limits, work=work * parts, workers=threads),
                goal=self.task.goal,
                seed=self.task.seed + self.rounds * SEED_STEP,
                start=placement,
                bound=(bound,),
                target=(self._enough(strip),),
                pool_bounds=(bound,),
                warm=self.task.warm,
                verbose=self.task.verbose,
            )
            try:
                outcome = execute(name, component.piece.instance, task, relay)
            except (Unsupported, Unavailable) as refusal:
                turn.refusals.append((name, refusal))
                continue
            except SolverFailed as error:
                outcome = failed(error)
            turn.answers.append((name, outcome))  # refusals do not count as taking part
            if (
                outcome.placement is not None
                and outcome.value is not None
                and (peak is None or outcome.value[0] < peak)
            ):
                placement, peak = outcome.placement, outcome.value[0]
            bound = max(bound, outcome.bound[0] if outcome.bound else 0)
            if (
                outcome.infeasible
                or (peak is not None and peak <= max(bound, strip.bound))
                or self.board.stopped() is not None
            ):
                break

    def _drop(self, name: str, refusal: SolverError) -> None:
        if name in self.engines:
            self.engines.remove(name)
            self.refusals.append(refusal)
            self.notes.append(str(refusal))

    def _take(self, strip: Strip, component: Component, name: str, outcome: Outcome) -> None:
        self.work += outcome.work
        self.asked[name] = None
        for note in outcome.notes:
            if note not in self.notes:
                self.notes.append(note)
        if outcome.stop in (StopReason.MEMORY_LIMIT, StopReason.SOLVER_FAILED):
            self.broken = outcome.stop
            if name in self.engines:
                self.engines.remove(name)
        found = outcome.placement
        if found is not None and outcome.value is not None and strip.improve(component, found, outcome.value[0]):
            self.solver = name
            self.board.put(strip.blocks[component.piece.blocks], strip.pool, found.offset * strip.unit)
        if outcome.infeasible:
            strip.give_up(name)
        elif outcome.bound:
            strip.refute(component, outcome.bound[0], name)

    def _prove(self) -> None:
        if not any(strip.impossible for strip in self.strips):
            self.board.prove(self._bound())

    def _pool_bounds(self) -> tuple[int, ...]:
        bounds = [0] * len(self.instance.pools)
        for strip in self.strips:
            bounds[strip.pool] = strip.bound * strip.unit
        return tuple(bounds)

    def _bound(self) -> Value:
        """Every term at its least: without a choice of pools, lowest peaks are best for all terms at once."""
        bounds = self._pool_bounds()
        offset = np.array(bounds, dtype=np.int64)[self.pool_of] - self.instance.block_high
        terms = dict(zip(self.instance.terms, evaluate(self.instance, Placement(self.pool_of, offset)), strict=True))
        of_peaks = value_of_peaks(self.instance, bounds)
        for term in terms.keys() & LINEAR:
            cost = choice_cost(self.instance, term)
            terms[term] = peak_price(self.instance, term) * of_peaks
            terms[term] += 0 if cost is None else sum(cost[np.arange(self.instance.blocks), self.pool_of].tolist())
        terms[Term.LARGEST_PEAK] = max(bounds, default=0)
        return tuple(terms[term] for term in self.instance.terms)

    def _outcome(self, stop: StopReason) -> Outcome:
        stuck = [strip for strip in self.strips if strip.impossible]
        placement = self.board.placement
        if stuck:
            placement = None
        return Outcome(
            stop=stop,
            placement=placement,
            value=None if placement is None else evaluate(self.instance, placement),
            bound=self._bound(),
            pool_bounds=self._pool_bounds(),
            certificates=tuple(strip.certificate for strip in (stuck or self.strips)),
            infeasible=bool(stuck),
            solver=self.solver,
            work=self.work,
            asked=tuple(self.asked),
            reproducible=stop.is_repeatable and self.broken is None,
            notes=tuple(self.notes),
        )


def _dive_work(component: Component) -> int:
    """What the search needs at least to place every block of the component once: a share of the sections that they live in."""
    instance = component.piece.instance
    return int((instance.rect_end - instance.rect_start).sum()) // WIDTH_PER_WORK


class _Quiet:
    """Lets a solver see that it must stop, and hears nothing of it."""

    def __init__(self, board: Board) -> None:
        self.log: Callable[[str], None] = board.log
        self.stopped: Callable[[], StopReason | None] = board.stopped

    def incumbent(self, placement: Placement) -> None: ...

    def bound(self, bound: Value) -> None: ...


class _Relay(_Quiet):
    """Passes an engine's incumbents on to the board, so that they are shown, and kept, at once."""

    def __init__(self, board: Board, strip: Strip, component: Component) -> None:
        super().__init__(board)
        self._board, self._strip, self._component, self._peak = board, strip, component, component.peak

    def incumbent(self, placement: Placement) -> None:
        peak = int((placement.offset + self._component.piece.instance.block_high).max(initial=0))
        if self._peak is None or peak < self._peak:
            self._peak = peak
            blocks: Ints = self._strip.blocks[self._component.piece.blocks]
            self._board.put(blocks, self._strip.pool, placement.offset * self._strip.unit)
