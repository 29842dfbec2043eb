"""The profile of live bytes is right in examples, and equals a count byte by byte at every step."""

from __future__ import annotations

from hypothesis import given

from planner import Options, PlanStatus, plan
from planner.model.plan import Placement
from planner.model.problem import Buffer, Colocation, Constraints, Problem
from planner.reporting.live_profile import Height, LiveProfile, Moment
from tests.small.strategies import effort, problems


def profile_of(problem: Problem, **offsets: int) -> LiveProfile:
    pool = problem.pools[0].name
    placements = [Placement(b.id, pool, offsets[str(b.id)], b.size) for b in problem.buffers if str(b.id) in offsets]
    return LiveProfile(problem, placements)


def test_the_highest_step_is_the_first_with_most_bytes() -> None:
    problem = Problem(
        (Buffer("a", 10, live=((0, 4),)), Buffer("b", 5, live=((1, 2), (3, 4))), Buffer("c", 5, live=((2, 3),)))
    )
    profile = profile_of(problem, a=0, b=10, c=10)
    assert profile.highest() == Height(15, (Moment(1, 2), Moment(2, 3), Moment(3, 4)))
    assert [buffer.id for buffer in profile.live_at(2)] == ["a", "c"]
    assert [buffer.id for buffer in profile.live_throughout(profile.highest().moments)] == ["a"]  # type: ignore[union-attr]


def test_views_and_results_in_place_count_once() -> None:
    problem = Problem(
        (Buffer("base", 100, live=((0, 3),)), Buffer("view", 40, live=((1, 6),)), Buffer("tail", 30, live=((2, 3),))),
        constraints=Constraints(colocations=(Colocation("view", "base", 20), Colocation("tail", "base", 90))),
    )
    assert profile_of(problem, base=8, view=28, tail=98).highest() == Height(120, (Moment(2, 3),))


def test_exclusive_buffers_that_share_a_place_count_once() -> None:
    buffers = (Buffer("then", 8, live=((0, 2),)), Buffer("else", 8, live=((0, 2),)))
    problem = Problem(buffers, constraints=Constraints(exclusions=(("then", "else"),)))
    assert profile_of(problem, **{"then": 0, "else": 4}).highest() == Height(12, (Moment(0, 2),))


def test_intervals_of_one_buffer_that_touch_or_overlap_count_once() -> None:
    problem = Problem((Buffer("a", 8, live=((0, 2), (1, 3), (3, 5), (5, 5))),))
    assert profile_of(problem, a=0).highest() == Height(8, (Moment(0, 5),))


def test_a_problem_with_nothing_in_use_has_no_highest_step() -> None:
    buffers = (Buffer("a", 0, live=((0, 2),)), Buffer("b", 8, live=()), Buffer("c", 8), Buffer("d", 8, live=((0, 1),)))
    profile = profile_of(Problem(buffers), a=0, b=0, c=8)
    assert profile.highest() is None
    assert (profile.untimed(), profile.untimed("default")) == (1, 1)


def test_large_sizes_and_negative_steps_are_counted() -> None:
    buffers = (Buffer("a", 1 << 61, live=((-5, 0),)), Buffer("b", 1 << 61, live=((-2, 3),)))
    assert profile_of(Problem(buffers), a=0, b=1 << 61).highest() == Height(1 << 62, (Moment(-2, 0),))


@effort(15, 2000)
@given(problems())
def test_the_profile_agrees_with_a_count_byte_by_byte(problem: Problem) -> None:
    made = plan(problem, Options(solver="greedy", workers=1))
    if made.status not in (PlanStatus.OPTIMAL, PlanStatus.FEASIBLE):
        return
    profile = LiveProfile(problem, made.placements)
    where = {place.id: place for place in made.placements}
    in_use: dict[int, set[tuple[str, int]]] = {}
    for buffer in problem.buffers:
        place = where[buffer.id]
        for start, end in buffer.live or ():
            for step in range(start, end):
                taken = ((place.pool, place.offset + k) for k in range(buffer.size))
                in_use.setdefault(step, set()).update(taken)
    for name in (None, *(pool.name for pool in problem.pools)):
        counts = {step: len([b for b in used if name in (None, b[0])]) for step, used in in_use.items()}
        most = max(counts.values(), default=0)
        found = profile.highest(name)
        if not most:
            assert found is None
            continue
        assert found is not None
        assert found.bytes == most
        steps = [step for moment in found.moments for step in range(moment.start, moment.end)]
        assert steps == sorted(step for step, count in counts.items() if count == most)
        if name is None:
            throughout = [
                b.id for b in problem.buffers if b.size and all(any(s <= t < e for s, e in b.live or ()) for t in steps)
            ]
            assert [buffer.id for buffer in profile.live_throughout(found.moments)] == throughout
