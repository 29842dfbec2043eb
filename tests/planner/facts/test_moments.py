"""Lifetimes found for conflicts say the same as the conflicts, and are intervals where these come from intervals."""

import random
from dataclasses import replace
from itertools import combinations

import pytest

from memplan import Buffer, Constraints, Pool, Problem
from planner.facts.constants import CONSTANT
from planner.facts.moments.cover import cover_of
from planner.facts.moments.lifetimes import moments_of, with_lifetimes
from planner.facts.moments.simpler import said_simpler
from planner.model.problem import Interval
from planner.verifying.moments import in_moments

Pairs = set[tuple[int, int]]


def of_intervals(lives: list[Interval]) -> Pairs:
    """The pairs of numbers of intervals that overlap."""
    return {
        (a, b) for a, b in combinations(range(len(lives)), 2) if lives[a][0] < lives[b][1] and lives[b][0] < lives[a][1]
    }


def some_intervals(seed: int, most: int = 40) -> list[Interval]:
    draw = random.Random(seed)
    times, length = draw.randint(1, 60), draw.randint(1, 30)
    starts = [draw.randrange(times) for _ in range(draw.randint(1, most))]
    return [(start, start + draw.randint(1, length)) for start in starts]


def neighbours_of(count: int, pairs: Pairs) -> list[set[int]]:
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for a, b in pairs:
        neighbours[a].add(b)
        neighbours[b].add(a)
    return neighbours


def met(lives: list[tuple[Interval, ...]]) -> Pairs:
    """The pairs that are live together at some moment."""
    at: dict[int, list[int]] = {}
    for vertex, spans in enumerate(lives):
        for start, end in spans:
            for moment in range(start, end):
                at.setdefault(moment, []).append(vertex)
    return {pair for live in at.values() for pair in combinations(live, 2)}


@pytest.mark.parametrize("seed", range(60))
def test_conflicts_of_intervals_become_intervals_again(seed: int) -> None:
    intervals = some_intervals(seed)
    pairs = of_intervals(intervals)
    found = moments_of(neighbours_of(len(intervals), pairs))
    assert found is not None
    lives, missing = found
    assert not missing
    assert {len(spans) for spans in lives} == {1}
    assert met(lives) == pairs


@pytest.mark.parametrize("seed", range(60))
def test_any_conflicts_are_live_together_or_remain(seed: int) -> None:
    draw = random.Random(seed)
    count, share = draw.randint(1, 14), draw.random()
    pairs = {pair for pair in combinations(range(count), 2) if draw.random() < share}
    found = moments_of(neighbours_of(count, pairs))
    assert found is not None
    lives, missing = found
    assert met(lives) | {*missing} == pairs
    assert not met(lives) & {*missing}


def conflicting(lives: list[Interval], more: Pairs = frozenset(), **other: object) -> Problem:  # type: ignore[assignment]
    """Buffers without lifetimes whose conflicts are those of these intervals, and more."""
    buffers = tuple(Buffer(n, n + 1) for n in range(len(lives)))
    pairs = tuple(sorted(of_intervals(lives) | more))
    return Problem(buffers, (Pool("a"),), Constraints(conflicts=pairs, **other))  # type: ignore[arg-type]


CHAIN = [(n, n + 3) for n in range(20)]


def test_a_conflict_across_time_remains() -> None:
    found = with_lifetimes(conflicting(CHAIN, {(0, 19)}))
    lives = [buffer.live or () for buffer in found.buffers]
    pairs = {(min(pair), max(pair)) for pair in found.constraints.conflicts}
    assert 0 < len(pairs) < 10
    assert met(lives) | pairs == of_intervals(CHAIN) | {(0, 19)}


def test_problems_that_say_more_of_time_stay_as_they_are() -> None:
    plain = conflicting(CHAIN)
    assert with_lifetimes(plain) is not plain
    excluding = conflicting(CHAIN, exclusions=((0, 10),))
    timed = tuple(replace(buffer, live=(CHAIN[n],)) for n, buffer in enumerate(plain.buffers))
    more = replace(plain, buffers=timed, constraints=Constraints(conflicts=((0, 19),)))
    for problem in (excluding, more, replace(plain, constraints=Constraints())):
        assert with_lifetimes(problem) is problem


@pytest.mark.parametrize("seed", range(60))
def test_buffers_beside_others_with_lifetimes_get_theirs(seed: int) -> None:
    draw, lives = random.Random(seed), some_intervals(seed, 20)
    count = len(lives)
    pairs = of_intervals(lives) | {pair for pair in combinations(range(count), 2) if draw.random() < 0.01}
    untimed = {n for n in range(count) if draw.random() < 0.3}
    timed = tuple(Buffer(n, 1, live=None if n in untimed else (lives[n],)) for n in range(count))
    named = tuple(sorted(pair for pair in pairs if untimed.intersection(pair) or pair not in of_intervals(lives)))
    problem = Problem(timed, constraints=Constraints(conflicts=named))
    found = with_lifetimes(problem)
    remaining = {(min(pair), max(pair)) for pair in found.constraints.conflicts}
    assert met([buffer.live or () for buffer in found.buffers]) | remaining == pairs
    beside_nothing = replace(problem, buffers=(*timed, Buffer("nothing", 0, live=((0, 90),))))
    assert in_moments(problem) == said_simpler(problem)
    assert in_moments(beside_nothing) == said_simpler(beside_nothing)
    assert all(found.buffers[n] == timed[n] for n in range(count) if n not in untimed)


def test_who_has_no_lifetime_gets_the_one_that_its_conflicts_come_from() -> None:
    lives = [(n, n + 3) for n in range(20)]
    timed = tuple(Buffer(n, 1, live=None if n == 7 else (span,)) for n, span in enumerate(lives))
    problem = Problem(timed, constraints=Constraints(conflicts=tuple((7, n) for n in (5, 6, 8, 9))))
    found = with_lifetimes(problem)
    assert not found.constraints.conflicts
    assert found.buffers[7].live == ((7, 10),)


def test_conflicts_that_are_like_no_lifetimes_stay_as_they_are() -> None:
    draw = random.Random(1)
    pairs = {pair for pair in combinations(range(60), 2) if draw.random() < 0.3}
    problem = conflicting([(n, n + 1) for n in range(60)], pairs)
    assert with_lifetimes(problem) is problem


def test_buffers_of_no_size_and_without_conflicts_do_not_matter() -> None:
    problem = conflicting(CHAIN)
    buffers = (*problem.buffers, Buffer("free", 5), replace(Buffer("none", 0)))
    pairs = (*problem.constraints.conflicts, ("none", 3))
    found = with_lifetimes(replace(problem, buffers=buffers, constraints=Constraints(conflicts=pairs)))
    *_, alone, none = found.buffers
    assert met([buffer.live or () for buffer in found.buffers]) == of_intervals(CHAIN)
    assert alone.live
    assert none.live is None


def test_lifetimes_that_ask_for_more_than_the_conflicts_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = conflicting(CHAIN)
    right = with_lifetimes(problem)
    assert in_moments(problem) == right
    wrong = replace(right, buffers=(replace(right.buffers[0], live=((0, 9),)), *right.buffers[1:]))
    monkeypatch.setattr("planner.verifying.moments.said_simpler", lambda _: wrong)
    assert in_moments(problem) is problem


def noisy_pairs(seed: int, count: int = 60) -> Pairs:
    """Pairs that no intervals describe: of those that overlap a twentieth is left out, and others are added."""
    draw = random.Random(seed)
    starts = [draw.randrange(60) for _ in range(count)]
    pairs = of_intervals([(start, start + draw.randint(1, 20)) for start in starts])
    return {pair for pair in combinations(range(count), 2) if draw.random() < (0.95 if pair in pairs else 0.01)}


def test_constants_are_live_as_long_as_anybody_beside_one_who_conflicts_with_nobody() -> None:
    """That one had no moment, and the last moment of all was asked of it."""
    draw = random.Random(1)
    pairs = tuple(pair for pair in combinations(range(1, 30), 2) if draw.random() < 0.4)
    buffers = (*(Buffer(n, 5) for n in range(30)), Buffer("c", 5, kind=CONSTANT))
    pools = (Pool("a"), Pool("b"), Pool("rom", 100, read_only=True))
    found = with_lifetimes(Problem(buffers, pools, Constraints(conflicts=pairs)))
    last = max(buffer.live[-1][1] for buffer in found.buffers[:-1] if buffer.live)
    assert found.buffers[-1].live == ((0, last),)


@pytest.mark.parametrize("seed", range(20))
def test_large_cliques_have_all_edges_of_any_graph_and_nothing_else(seed: int) -> None:
    draw, pairs = random.Random(seed), noisy_pairs(seed)
    cliques = cover_of(neighbours_of(60, pairs), [draw.randint(1, 1 << 61) for _ in range(60)])
    assert cliques is not None
    assert {pair for members in cliques.members for pair in combinations(members, 2)} == pairs
    assert not cliques.missing


@pytest.mark.parametrize("seed", range(20))
def test_the_cliques_have_the_heaviest_or_nearly(seed: int) -> None:
    draw, pairs = random.Random(seed), noisy_pairs(seed, 24)
    neighbours, sizes = neighbours_of(24, pairs), [draw.randint(1, 1000) for _ in range(24)]

    def heaviest(among: set[int]) -> int:
        if not among:
            return 0
        vertex = min(among)
        return max(sizes[vertex] + heaviest(among & neighbours[vertex]), heaviest(among - {vertex}))

    cliques = cover_of(neighbours, sizes)
    assert cliques is not None
    found = max(sum(sizes[vertex] for vertex in members) for members in cliques.members)
    assert 0.95 * heaviest({*range(24)}) <= found <= heaviest({*range(24)})


def test_with_little_work_edges_are_left_over(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = noisy_pairs(1)
    monkeypatch.setattr("planner.facts.moments.cover.MOST_LOOKS", 2000)
    cliques = cover_of(neighbours_of(60, pairs), [1] * 60)
    assert cliques is not None
    inside = {pair for members in cliques.members for pair in combinations(members, 2)}
    assert cliques.missing
    assert inside | {*cliques.missing} == pairs
    assert not inside & {*cliques.missing}


def test_where_no_buffer_chooses_a_memory_conflicts_stay() -> None:
    """Local search, which knows conflicts, packs one memory lower; there moments of cliques bound nothing more."""
    buffers = tuple(Buffer(n, n + 1, pools=("a",)) for n in range(60))
    problem = Problem(buffers, (Pool("a", 900), Pool("b")), Constraints(conflicts=tuple(sorted(noisy_pairs(3)))))
    assert said_simpler(problem) == problem
    timed = replace(problem, buffers=tuple(replace(each, live=((0, 9),)) for each in buffers))
    excluded = replace(timed, constraints=Constraints(exclusions=tuple(sorted(noisy_pairs(4)))))
    assert said_simpler(excluded) == excluded


@pytest.mark.parametrize("seed", range(20))
def test_in_several_memories_any_conflicts_become_moments(seed: int) -> None:
    pairs = noisy_pairs(seed)
    buffers = tuple(Buffer(n, n + 1) for n in range(60))
    problem = Problem(buffers, (Pool("a", 900), Pool("b")), Constraints(conflicts=tuple(sorted(pairs))))
    found = said_simpler(problem)
    assert met([buffer.live or () for buffer in found.buffers]) == pairs
    assert not found.constraints.conflicts
    assert in_moments(problem) == found
