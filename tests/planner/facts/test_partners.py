"""Partners of buffers: who is named with whom, and who must be apart."""

from planner.facts.partners import Partners
from planner.model.problem import Buffer, Constraints, Pool, Problem, ReusePenalty

BUFFERS = tuple(
    Buffer(name, 4, 1, live) for name, live in zip("abcd", (((0, 4),), ((3, 6),), ((6, 9), (2, 3)), ()), strict=True)
)
PROBLEM = Problem(
    BUFFERS,
    (Pool("arena"),),
    constraints=Constraints(
        conflicts=(("b", "d"),),
        exclusions=(("a", "b"),),
        reuse_penalties=(ReusePenalty("a", "b", 2), ReusePenalty("b", "a", 3)),
        different_pool=(("a", "b", "c"),),
    ),
)
PARTNERS = Partners(PROBLEM, {name: number for number, name in enumerate("abcd")})


def test_each_pair_is_found_from_both_sides() -> None:
    assert PARTNERS.conflicts == {1: {3: 0}, 3: {1: 0}}
    assert PARTNERS.exclusions == {0: {1: 0}, 1: {0: 0}}
    assert PARTNERS.reuse_costs == {0: {1: 5}, 1: {0: 5}}


def test_apart_is_what_conflicts_or_lives_together_and_is_not_excluded() -> None:
    apart = {(a, b) for a in range(4) for b in range(4) if a != b and PARTNERS.must_be_apart(a, b)}
    assert apart == {(1, 3), (3, 1), (0, 2), (2, 0)}


def test_the_first_of_those_tied_to_one_pool_stands_for_all() -> None:
    group = frozenset((0, 1))
    assert PARTNERS.in_other_pools(lambda number: (1, 2) if number in (1, 2) else (number,)) == {0: [group], 1: [group]}
