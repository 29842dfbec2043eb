"""Problems whose conflicts are said in other words than one lifetime for each buffer are planned as well as with those."""

import random
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import pytest

from memplan import Constraints, Options, PlanStatus, Preference, Problem, plan, verify
from memplan.generate import Request, generate
from planner.model.problem import BufferId
from planner.planning.options.preference import preferring

WORK = Options(time_limit=None, work_limit=400_000, workers=1)

Pair = tuple[BufferId, BufferId]


def pairs_of(problem: Problem) -> dict[bool, list[Pair]]:
    """The pairs that meet, and those that do not; each buffer has one lifetime."""
    found: dict[bool, list[Pair]] = {True: [], False: []}
    spans = [(buffer.id, *(buffer.live or ((0, 0),))[0]) for buffer in problem.buffers]
    for (a, start, end), (b, other, last) in combinations(spans, 2):
        found[start < last and other < end].append((a, b))
    return found


def restated(problem: Problem) -> Problem:
    return replace(problem, constraints=Constraints(conflicts=tuple(pairs_of(problem)[True])))


def half_by_conflicts(problem: Problem) -> Problem:
    bare = {buffer.id for buffer in problem.buffers[::2]}
    buffers = tuple(replace(each, live=None) if each.id in bare else each for each in problem.buffers)
    pairs = tuple(pair for pair in pairs_of(problem)[True] if bare.intersection(pair))
    return replace(problem, buffers=buffers, constraints=Constraints(conflicts=pairs))


def all_at_once(problem: Problem) -> Problem:
    buffers = tuple(replace(each, live=((0, 1),)) for each in problem.buffers)
    return replace(problem, buffers=buffers, constraints=Constraints(exclusions=tuple(pairs_of(problem)[False])))


def with_gaps(problem: Problem) -> Problem:
    """Buffers rest wherever they meet nobody whom they do not meet elsewhere, as often as that goes."""
    times = sorted({time for buffer in problem.buffers for span in buffer.live or () for time in span})
    at = [
        {n for n, each in enumerate(problem.buffers) for start, end in each.live or () if start <= time < end}
        for time in times
    ]
    count: dict[tuple[int, int], int] = {}
    for there in at:
        for pair in combinations(sorted(there), 2):
            count[pair] = count.get(pair, 0) + 1
    rests = [(moment, n) for moment, there in enumerate(at) for n in there]
    random.Random(6).shuffle(rests)
    for moment, n in rests:
        pairs = [(min(n, other), max(n, other)) for other in at[moment] if other != n]
        if pairs and all(count[pair] > 1 for pair in pairs):
            at[moment].remove(n)
            for pair in pairs:
                count[pair] -= 1
    lives: list[list[tuple[int, int]]] = [[] for _ in problem.buffers]
    for moment, there in enumerate(at):
        for n in there:
            lives[n].append((times[moment], times[moment + 1]))
    buffers = tuple(replace(each, live=tuple(live)) for each, live in zip(problem.buffers, lives, strict=True))
    return replace(problem, buffers=buffers)


def pair_by_pair(problem: Problem) -> Problem:
    """Each pair that meets does so at a time of its own."""
    pairs = pairs_of(problem)[True]
    random.Random(6).shuffle(pairs)
    lives: dict[BufferId, list[tuple[int, int]]] = {buffer.id: [] for buffer in problem.buffers}
    for n, pair in enumerate(pairs):
        for id_ in pair:
            lives[id_].append((2 * n, 2 * n + 1))
    return replace(problem, buffers=tuple(replace(each, live=tuple(lives[each.id])) for each in problem.buffers))


@pytest.mark.parametrize("said", [restated, half_by_conflicts, all_at_once, with_gaps])
@pytest.mark.parametrize(("kind", "count"), [("packing", 300), ("recurrent", 300)])
def test_as_good_in_other_words(kind: str, count: int, said: Callable[[Problem], Problem]) -> None:
    plain = generate(kind, Request(count, seed=11))
    problem = said(plain)
    assert problem != plain
    right, made = plan(plain, WORK), plan(problem, WORK)
    assert (made.peak, made.bound, made.status) == (right.peak, right.bound, PlanStatus.OPTIMAL)
    assert verify(problem, made) == ()


@pytest.mark.parametrize("said", [restated, half_by_conflicts, all_at_once, with_gaps, pair_by_pair])
@pytest.mark.parametrize(("kind", "prefer"), [("hot", Preference.SIZE), ("pools", Preference.SPEED)])
def test_several_memories_as_good_in_other_words(
    kind: str, prefer: Preference, said: Callable[[Problem], Problem]
) -> None:
    plain = preferring(generate(kind, Request(30, seed=11)), prefer)
    problem = said(plain)
    right, made = plan(plain, WORK), plan(problem, WORK)
    assert (made.objective, made.status) == (right.objective, PlanStatus.OPTIMAL)
    assert verify(problem, made) == ()
