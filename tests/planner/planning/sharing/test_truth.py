"""The totals, bounds and claims of every solver of shared objects agree with trying every way to share."""

from __future__ import annotations

from hypothesis import given, note

from planner import CannotSolve, Options, PlanStatus, Problem, Sharing, share, verify_sharing
from solvers.sharing.solver import SHARERS
from tests.planner.planning.sharing.truth import least_total, sharable
from tests.small.strategies import effort

QUICK = tuple(name for name in SHARERS if name != "cpsat")


def judged(problem: Problem, solver: str, truth: int | None) -> Sharing:
    """Return the solver's sharing, checked for false claims; `truth` is the least total, None if nothing fits."""
    note(solver)
    made = share(problem, Options(solver=solver, work_limit=2_000_000, workers=1))
    assert verify_sharing(problem, made) == ()
    assert not [text for text in made.warnings if "withheld" in text]
    if truth is None:
        assert made.status in (PlanStatus.INFEASIBLE, PlanStatus.UNKNOWN)
        return made
    assert made.status is not PlanStatus.INFEASIBLE
    assert made.bound <= truth
    assert made.total is None or made.total >= truth
    assert (made.status is PlanStatus.OPTIMAL) == (made.total == made.bound)
    return made


@effort(20, 5_000)
@given(sharable())
def test_quick_solvers_agree_with_trying_everything(problem: Problem) -> None:
    truth = least_total(problem)
    for solver in QUICK:
        try:
            judged(problem, solver, truth)
        except CannotSolve:
            assert solver == "relay_tokens", "only Relay's tokens know no explicit conflicts"
            assert problem.constraints.conflicts


@effort(15, 5_000)
@given(sharable())
def test_auto_settles_six_buffers(problem: Problem) -> None:
    made = judged(problem, "auto", least_total(problem))
    assert made.status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE)


@effort(9, 5_000)
@given(sharable(plain=True))
def test_auto_settles_plain_buffers(problem: Problem) -> None:
    assert judged(problem, "auto", least_total(problem)).status is PlanStatus.OPTIMAL
