"""The exact search as a solver: one pool, proofs by exhaustion. The search itself is a kernel, native or the Python reference."""

from __future__ import annotations

from typing import ClassVar

from ...kernels import TooLarge, active
from ...kernels.columns import columns
from ...model.conflicts import slowness
from ...model.errors import StopReason, Unsupported
from ...model.instance import Instance, Ints, Placement
from ...model.linear_terms import least_peak_of, value_of_peak
from ...model.objective import evaluate, peaks
from ...model.outcome import Certificate, Outcome, Proof
from ...model.solver import ONE_PEAK, Control, Feature, Goal, Solver, Task

MAX_CONFLICTS = 20_000
"""With more explicit conflicts, finding their cliques, which lifetimes do not show, takes longer than other solvers take."""

MAX_RESERVED = 500
"""Every reserved range obstructs every block: with more of them, building the model takes longer than other solvers take."""


class Search(Solver):
    """Decides, height by height, whether all blocks fit below it; exhausting a height without success raises the bound."""

    name: ClassVar[str] = "search"
    features: ClassVar[frozenset[Feature]] = ONE_PEAK

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        _refuse_what_is_not_one_peak(instance)
        if len(instance.apart) or not instance.allowed.all():
            return Outcome(StopReason.PROVED, infeasible=True, solver=self.name)
        if task.start is not None and task.goal is Goal.FIT:
            return self._outcome(instance, task, StopReason.GOAL_MET, task.start, _known_bound(instance, task))
        return self._run(instance, task, control)

    def _run(self, instance: Instance, task: Task, control: Control) -> Outcome:
        known = best = _known_bound(instance, task)
        # A height that is good enough is asked for first; only heights refuted from there on are proven.
        first = max(known, least_peak_of(instance, task.target))

        def report(offsets: Ints | None, bound: int) -> bool:
            nonlocal best
            if offsets is not None:
                control.incumbent(Placement.in_one_pool(offsets))
            if bound > max(best, first):
                best = bound
                control.bound(value_of_peak(instance, bound))
            return control.stopped() is not None

        chosen, slow = active(), slowness(instance)
        start_peak = None if task.start is None else peaks(instance, task.start)[0]
        try:
            end, offsets, bound, _, work = chosen.kernels.search(
                sections=instance.sections,
                columns=columns(instance),
                bound=first,
                incumbent=start_peak,
                fit=task.goal is Goal.FIT,
                seed=task.seed % (1 << 64),
                threads=max(1, task.limits.workers),
                active_threads=task.active_threads,
                work=None if task.limits.work is None else task.limits.work // slow,
                max_pairs=chosen.sizes.search_pairs,
                report=report,
            )
        except TooLarge as error:
            raise Unsupported(self.name, str(error)) from None
        work *= slow
        if end == "impossible":
            return Outcome(StopReason.PROVED, infeasible=True, solver=self.name, work=work)
        placement = task.start if offsets is None else Placement.in_one_pool(offsets)
        stop = control.stopped() or StopReason.CANCELLED if end == "stopped" else _STOPS[end]
        return self._outcome(instance, task, stop, placement, bound if bound > first else known, work)

    def _outcome(
        self, instance: Instance, task: Task, stop: StopReason, placement: Placement | None, bound: int, work: int = 0
    ) -> Outcome:
        raised = bound > _known_bound(instance, task)
        return Outcome(
            stop,
            placement=placement,
            value=None if placement is None else evaluate(instance, placement),
            bound=value_of_peak(instance, bound),
            pool_bounds=(bound,),
            certificates=(Certificate(Proof.SEARCH, bound, pool=0, solver=self.name),) if raised else (),
            solver=self.name,
            work=work,
            reproducible=stop.is_repeatable,
        )


_STOPS = {"proved": StopReason.PROVED, "fits": StopReason.GOAL_MET, "work": StopReason.WORK_LIMIT}


def _refuse_what_is_not_one_peak(instance: Instance) -> None:
    if len(instance.pools) != 1:
        raise Unsupported(Search.name, "it takes one pool at a time")
    if instance.weighs_reuse:
        raise Unsupported(Search.name, "it knows no reuse penalties")
    if instance.weighs_moves:
        raise Unsupported(Search.name, "it does not count what moves")
    if len(instance.pools[0].reserved) > MAX_RESERVED:
        raise Unsupported(Search.name, f"there are more than {MAX_RESERVED} reserved ranges")
    if len(instance.conflicts) > MAX_CONFLICTS:
        raise Unsupported(Search.name, f"there are more than {MAX_CONFLICTS} explicit conflicts")


def _known_bound(instance: Instance, task: Task) -> int:
    """The best proven lower bound on the peak that the task brings."""
    return max(task.pool_bounds[0] if task.pool_bounds else 0, least_peak_of(instance, task.bound))
