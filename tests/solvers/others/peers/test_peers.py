"""Other projects' planners as solvers: their placements are valid, their proofs true, and they end when told to."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from importlib.util import find_spec
from random import Random

import pytest

from planner import Buffer, Options, PlanStatus, Pool, Problem, plan, verify
from planner.planning.placing.lowering import lower
from solvers.geometry.rules import violation
from solvers.model import registry
from solvers.model.errors import StopReason, Unsupported
from solvers.model.instance import Instance
from solvers.model.outcome import Outcome
from solvers.model.solver import Goal, Input, Limits, Silent, Task
from solvers.others.peers import omnimalloc
from tests.small import oracle
from tests.small.instances import make_instance, plain

NAMES = ("omnimalloc", "vela") if sys.version_info < (3, 14) else ("omnimalloc",)
"""Peers that can be installed ready-made. Tests of a missing one are skipped, which CI does not allow."""

TANGLE = make_instance([(7 * n % 31, 7 * n % 31 + 3 + n % 7, 3 + 5 * n % 17) for n in range(40)])
STAIRS = make_instance([plain(0, 2, 3, alignment=4), plain(1, 3, 3, alignment=4)])
"""Two blocks that end at 7 at best, although their sizes add up to 6."""


@pytest.fixture(params=NAMES)
def peer(request: pytest.FixtureRequest) -> str:
    return installed(request.param)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit Vela's climber to a few iterations; it makes very many on small problems that cannot be improved."""
    if find_spec("ethosu") is not None:
        module = import_module("ethosu.vela.hillclimb_allocation")
        monkeypatch.setattr(module.HillClimbAllocator, "MAX_ITERATIONS", 10)
        monkeypatch.setattr(module.HillClimbAllocator, "MIN_ITERATIONS_IMPROVE", 10)


def installed(name: str) -> str:
    reason = registry.get(name).unavailable()
    if reason is not None:
        pytest.skip(reason)
    return name


def solve(name: str, instance: Instance, task: Task | None = None) -> Outcome:
    """Solve in this process, and assert that the placement is valid."""
    outcome = registry.get(name).solve(instance, task or Task(), Silent())
    assert outcome.placement is None or violation(instance, outcome.placement) is None
    return outcome


def small_problem(seed: int) -> Problem:
    """A problem of a few buffers with one alignment for all, in one pool that is now and then too small."""
    random = Random(seed)
    alignment = random.choice((1, 1, 2, 4, 6))
    buffers = []
    for n in range(random.randint(0, 6)):
        start = random.randint(0, 5)
        live = ((start, start + random.randint(0, 4)),)
        buffers.append(Buffer(n, random.choice((0, *range(1, 14))), alignment, live))
    size = random.choice((None, None, random.randint(8, 40)))
    return Problem(tuple(buffers), (Pool("arena", size),))


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("first", range(0, 400, 100))
def test_placements_are_valid_and_proofs_true(peer: str, first: int) -> None:
    for seed in range(first, first + 100):
        problem = small_problem(seed)
        instance = lower(problem).instance
        if not instance.allowed.all():  # a buffer is larger than the pool, so no solver would be called
            continue
        truth = oracle.solve(problem)
        outcome = solve(peer, instance, Task(Limits(time.monotonic() + 20.0)))
        assert outcome.placement is None or truth.value is not None
        assert not outcome.infeasible or truth.value is None
        if truth.value is not None and outcome.bound:
            assert outcome.bound <= truth.value


def test_a_peer_gets_the_instance_as_written(peer: str) -> None:
    assert registry.get(peer).wants is Input.AS_WRITTEN


def test_a_peer_s_plan_names_the_peer_as_solver(peer: str) -> None:
    problem = Problem(tuple(Buffer(n, 4 + n % 5, live=((n % 13, n % 13 + 2 + n % 4),)) for n in range(30)))
    made = plan(problem, Options(solver=peer, time_limit=10.0, workers=1))
    assert made.status in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE)
    assert made.solver == peer
    assert len(made.versions) == 2
    assert verify(problem, made) == ()


def test_alignments_are_kept(peer: str) -> None:
    problem = Problem(
        tuple(Buffer(n, 5 + n, 12, ((n % 3, n % 3 + 2),)) for n in range(8)), (Pool("arena", alignment=8),)
    )
    made = plan(problem, Options(solver=peer, workers=1))
    assert all(placement.offset % 24 == 0 for placement in made.placements)


def test_several_alignments_are_refused_by_a_peer_that_takes_one() -> None:
    mixed = make_instance([plain(0, 2, 3, alignment=4), plain(1, 3, 3, alignment=6)])
    with pytest.raises(Unsupported, match="one alignment"):
        solve(installed("omnimalloc"), mixed)


def test_any_placement_within_the_capacity_meets_the_goal_fit(peer: str) -> None:
    roomy = make_instance([(7 * n % 31, 7 * n % 31 + 3 + n % 7, 3 + 5 * n % 17) for n in range(40)], capacity=1000)
    for instance in (TANGLE, roomy):
        outcome = solve(peer, instance, Task(goal=Goal.FIT))
        assert outcome.stop is StopReason.GOAL_MET
        assert outcome.placement is not None


def test_a_peer_stops_at_the_bound(peer: str) -> None:
    outcome = solve(peer, STAIRS, Task(bound=(7,), pool_bounds=(7,)))
    assert outcome.stop is StopReason.PROVED
    assert outcome.reproducible


def test_a_peer_ends_when_its_time_is_over(peer: str) -> None:
    outcome = solve(peer, STAIRS, Task(Limits(deadline=time.monotonic())))
    assert outcome.stop is StopReason.TIME_LIMIT
    assert outcome.placement is not None
    assert not outcome.reproducible


def test_without_a_clock_work_counts_as_microseconds(peer: str) -> None:
    assert solve(peer, STAIRS, Task(Limits(work=0))).stop is StopReason.TIME_LIMIT


def test_bounds_counted_in_multiples_are_proven_in_bytes() -> None:
    outcome = solve(installed("omnimalloc"), STAIRS)
    assert (outcome.bound, outcome.stop) == ((5,), StopReason.WORK_LIMIT)
    assert [(c.value, c.solver) for c in outcome.certificates] == [(5, "omnimalloc")]


def test_blocks_that_do_not_fit_are_proven_infeasible() -> None:
    outcome = solve(installed("omnimalloc"), make_instance([(0, 2, 4), (1, 3, 4)], capacity=7))
    assert outcome.infeasible
    assert (outcome.stop, outcome.placement) == (StopReason.PROVED, None)
    assert [(c.value, c.pool) for c in outcome.certificates] == [(8, 0)]


def test_a_proof_that_came_when_the_time_was_almost_over_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(omnimalloc, "CERTAIN_SECONDS", 1000.0)
    outcome = solve(installed("omnimalloc"), STAIRS, Task(Limits(deadline=time.monotonic() + 20.0)))
    assert (outcome.stop, outcome.certificates) == (StopReason.TIME_LIMIT, ())


def test_several_threads_of_a_peer_are_not_reproducible() -> None:
    outcome = solve(installed("omnimalloc"), STAIRS, Task(Limits(workers=2)))
    assert not outcome.reproducible
    assert outcome.stop.is_repeatable


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("climber", NAMES[1:] or [pytest.param("vela", marks=pytest.mark.xfail(run=False))])
def test_the_climber_ends_after_its_iterations(climber: str) -> None:
    outcome = solve(installed(climber), STAIRS)
    assert outcome.stop is StopReason.WORK_LIMIT
    assert outcome.reproducible
