"""The search by saturation agrees with brute force about every height, for graphs with items of equal and of different sizes, and with like items."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from scripts.measure.small import graphs
from solvers.exact.saturation.search import Found, place_below
from tests.small.strategies import NIGHTLY

CASES = 5_000 if NIGHTLY else 60
FAMILIES = ((1,), (1, 2), (0, 1, 2), (1, 3), (2, 3), (1, 2, 4), tuple(range(1, 6)))


def is_possible(height: int, sizes: list[int], rivals: list[list[int]]) -> bool:
    """Try every address of every item."""
    offsets = list[int]()

    def place() -> bool:
        item = len(offsets)
        if item == len(sizes):
            return True
        for at in range(height - sizes[item] + 1):
            end = at + sizes[item]
            before = [other for other in rivals[item] if other < item and sizes[other] and sizes[item]]
            if all(end <= offsets[other] or offsets[other] + sizes[other] <= at for other in before):
                offsets.append(at)
                if place():
                    return True
                offsets.pop()
        return False

    return place()


def random_case(seed: int, family: tuple[int, ...]) -> tuple[int, list[int], list[list[int]]]:
    rng = random.Random(seed)
    count, share = rng.randint(1, 8), rng.choice((0.3, 0.5, 0.7, 0.9))
    sizes = [rng.choice(family) for _ in range(count)]
    pairs = {pair for pair in combinations(range(count), 2) if rng.random() < share}
    if count > 2 and rng.random() < 0.4:  # the last is like the first
        sizes[-1] = sizes[0]
        pairs = {pair for pair in pairs if pair[1] != count - 1} | {(0, count - 1)}
        pairs |= {(other, count - 1) for other in range(1, count - 1) if (0, other) in pairs}
    rivals = [sorted(a + b - item for a, b in pairs if item in (a, b)) for item in range(count)]
    return rng.randint(max(1, max(sizes) - rng.randint(0, 1)), max(min(sum(sizes), 9), 1)), sizes, rivals


def assert_right(found: Found, height: int, sizes: list[int], rivals: list[list[int]]) -> None:
    assert found.offsets is not None
    for item, at in enumerate(found.offsets):
        assert 0 <= at <= height - sizes[item]
        for other in rivals[item] if sizes[item] else ():
            begin, end = found.offsets[other], found.offsets[other] + sizes[other]
            assert begin == end or end <= at or at + sizes[item] <= begin


@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_there_is_room_where_trying_everything_finds_it(family: tuple[int, ...]) -> None:
    for seed in range(CASES):
        height, sizes, rivals = random_case(seed, family)
        found = place_below(height, sizes, rivals)
        assert found.is_sure
        assert (found.offsets is not None) == is_possible(height, sizes, rivals), (height, sizes, rivals)
        if found.offsets is not None:
            assert_right(found, height, sizes, rivals)


def of_graph(count: int, seed: int, unit: int) -> tuple[list[int], list[list[int]]]:
    problem = graphs(count, seed)
    pairs = [(int(a), int(b)) for a, b in problem.constraints.conflicts]
    rivals = [sorted(a + b - item for a, b in pairs if item in (a, b)) for item in range(count)]
    return [buffer.size // unit for buffer in problem.buffers], rivals


def test_graphs_of_forty_items_are_coloured_and_refuted_with_few_operations() -> None:
    sizes, rivals = of_graph(40, 71011, 64)
    found = place_below(8, sizes, rivals, 30_000)
    assert_right(found, 8, sizes, rivals)
    sizes, rivals = of_graph(40, 71003, 64)
    assert place_below(8, sizes, rivals, 200_000)[::2] == (None, True)


def test_the_same_question_has_the_same_answer_and_too_few_operations_none() -> None:
    sizes, rivals = of_graph(40, 71003, 64)
    assert len({place_below(9, sizes, rivals, 300_000) for _ in range(2)}) == 1
    short = place_below(8, sizes, rivals, 5_000)
    assert short[::2] == (None, False)
    assert short.operations < 6_000
    assert place_below(8, sizes, rivals, None, lambda: True)[::2] == (None, False)
