"""The weights of buffers that share bytes, computed for all times at once, equal those computed time by time."""

from __future__ import annotations

import random

import numpy as np
import pytest

from planner.facts.intervals import covers
from planner.facts.possible_places import Places
from planner.model.columns.buffers import BufferColumns, KeptBuffers
from planner.model.plan import PlanCertificate
from planner.model.problem import Buffer, Colocation, Constraints, Pool, Problem
from planner.verifying.arguments import weights
from planner.verifying.arguments.weights import read_weights, weigh
from solvers.model.outcome import Proof


@pytest.mark.parametrize("seed", range(60))
def test_weights_at_many_times_agree_with_one_by_one(seed: int) -> None:
    dice = random.Random(seed)
    places, certificate = Places(thrown(dice)), weighed(dice)
    read = read_weights(certificate)
    assert not isinstance(read, str)
    found = weigh(places, certificate, read.moments)
    assert heavy(found) == heavy(time_by_time(places, certificate, read.moments))


def heavy(found: dict[int, dict[str, int]]) -> dict[tuple[int, str], int]:
    """Return the weights other than zero, by first member and pool."""
    return {(first, pool): weight for first, mine in found.items() for pool, weight in mine.items() if weight}


def thrown(dice: random.Random) -> Problem:
    buffers = []
    for i in range(10):
        start = dice.randrange(8)
        live = ((start, start + 1 + dice.randrange(4)), (start + 5, start + 6 + dice.randrange(3)))
        buffers.append(Buffer(i, dice.randrange(9), live=live[: 1 + i % 2]))
    pairs = {
        (a, b) if dice.random() < 0.5 else (b, a) for a, b in (sorted(dice.sample(range(10), 2)) for _ in range(9))
    }
    ties = tuple(Colocation(i, i - 1, dice.randrange(5)) for i in (3, 4, 8))
    constraints = Constraints(exclusions=tuple(sorted(pairs)), colocations=ties, same_pool=((0, 1),))
    return Problem(tuple(buffers), (Pool("p"), Pool("q")), constraints)


def weighed(dice: random.Random) -> PlanCertificate:
    rows = tuple((dice.choice("pq"), dice.randrange(16), dice.randrange(5), dice.choice((1, 2, 3))) for _ in range(20))
    named = tuple(dice.sample(range(10), 7)) if dice.random() < 0.3 else ()
    return PlanCertificate(Proof.POOL_SHARING, 1, buffers=named, weights=rows)


def time_by_time(
    places: Places, certificate: PlanCertificate, moments: dict[int, dict[str, int]]
) -> dict[int, dict[str, int]]:
    buffers = places.problem.buffers
    found: dict[int, dict[str, int]] = {}
    for time, of_pool in moments.items():
        live = {
            i for i, b in enumerate(buffers) if b.id in (certificate.buffers or places.index) and covers(b.live, time)
        }
        for a, b in places.problem.constraints.exclusions:
            i, j = places.index[a], places.index[b]
            if {i, j} <= live and places.group(i) is not places.group(j):
                live.discard(j if buffers[i].size >= buffers[j].size else i)
        for first in {places.group(i).members[0] for i in live}:
            mine = [(places.low(i), buffers[i].size) for i in live if places.group(i).members[0] == first]
            taken = {address for low, size in mine for address in range(low, low + size)}
            of = found.setdefault(places.tied(first)[0], {})
            for pool, weight in of_pool.items():
                of[pool] = of.get(pool, 0) + weight * len(taken)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_columns_weigh_the_same_and_stay_columns(seed: int) -> None:
    dice = random.Random(seed)
    rows = [(dice.randrange(9), dice.randrange(8), dice.randrange(5)) for _ in range(10)]
    size, start, length = (np.array(column) for column in zip(*rows, strict=True))
    columns = KeptBuffers(range(10), size, np.ones(10, dtype=np.int64), start, start + length)
    objects = tuple(BufferColumns.__iter__(columns))
    certificate = weighed(dice)
    read = read_weights(certificate)
    assert not isinstance(read, str)
    huge = {time: {pool: weight << 70 for pool, weight in of.items()} for time, of in read.moments.items()}
    for moments in (read.moments, huge):
        found, expected = (
            heavy(weigh(Places(Problem(buffers, (Pool("p"), Pool("q")))), certificate, moments))
            for buffers in (columns, objects)
        )
        assert found == expected
        assert found == heavy(time_by_time(Places(Problem(objects, (Pool("p"), Pool("q")))), certificate, moments))
    assert columns._kept.every is None
    assert not columns._kept.some


def test_times_without_changes_are_examined_together(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[set[int]] = []
    count = weights._live_heights

    def counted(places: Places, live: set[int]) -> dict[int, int]:
        looks.append(set(live))
        return count(places, live)

    monkeypatch.setattr(weights, "_live_heights", counted)
    buffers = (Buffer("a", 3, live=((0, 900),)), Buffer("b", 4, live=((300, 600),)))
    places = Places(Problem(buffers, (Pool("p"),), Constraints(exclusions=(("a", "b"),))))
    certificate = PlanCertificate(Proof.POOL_SHARING, 1)
    found = weigh(places, certificate, {time: {"p": 1} for time in range(1000)})
    assert found == {0: {"p": 3 * 600}, 1: {"p": 4 * 300}}
    assert looks == [{0}, {0, 1}, {0}, set()]
