"""The exact search behind the Solver protocol: one pool, proofs by exhaustion; the search itself is a kernel, native or its reference."""

from __future__ import annotations

from typing import ClassVar, Protocol, cast

import numpy as np

from ..kernels import Kind, active
from ..kernels.columns import Columns, columns
from ..model.errors import StopReason, Unavailable, Unsupported
from ..model.instance import Instance, Ints, Placement, Term
from ..model.linear_terms import line_of_peak
from ..model.objective import evaluate, peaks
from ..model.outcome import Certificate, Outcome, Proof, Value
from ..model.solver import Control, Feature, Goal, Solver, Task

MAX_PAIRS = 20_000_000
"""Most conflicting pairs that are listed where blocks are of several rectangles or pairs are given; plain blocks need no list of pairs, and
may be members of three times as many cliques."""

MAX_PAIRS_REFERENCE = 500_000
"""The same where the search runs in Python, which takes more memory for each and would not get far with them."""

MAX_CONFLICTS = 20_000
"""Explicit conflicts form cliques that no lifetime shows. Finding them among more than this many takes longer than other solvers take."""


MAX_RESERVED = 500
"""Every reserved range is in every block's way; with very many, building the model takes longer than other solvers take."""


class Report(Protocol):
    """What the kernel calls every few milliseconds, and whenever it knows better; true stops it."""

    def __call__(self, offsets: Ints | None, bound: int) -> bool: ...


class SearchKernel(Protocol):
    """The part of the kernels that this solver needs."""

    def search(
        self,
        sections: int,
        columns: Columns,
        bound: int,
        incumbent: int | None,
        fit: bool,
        seed: int,
        threads: int,
        work: int | None,
        max_pairs: int,
        report: Report,
    ) -> tuple[str, Ints | None, int, int, int]: ...

    TooLarge: type[Exception]


class Search(Solver):
    """Decides, height by height, whether all blocks fit below it; what it exhausts without success raises the bound."""

    name: ClassVar[str] = "search"
    features: ClassVar[frozenset[Feature]] = frozenset(
        {
            Feature.FIXED,
            Feature.RESERVED,
            Feature.CAPACITY,
            Feature.MULTI_RECT,
            Feature.CONFLICTS,
            Feature.EXCLUSIONS,
        }
    )

    def unavailable(self) -> str | None:
        if not hasattr(active().kernels, "search"):
            return "the native kernels are older than the rest of memplan (no search)"
        return None

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        missing = self.unavailable()
        if missing is not None:
            raise Unavailable(self.name, missing)
        _refuse_what_is_not_one_peak(instance)
        if len(instance.apart) or not instance.allowed.all():
            return Outcome(StopReason.PROVED, infeasible=True, solver=self.name)
        if task.start is not None and task.goal is Goal.FIT:
            return self._outcome(instance, task, StopReason.GOAL_MET, task.start, _known_bound(instance, task))
        return self._run(instance, task, control)

    def _run(self, instance: Instance, task: Task, control: Control) -> Outcome:
        known = best = _known_bound(instance, task)
        # A height that is good enough is asked for first; only what is refuted there, or above, is proven.
        first = max(known, _peak_of(instance, task.target))

        def report(offsets: Ints | None, bound: int) -> bool:
            nonlocal best
            if offsets is not None:
                control.incumbent(_placement(offsets))
            if bound > max(best, first):
                best = bound
                control.bound(_value(instance, bound))
            return control.stopped() is not None

        kernel = cast(SearchKernel, active().kernels)
        start_peak = None if task.start is None else peaks(instance, task.start)[0]
        try:
            end, offsets, bound, _, work = kernel.search(
                sections=instance.sections,
                columns=columns(instance),
                bound=first,
                incumbent=start_peak,
                fit=task.goal is Goal.FIT,
                seed=task.seed % (1 << 64),
                threads=max(1, task.limits.workers),
                work=task.limits.work,
                max_pairs=MAX_PAIRS if active().kind is Kind.NATIVE else MAX_PAIRS_REFERENCE,
                report=report,
            )
        except kernel.TooLarge as error:
            raise Unsupported(self.name, str(error)) from None
        if end == "impossible":
            return Outcome(StopReason.PROVED, infeasible=True, solver=self.name, work=work)
        placement = task.start if offsets is None else _placement(offsets)
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
            bound=_value(instance, bound),
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
    if Term.REUSE_COST in instance.terms and len(instance.penalties):
        raise Unsupported(Search.name, "it knows no reuse penalties")
    if len(instance.pools[0].reserved) > MAX_RESERVED:
        raise Unsupported(Search.name, f"there are more than {MAX_RESERVED} reserved ranges")
    if len(instance.conflicts) > MAX_CONFLICTS:
        raise Unsupported(Search.name, f"there are more than {MAX_CONFLICTS} explicit conflicts")


def _known_bound(instance: Instance, task: Task) -> int:
    """The best proven lower bound on the peak that the task brings."""
    return max(task.pool_bounds[0] if task.pool_bounds else 0, _peak_of(instance, task.bound))


def _peak_of(instance: Instance, worth: Value) -> int:
    """The least peak that is worth at least this."""
    peak = 0
    for term, value in zip(instance.terms, worth, strict=False):
        slope, constant = line_of_peak(instance, term)
        if slope > 0:
            peak = max(peak, -(-(value - constant) // slope))
    return peak


def _value(instance: Instance, peak: int) -> Value:
    """What the objective's terms are worth at least with this peak. In one pool the cost of access is the same for all placements."""
    return tuple(
        slope * peak + constant for slope, constant in (line_of_peak(instance, term) for term in instance.terms)
    )


def _placement(offsets: Ints) -> Placement:
    return Placement(np.zeros(len(offsets), dtype=np.int64), offsets)
