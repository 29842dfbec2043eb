"""CP-SAT alone, without an arrangement or a bound to start from, agrees with trying everything, also in the sandbox."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from planner.model.problem import Buffer, Constraints, Problem
from planner.planning.sharing.lowering import lower_sharing
from solvers.model.errors import StopReason, Unsupported
from solvers.model.instance import Instance
from solvers.model.solver import Limits
from solvers.sharing import cpsat
from solvers.sharing.arrangement import Arrangement, broken_rule, totals
from solvers.sharing.cpsat import CpSatSharing, in_a_process_of_its_own
from solvers.sharing.interference import Interference
from solvers.sharing.solver import SharingOutcome, SharingTask
from tests.planner.planning.sharing.truth import FOUND_BY_SEARCH, PROVED_BY_SEARCH, least_total, sharable
from tests.small.strategies import effort


class Listener:
    """A control that records the arrangements and bounds it gets."""

    def __init__(self) -> None:
        self.totals: list[Arrangement] = []
        self.bounds: list[int] = []

    def incumbent(self, arrangement: Arrangement) -> None:
        self.totals.append(arrangement)

    def bound(self, bound: int) -> None:
        self.bounds.append(bound)

    def log(self, line: str) -> None: ...

    def stopped(self) -> StopReason | None:
        return None


def roomy(problem: Problem) -> Problem:
    """Return the problem with pools of unlimited size."""
    return replace(problem, pools=tuple(replace(pool, size=None) for pool in problem.pools))


def instance_of(problem: Problem) -> Instance:
    return lower_sharing(problem).lowered.instance


def settled(problem: Problem) -> SharingOutcome:
    instance = instance_of(problem)
    listener = Listener()
    outcome = CpSatSharing().share(instance, SharingTask(), listener)
    assert outcome.arrangement is not None
    assert broken_rule(instance, outcome.arrangement) is None
    assert totals(instance, outcome.arrangement) == outcome.bounds
    assert all(broken_rule(instance, each) is None for each in listener.totals)
    assert outcome.stop is StopReason.PROVED
    return outcome


@effort(15, 5_000)
@given(sharable())
def test_totals_of_any_blocks_agree_with_trying_everything(problem: Problem) -> None:
    problem = roomy(problem)
    assert sum(settled(problem).bounds) == least_total(problem)


@effort(10, 5_000)
@given(sharable(plain=True))
def test_totals_of_single_intervals_agree_with_trying_everything(problem: Problem) -> None:
    assert sum(settled(problem).bounds) == least_total(problem)


def test_an_exclusion_alone_lets_two_share() -> None:
    both = (Buffer("a", 1, live=((0, 1),)), Buffer("b", 1, live=((0, 1),)))
    assert settled(Problem(both, constraints=Constraints(exclusions=(("a", "b"),)))).bounds == (1,)


def test_both_models_agree_where_both_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = settled(PROVED_BY_SEARCH)
    monkeypatch.setattr(Interference, "is_one_stretch", lambda *_: False)
    assert settled(PROVED_BY_SEARCH).bounds == counted.bounds == (73,)


def test_a_work_limit_ends_each_run_alike() -> None:
    instance = instance_of(FOUND_BY_SEARCH)
    task = SharingTask(Limits(work=20_000))
    outcomes = [CpSatSharing().share(instance, task, Listener()) for _ in range(2)]
    assert {outcome.stop for outcome in outcomes} == {StopReason.WORK_LIMIT}
    assert all(outcome.reproducible for outcome in outcomes)
    assert outcomes[0].bounds == outcomes[1].bounds
    found = [None if o.arrangement is None else o.arrangement.storage.tolist() for o in outcomes]
    assert found[0] == found[1]


def test_models_that_would_be_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpsat, "MOST_TERMS", 10)
    with pytest.raises(Unsupported, match="too large for this solver"):
        CpSatSharing().share(instance_of(PROVED_BY_SEARCH), SharingTask(), Listener())


def test_a_process_of_its_own_gives_the_same_answer() -> None:
    instance, listener = instance_of(PROVED_BY_SEARCH), Listener()
    outcome = in_a_process_of_its_own(instance, SharingTask(bounds=(72,)), listener)
    assert (outcome.stop, outcome.bounds, outcome.provers) == (StopReason.PROVED, (73,), ("cpsat",))
    assert outcome.arrangement is not None
    assert totals(instance, outcome.arrangement) == (73,)
    assert totals(instance, listener.totals[-1]) == (73,), "it is told as it is found"
    assert outcome.reproducible
    assert listener.bounds[-1] == 73


def test_an_expired_deadline_leaves_the_known_bounds() -> None:
    instance = instance_of(PROVED_BY_SEARCH)
    outcome = in_a_process_of_its_own(instance, SharingTask(Limits(deadline=0.0), bounds=(72,)), Listener())
    assert (outcome.stop, outcome.bounds, outcome.arrangement) == (StopReason.TIME_LIMIT, (72,), None)
    assert not outcome.reproducible
