"""The rules of the quick solvers, and the bound, on problems that can be followed by hand."""

from __future__ import annotations

import pytest
from hypothesis import given

from planner import Buffer, Colocation, Constraints, Options, Problem, plan, share
from planner.planning.sharing.lowering import lower_sharing
from solvers.model.errors import StopReason
from solvers.sharing.arrangement import Arrangement, broken_rule, totals
from solvers.sharing.bounds import Witness, ranked
from solvers.sharing.greedy import Greedy
from solvers.sharing.portfolio import solve
from solvers.sharing.solver import SharingTask
from tests.planner.planning.sharing.truth import FOUND_BY_SEARCH, sharable
from tests.small.strategies import effort


def inclusive(*rows: tuple[int, int, int]) -> Problem:
    """A problem of buffers given as first step, last step and size."""
    return Problem(tuple(Buffer(i, size, live=((first, last + 1),)) for i, (first, last, size) in enumerate(rows)))


def storage(problem: Problem, solver: str) -> list[int]:
    return [each.object for each in share(problem, Options(solver=solver)).assignments]


def test_exir_takes_the_first_object_that_is_free_and_large_enough() -> None:
    assert storage(inclusive((0, 1, 6), (2, 3, 9), (1, 2, 8)), "exir_greedy") == [0, 0, 1]


def test_exir_puts_nothing_inside_an_object_of_another() -> None:
    """With offsets, 4 lies above 5 in the object that 10 has left; as storage objects, 4 needs one of its own."""
    problem = inclusive((0, 1, 10), (2, 3, 4), (2, 3, 3), (2, 3, 5))
    assert storage(problem, "exir_greedy") == [0, 1, 2, 0]
    assert plan(problem, Options(solver="exir_greedy")).peak == 13
    assert share(problem, Options(solver="exir_greedy")).total == 17


def test_exir_takes_the_last_of_equal_sizes_first() -> None:
    assert storage(inclusive((0, 0, 4), (0, 0, 4), (1, 1, 4)), "exir_greedy") == [0, 1, 1]


@pytest.mark.parametrize(
    ("freed", "wanted", "taken"),
    [
        ((100, 30), 20, 1),
        ((319, 5), 20, 0),
        ((320, 5), 20, 1),
        ((10, 15), 20, 1),
        ((320, 1), 40, 0),
        ((1000, 1), 33, 2),
    ],
)
def test_relay_takes_a_token_of_about_the_right_size(freed: tuple[int, int], wanted: int, taken: int) -> None:
    """The smallest of less than 16 times the size is taken, else the largest of a sixteenth or more, else a new one."""
    assert storage(inclusive((0, 0, freed[0]), (0, 0, freed[1]), (1, 1, wanted)), "relay_tokens") == [0, 1, taken]


def test_relay_shares_alike_with_and_without_offsets() -> None:
    with_offsets = plan(FOUND_BY_SEARCH, Options(solver="relay_tokens"))
    assert share(FOUND_BY_SEARCH, Options(solver="relay_tokens")).total == with_offsets.peak


def test_largest_first_takes_the_smallest_object_that_is_free() -> None:
    problem = inclusive((0, 0, 9), (0, 0, 5), (1, 1, 4), (2, 2, 6))
    assert storage(problem, "largest_first") == [0, 1, 1, 0]


def test_greedy_is_no_worse_than_its_parts() -> None:
    totals = {
        solver: share(FOUND_BY_SEARCH, Options(solver=solver)).total or 0
        for solver in ("greedy", "largest_first", "exir_greedy", "relay_tokens")
    }
    assert totals["greedy"] == min(totals.values())
    assert totals["greedy"] < totals["relay_tokens"]


def test_the_bound_takes_the_kth_largest_over_all_steps() -> None:
    """Buffers of 10 and 1 are live at step 0, and of 6, 5 and 4 at step 2: three objects have at least 10, 5 and 4."""
    problem = inclusive((0, 0, 10), (0, 0, 1), (2, 2, 6), (2, 2, 5), (2, 2, 4))
    low = lower_sharing(problem).lowered
    found = ranked(low.instance, 0)
    assert found.sizes == (10, 5, 4)
    assert [(low.times[w.section] if w.section is not None else None, w.blocks) for w in found.witnesses] == [
        (2, (2, 3, 4)),
        (0, (0,)),
    ]


def test_the_largest_buffer_alone_is_a_reason_too() -> None:
    found = ranked(lower_sharing(Problem((Buffer("a", 3), Buffer("b", 8)))).lowered.instance, 0)
    assert (found.sizes, found.witnesses) == ((8,), (Witness(None, (1,)),))


def test_a_few_exclusions_among_very_many_that_clash_are_used() -> None:
    """Of 3 000 buffers live together, 4 498 500 pairs clash; only the pairs that may share are kept."""
    buffers = tuple(Buffer(i, 8, live=((0, 1),)) for i in range(3000))
    problem = Problem(buffers, constraints=Constraints(exclusions=((0, 1), (1, 2), (7, 2999))))
    made = share(problem, Options(solver="largest_first", time_limit=None))
    assert (made.total, made.bound) == (2998 * 8, 2998 * 8)


def test_blocks_share_only_if_all_their_parts_may() -> None:
    """`a` and its view `v` move together; `b` may share with `a` alone, `c` with both."""
    buffers = (Buffer("a", 8, live=((0, 1),)), Buffer("v", 4, live=((1, 2),)))
    problem = Problem(
        (*buffers, Buffer("b", 8, live=((0, 2),)), Buffer("c", 8, live=((0, 2),))),
        constraints=Constraints(
            exclusions=(("a", "b"), ("a", "c"), ("v", "c")), colocations=(Colocation("v", "a", 0),)
        ),
    )
    assert storage(problem, "largest_first") == [0, 0, 1, 0]


def test_the_bound_counts_the_larger_of_an_excluded_pair() -> None:
    both = (Buffer("a", 3, live=((0, 1),)), Buffer("b", 8, live=((0, 1),)))
    problem = Problem(both, constraints=Constraints(exclusions=(("a", "b"),)))
    assert ranked(lower_sharing(problem).lowered.instance, 0).sizes == (8,)


class NoTime:
    """A caller whose time is over from the start."""

    def incumbent(self, arrangement: Arrangement) -> None: ...

    def bound(self, bound: int) -> None: ...

    def log(self, line: str) -> None: ...

    def stopped(self) -> StopReason | None:
        return StopReason.TIME_LIMIT


@effort(30, 5_000)
@given(sharable())
def test_sharings_without_any_time_keep_the_rules(problem: Problem) -> None:
    instance = lower_sharing(problem).lowered.instance
    found = Greedy().share(instance, SharingTask(), NoTime()).arrangement
    assert found is not None
    assert broken_rule(instance, found) is None


@pytest.mark.parametrize("apart", [(), ((0, 1),)], ids=["by time", "by conflicts too"])
def test_buffers_share_and_bounds_hold_without_any_time(
    apart: tuple[tuple[int, int], ...],
) -> None:
    buffers = tuple(Buffer(i, 100, live=((i // 10, i // 10 + 1),)) for i in range(3000))
    problem = Problem(buffers, constraints=Constraints(conflicts=apart))
    instance = lower_sharing(problem).lowered.instance
    found = solve(instance, SharingTask(), NoTime())
    assert found.outcome.arrangement is not None
    assert totals(instance, found.outcome.arrangement) == found.outcome.bounds == (1000,)
