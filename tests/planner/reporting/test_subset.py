"""Parts of problems, and irreducible infeasible subsets."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from planner.checks import check
from planner.facts.part import only, without
from planner.model.problem import Buffer, Colocation, Constraints, Pool, Problem, ReusePenalty
from planner.reporting.subset import irreducible_subset
from tests.small.oracle import solve
from tests.small.strategies import effort, problems

ABC = Problem(
    tuple(Buffer(name, 4, 1, ((0, 2),)) for name in "abcd"),
    (Pool("p", 12), Pool("q", 4)),
    Constraints(
        conflicts=(("a", "b"), ("c", "d")),
        exclusions=(("a", "c"),),
        colocations=(Colocation("b", "a", 2), Colocation("c", "b", 4)),
        same_pool=(("c", "d"),),
        different_pool=(("a", "b", "d"),),
        reuse_penalties=(ReusePenalty("a", "d", 1), ReusePenalty("b", "d", 1)),
    ),
)


def fits(problem: Problem) -> bool:
    return solve(problem).is_feasible


def test_constraints_on_removed_buffers_are_removed() -> None:
    rest = without(ABC, ["a"]).constraints
    assert rest.conflicts == (("c", "d"),)
    assert rest.exclusions == ()
    assert rest.different_pool == (("b", "d"),)
    assert rest.reuse_penalties == (ReusePenalty("b", "d", 1),)


def test_buffers_keep_their_distance_when_their_base_goes() -> None:
    assert without(ABC, ["a"]).constraints.colocations == (Colocation("c", "b", 4),)
    assert without(ABC, ["b"]).constraints.colocations == (Colocation("c", "a", 6),)
    assert without(ABC, ["a", "b"]).constraints.colocations == ()


def test_buffers_tied_to_one_pool_by_a_removed_one_stay_together() -> None:
    assert without(ABC, ["c"]).constraints.same_pool == (("a", "b", "d"),)
    assert without(ABC, ["a", "b", "c"]).constraints.same_pool == ()


def test_a_subset_of_all_buffers_is_the_whole_problem() -> None:
    assert only(ABC, "abcd") == ABC
    assert without(ABC, []) == ABC


@effort(15, 2000)
@given(problems(max_buffers=5, plain_terms=True), st.data())
def test_a_part_of_a_problem_is_sound_and_no_harder(problem: Problem, data: st.DataObject) -> None:
    ids = [b.id for b in problem.buffers]
    part = without(problem, data.draw(st.sets(st.sampled_from(ids)))) if ids else problem
    assert check(part) == ()
    if fits(problem):
        assert fits(part)


@effort(9, 2000)
@given(problems(max_buffers=6, plain_terms=True))
def test_the_subset_is_irreducible(problem: Problem) -> None:
    assume(not fits(problem))
    subset, irreducible = irreducible_subset(problem, fits)
    assert irreducible
    assert not fits(only(problem, subset))
    assert all(fits(only(problem, set(subset) - {id_})) for id_ in subset)
    assert list(subset) == [b.id for b in problem.buffers if b.id in subset]


LARGE = (300, 301, 555)
CROWD = Problem(
    tuple(Buffer(n, 5, 1, ((900, 901),)) if n in LARGE else Buffer(n, 1, 1, ((n, n + 1),)) for n in range(700)),
    (Pool("p", 12),),
)


def crowd_fits(problem: Problem) -> bool:
    """True if the problem lacks one of the three large buffers of CROWD; its other buffers never live together."""
    return sum(b.size for b in problem.buffers if b.size == 5) <= 12


def test_few_questions_are_asked() -> None:
    sizes: list[int] = []

    def answer(problem: Problem) -> bool:
        sizes.append(len(problem.buffers))
        return crowd_fits(problem)

    assert irreducible_subset(CROWD, answer) == (LARGE, True)
    assert len(sizes) < 60


def test_suspects_are_tried_first() -> None:
    sizes: list[int] = []

    def answer(problem: Problem) -> bool:
        sizes.append(len(problem.buffers))
        return crowd_fits(problem)

    assert irreducible_subset(CROWD, answer, suspects=(555, 300, 301, 7)) == (LARGE, True)
    assert max(sizes) == 4
    assert irreducible_subset(CROWD, answer, suspects=(1, 2, 3)) == (LARGE, True)


def test_without_time_the_subset_is_all_buffers() -> None:
    subset, irreducible = irreducible_subset(CROWD, crowd_fits, is_late=lambda: True)
    assert len(subset) == 700
    assert not irreducible


def test_without_time_the_subset_is_those_suspected() -> None:
    """They are what the message names."""
    suspects = (7, *LARGE)
    assert irreducible_subset(CROWD, crowd_fits, lambda: True, suspects) == (suspects, False)


def test_a_doubt_is_not_taken_for_a_proof() -> None:
    def shy(problem: Problem) -> bool | None:
        return None if len(problem.buffers) < 4 else crowd_fits(problem)

    subset, irreducible = irreducible_subset(CROWD, shy)
    assert set(LARGE) < set(subset)
    assert not irreducible


@pytest.mark.parametrize("answer", [True, None])
def test_one_buffer_alone_is_its_own_subset(answer: bool | None) -> None:
    alone = Problem((Buffer("x", 9),), (Pool("p", 5),))
    assert irreducible_subset(alone, lambda _: answer) == (("x",), True)
