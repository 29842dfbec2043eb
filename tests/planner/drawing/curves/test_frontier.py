"""No plan lies under the line drawn below a frontier; where every point is known, the line is the frontier."""

from __future__ import annotations

import json
import random
import re
from bisect import bisect_right
from fractions import Fraction

import pytest

from planner.drawing import frontier_curve
from planner.drawing.curves.frontier import _floor, _Spot
from planner.formats import read_frontier, read_problem
from tests.small.every_answer import every_answer


def matched(plans: list[tuple[int, int]], spots: list[_Spot]) -> float:
    """Return the greatest share by which a plan's nearest spot costs more or needs more memory than the plan."""
    worst = Fraction(0)
    for cost, memory in plans:
        shares = (
            max(Fraction(spot.cost, cost), Fraction(spot.memory, memory), Fraction(1)) for spot in spots
        )  # fmt: skip
        worst = max(worst, min(shares) - 1)
    return float(worst)


@pytest.mark.parametrize("seed", range(30))
def test_no_plan_lies_under_the_frontier_line(seed: int) -> None:
    chance = random.Random(seed)
    plans = [(chance.randrange(1, 200), chance.randrange(1, 200)) for _ in range(chance.randrange(1, 25))]
    best = sorted(p for p in plans if not any(o != p and o[0] <= p[0] and o[1] <= p[1] for o in plans))
    spots = []
    for cost, memory in chance.sample(best, chance.randrange(1, len(best) + 1)):
        slack = chance.choice((0, 0, chance.randrange(20)))
        least = min(m for c, m in plans if c <= cost)
        cheapest = min(c for c, m in plans if m <= memory)
        spots.append(_Spot(cost, memory, max(least - slack, 0), chance.choice((None, cheapest - slack))))
    spots.sort()
    for within in (None, matched(plans, spots), matched(plans, spots) + 0.1):
        line = _floor(spots, within)
        assert line == sorted(line)
        for cost, memory in plans:
            i = bisect_right([at for at, _ in line], cost) - 1
            if within is not None:
                assert i >= 0, "left of the line there is no plan"
            if i >= 0 and (within is not None or cost <= line[-1][0]):
                low = line[i][1] if cost > line[i][0] else min(line[max(i - 1, 0)][1], line[i][1])
                assert memory >= low - 1e-6


def test_the_line_is_the_frontier_where_all_points_are_known() -> None:
    points = [(10, 90), (20, 40), (70, 30)]
    spots = [_Spot(cost, memory, memory, cost) for cost, memory in points]
    assert _floor(spots, 0.0) == points
    open_ends = [spot._replace(cheapest=None) for spot in spots]
    assert _floor(open_ends, None) == [(10, 40), (20, 30), (70, 30)]


def test_a_frontier_of_many_points_is_drawn_fast() -> None:
    spots = [_Spot(k, 100_000 - k, 99_000 - k, k - 5) for k in range(20_000)]
    assert len(_floor(spots, 0.01)) > 20_000


def test_each_plan_is_marked_and_the_cost_is_named() -> None:
    problem, answer = every_answer()["frontier"]
    picture = frontier_curve(read_problem(problem)[0], read_frontier(answer)).decode()
    assert re.findall(r"<circle [^>]*><title>([^<]*)<", picture) == ["40: 196 B", "90: 116 B"]
    assert picture.count(">cost: cycles<") == 1
    weighted = json.loads(problem)
    weighted["variants"]["costs"] = [{"name": "cycles", "weight": 2}, {"name": "energy"}, {"name": "free", "weight": 0}]
    picture = frontier_curve(read_problem(json.dumps(weighted).encode())[0], read_frontier(answer)).decode()
    assert ">cost: 2 x cycles + energy<" in picture
