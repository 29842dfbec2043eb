"""Problems in which no block has a choice of pools, and only peaks count: below what is reserved higher up, if that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..bounds.ceilings import below_ranges, limited
from ..model.errors import StopReason
from ..model.instance import Instance
from ..model.outcome import Outcome
from ..model.solver import Control, Task
from .separate_pools import SeparatePools

SHARE_OF_A_CEILING, WORK_OF_A_CEILING = 2, 1_000_000
"""The part of the work after which placements below a reserved range are given up if none is found; and the work if there is no limit."""


def solve_separate_pools(
    instance: Instance, task: Task, control: Control, engines: tuple[str, ...], by_name: bool
) -> Outcome:
    """Run greedy on every pool, then the engines on the components that greedy leaves open, in rounds of growing work.

    Where ranges are reserved higher up than all may end, placements below them come first: these are better than any other. With one pool, what is
    proven impossible there tells how high the others end at least.

    An engine that the user asked for by name must take the instance; others may refuse it, which is then noted.
    """
    before = list[Outcome]()
    least, proof = 0, None
    while (low := below_ranges(instance, least, control.stopped)) is not None:
        limit = _left(task, before)
        run = SeparatePools(low.instance, _with_work(task, limit), control, engines, by_name, instance)
        outcome = run.run(WORK_OF_A_CEILING if limit is None else limit // SHARE_OF_A_CEILING)
        before.append(outcome)
        if outcome.placement is not None or outcome.stop not in (StopReason.PROVED, StopReason.WORK_LIMIT):
            return _signed(replace(outcome, infeasible=False), before)
        if not outcome.infeasible or len(instance.pools) > 1:
            break
        least, proof = low.others, outcome.certificates[0]
    end = limited(instance, control.stopped)
    run = SeparatePools(end, _with_work(task, _left(task, before)), control, engines, by_name, instance)
    if proof is not None:
        run.pools[0].begin_above(least, proof)
    outcome = run.run()
    return _signed(outcome, [*before, outcome])


def _left(task: Task, before: Sequence[Outcome]) -> int | None:
    """The work that these runs leave."""
    limit = task.limits.work
    return None if limit is None else max(limit - sum(outcome.work for outcome in before), 0)


def _with_work(task: Task, work: int | None) -> Task:
    return replace(task, limits=replace(task.limits, work=work))


def _signed(outcome: Outcome, runs: Sequence[Outcome]) -> Outcome:
    """The outcome of these runs together."""
    if len(runs) < 2:
        return outcome
    return replace(
        outcome,
        work=sum(run.work for run in runs),
        took_part=tuple(dict.fromkeys(name for run in runs for name in run.took_part)),
        notes=tuple(dict.fromkeys(note for run in runs for note in run.notes)),
        reproducible=all(run.reproducible for run in runs),
    )
