"""Problems said simpler ask the same of every pair of buffers, with fewer gaps, conflicts and exclusions."""

import random
from dataclasses import replace
from itertools import combinations

import pytest

from memplan import Buffer, Constraints, Options, PlanStatus, Pool, Problem, plan, verify
from planner.facts.intervals import merged
from planner.facts.moments import simpler
from planner.facts.moments.simpler import said_simpler, without_gaps, without_restated
from planner.facts.possible_places import Places
from planner.model.problem import Interval
from planner.verifying.moments import in_moments
from solvers.model.outcome import Proof
from tests.small.judge import judge
from tests.small.oracle import solve

Pairs = set[tuple[int, int]]


def conflicts_of(problem: Problem) -> Pairs:
    """The pairs of buffers of some size that must not share addresses, each looked at on its own."""
    partners = Places(problem).partners
    sized = [n for n, buffer in enumerate(problem.buffers) if buffer.size]
    return {(a, b) for a, b in combinations(sized, 2) if partners.must_be_apart(a, b)}


def some_problem(seed: int, most: int = 12) -> Problem:
    """A problem of buffers with gaps, some without lifetimes, conflicts, many of which restate lifetimes, and exclusions."""
    draw = random.Random(seed)
    count, times, pools = draw.randint(1, most), draw.randint(3, 14), draw.choice([1, 1, 1, 2])
    untimed = draw.choice([0, 0, 0.3])
    buffers = []
    for n in range(count):
        starts = [draw.randrange(times) for _ in range(draw.choice([1, 1, 2, 3]))]
        live = tuple((start, start + draw.randint(0, 3)) for start in starts)
        buffers.append(Buffer(n, draw.randint(0, 5), live=None if draw.random() < untimed else live))
    pairs = [*combinations(range(count), 2)]
    conflicts = tuple(pair for pair in pairs if draw.random() < seed % 4 / 6)
    share = draw.choice([0, 0, 0.1, 0.5])
    exclusions = tuple(pair for pair in pairs if pair not in conflicts and draw.random() < share)
    rules = Constraints(conflicts=conflicts, exclusions=exclusions)
    return Problem(tuple(buffers), tuple(Pool(f"pool {n}") for n in range(pools)), rules)


@pytest.mark.parametrize("seed", range(300))
def test_the_same_pairs_conflict(seed: int) -> None:
    problem = some_problem(seed)
    for found in (said_simpler(problem), without_gaps(problem), without_restated(problem)):
        assert conflicts_of(found) == conflicts_of(problem)
    assert in_moments(problem) == said_simpler(problem)


@pytest.mark.parametrize("seed", range(40))
def test_plans_are_as_good_as_can_be(seed: int) -> None:
    problem = some_problem(seed, most=6)
    made = plan(problem, Options(work_limit=200_000, workers=1))
    assert made.status is PlanStatus.OPTIMAL
    assert judge(problem, made, solve(problem)) == []


def of_intervals(lives: list[Interval], **rules: object) -> Problem:
    buffers = tuple(Buffer(n, n + 1, live=(span,)) for n, span in enumerate(lives))
    return Problem(buffers, constraints=Constraints(**rules))  # type: ignore[arg-type]


CHAIN = [(n, n + 3) for n in range(20)]
MET = tuple(pair for pair in combinations(range(20), 2) if pair[1] - pair[0] < 3)
APART = tuple(pair for pair in combinations(range(20), 2) if pair[1] - pair[0] >= 3)


def lives_of(problem: Problem) -> list[tuple[Interval, ...]]:
    return [merged(buffer.live or ()) for buffer in problem.buffers]


def test_conflicts_that_restate_lifetimes_are_left_out() -> None:
    problem = of_intervals(CHAIN, conflicts=MET)
    found = said_simpler(problem)
    assert found.constraints == Constraints()
    assert found.buffers is problem.buffers
    round_ = replace(problem, constraints=Constraints(conflicts=(*MET, (0, 19))))
    assert said_simpler(round_).constraints.conflicts == ((0, 19),)


def test_gaps_that_change_nothing_are_filled() -> None:
    """Buffer 1 lives within the gap of buffer 0, and conflicts with it later; buffer 3 lives within that of buffer 2, and nowhere else."""
    lives: list[tuple[Interval, ...]] = [((0, 1), (4, 6)), ((2, 3), (5, 7)), ((10, 11), (14, 15)), ((12, 13),)]
    problem = Problem(tuple(Buffer(n, 1, live=live) for n, live in enumerate(lives)), (Pool("a"), Pool("b")))
    assert lives_of(without_gaps(problem)) == [((0, 6),), ((2, 7),), *lives[2:]]
    at_odds = replace(problem, constraints=Constraints(conflicts=((2, 3),)))
    found = without_restated(without_gaps(at_odds))
    assert lives_of(found)[2] == ((10, 15),)
    assert not found.constraints.conflicts
    plain = of_intervals(CHAIN)
    assert said_simpler(plain) is plain


def test_gaps_in_which_too_many_begin_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simpler, "MOST_LOOKS", 2)
    within = tuple(Buffer(n, 1, live=((n, n + 1), (100, 101))) for n in range(2, 6))
    problem = Problem((Buffer(0, 1, live=((0, 1), (50, 101))), *within), (Pool("a"), Pool("b")))
    assert len(without_gaps(problem).buffers[0].live or ()) == 2
    monkeypatch.undo()
    assert without_gaps(problem).buffers[0].live == ((0, 101),)


def test_exclusions_of_all_that_never_meet_become_lifetimes() -> None:
    problem = of_intervals([(0, 1)] * 20, exclusions=APART)
    several = replace(problem, pools=(Pool("a"), Pool("b")))
    found = said_simpler(problem)
    assert found.constraints == Constraints()
    assert conflicts_of(found) == conflicts_of(said_simpler(several)) == {*MET}
    assert said_simpler(several).constraints == Constraints()
    assert all(len(live) == 1 for live in lives_of(found))
    made = plan(problem, Options(workers=1))
    assert made.status is PlanStatus.OPTIMAL
    assert not verify(problem, made)


@pytest.mark.parametrize("seed", range(12))
def test_in_several_memories_what_stands_beside_lifetimes_becomes_moments(seed: int) -> None:
    draw = random.Random(seed)
    spans = [(start, start + draw.randint(1, 12)) for start in (draw.randrange(40) for _ in range(50))]
    pairs = [*combinations(range(50), 2)]
    rules = Constraints(
        conflicts=tuple(pair for pair in pairs if seed % 3 and draw.random() < 0.1),
        exclusions=tuple(pair for pair in pairs if seed % 3 != 1 and draw.random() < 0.1),
    )
    rules = replace(rules, exclusions=tuple(pair for pair in rules.exclusions if pair not in rules.conflicts))
    buffers = tuple(Buffer(n, draw.randint(1, 9), live=(span,)) for n, span in enumerate(spans))
    problem = Problem(buffers, (Pool("a", 60), Pool("b")), rules)
    found = said_simpler(problem)
    assert found.constraints == Constraints()
    assert conflicts_of(found) == conflicts_of(problem)
    assert in_moments(problem) == found


def test_who_meets_nobody_is_live_all_the_same() -> None:
    """Else what bounds a memory at each moment does not know of it."""
    lone = tuple((0, n) for n in range(1, 12))
    spans = [(0, 40), *((3 * n, 3 * n + 6) for n in range(11))]
    buffers = tuple(Buffer(n, 5, live=(span,)) for n, span in enumerate(spans))
    pools = (Pool("a", 70), Pool("b"))
    found = said_simpler(
        Problem(buffers, pools, Constraints(exclusions=(*lone, (1, 2), (3, 4)), conflicts=((1, 9), (2, 8))))
    )
    assert found.constraints == Constraints()
    assert all(buffer.live for buffer in found.buffers)


def test_few_conflicts_beside_lifetimes_stay() -> None:
    """Moments of cliques are in no order of time, which costs more than so few conflicts tell."""
    problem = replace(of_intervals([(n, n + 9) for n in range(20)]), pools=(Pool("a", 9), Pool("b")))
    few = replace(problem, constraints=Constraints(conflicts=((0, 19),)))
    assert said_simpler(few) == few
    many = Constraints(conflicts=tuple((a, b) for a, b in APART if b - a > 8 and (a + b) % 3))
    assert not said_simpler(replace(problem, constraints=many)).constraints.conflicts


def test_half_the_buffers_by_conflicts_become_lifetimes() -> None:
    pairs = tuple(pair for pair in MET if pair[0] % 2 or pair[1] % 2)
    timed = of_intervals(CHAIN, conflicts=pairs)
    half = tuple(replace(buffer, live=None) if n % 2 else buffer for n, buffer in enumerate(timed.buffers))
    found = said_simpler(replace(timed, buffers=half))
    assert found.constraints == Constraints()
    assert conflicts_of(found) == {*MET}


def test_planners_of_others_keep_exclusions() -> None:
    problem = of_intervals([(0, 1)] * 20, exclusions=APART)
    made = plan(problem, Options(solver="tflm_greedy", workers=1))
    assert not verify(problem, made)


def test_a_proof_is_of_the_times_that_the_user_knows() -> None:
    """What is live only in gaps that were filled is said to conflict pairwise."""
    lives: list[tuple[Interval, ...]] = [((0, 1), (4, 5)), ((2, 3), (4, 5)), ((2, 3), (0, 1))]
    buffers = tuple(Buffer(n, 5, live=live) for n, live in enumerate(lives))
    problem = Problem(buffers)
    made = plan(problem, Options(workers=1))
    assert (made.peak, made.bound, made.status) == (15, 15, PlanStatus.OPTIMAL)
    assert {each.proof for each in made.certificates} == {Proof.CONFLICT_CLIQUE}
    assert not verify(problem, made)


def test_certificates_of_the_times_that_the_user_gave_hold_as_well() -> None:
    """A plan that was made without saying the problem simpler names moments of the problem as it is."""
    problem = of_intervals([(0, 4), (1, 6), (5, 9), (8, 9)], exclusions=((2, 3),))
    assert in_moments(problem) is not problem
    made = plan(problem, Options(solver="xla_heap", workers=1))
    assert made.bound
    assert not verify(problem, made)


def test_more_conflicts_than_the_problem_has_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    lives: list[tuple[Interval, ...]] = [((0, 1), (4, 6)), ((2, 3),), ((4, 9),)]
    problem = Problem(tuple(Buffer(n, 1, live=live) for n, live in enumerate(lives)))
    wrong = (
        replace(problem, buffers=(replace(problem.buffers[0], live=((0, 6),)), *problem.buffers[1:])),
        replace(problem, buffers=(*problem.buffers[:2], replace(problem.buffers[2], live=((2, 9),)))),
        replace(problem, constraints=Constraints(conflicts=((0, 1),))),
    )
    for each in wrong:
        monkeypatch.setattr("planner.verifying.moments.said_simpler", lambda _, each=each: each)
        assert in_moments(problem) is problem
    excluding = replace(problem, constraints=Constraints(exclusions=((0, 2),)))
    monkeypatch.setattr("planner.verifying.moments.said_simpler", lambda _: problem)
    assert in_moments(excluding) is excluding
