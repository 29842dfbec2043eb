"""Gluing blocks together finds dense packings; it changes no optimum and proves nothing by itself."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from solvers.exact.search.solver import Search
from solvers.geometry.rules import violation
from solvers.kernels import Origin, active
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, PoolSpec
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import Block, make_instance, plain
from tests.small.strategies import NIGHTLY
from tests.solvers.exact.search.small_instances import brute_force

pytestmark = pytest.mark.skipif(
    active().origin is not Origin.NATIVE, reason="these are too many for the search in Python"
)


def few_lifetimes_and_sizes(seed: int) -> Instance:
    """An instance of up to five blocks of at most three lifetimes and two sizes; some have other constraints."""
    r = random.Random(f"glue {seed}")
    cuts = sorted(r.sample(range(6), r.randint(2, 4)))
    spans = [(a, b) for i, a in enumerate(cuts) for b in cuts[i + 1 :]]
    lives = r.sample(spans, min(3, len(spans)))
    sizes = [r.randint(1, 5), r.randint(1, 5)]
    alignment = r.choice([1, 1, 1, 2, 4])
    residue = r.randrange(alignment)
    blocks: list[Block] = []
    for _ in range(r.randint(3, 5)):
        step = alignment * r.choice([1, 1, 1, 2])
        fixed = residue + step * r.randrange(4) if r.random() < 0.06 else None
        most = residue + step * r.randint(1, 8) if r.random() < 0.1 else None
        start, end = r.choice(lives)
        size = r.choice(sizes)
        blocks.append(plain(start, end, size, alignment=step, residue=residue, fixed=fixed, max_offset=most))
    at = r.randint(1, 8)
    reserved = ((at, at + r.randint(1, 3)),) if r.random() < 0.25 else ()
    return make_instance(blocks, pools=[PoolSpec(r.choice([None, None, 20]), reserved)])


def test_optima_and_proofs_agree_with_brute_force() -> None:
    for seed in range(3000 if NIGHTLY else 80):
        instance = few_lifetimes_and_sizes(seed)
        expected = brute_force(instance)
        outcome = Search().solve(instance, Task(limits=Limits(work=2_000_000), seed=seed), Silent())
        assert outcome.stop is StopReason.PROVED, seed
        assert outcome.infeasible == (expected is None), seed
        if expected is not None:
            assert outcome.value == outcome.bound == (expected,), seed
            assert outcome.placement is not None
            assert violation(instance, outcome.placement) is None, seed


def cut_to_pieces(seed: int, count: int) -> tuple[Instance, int]:
    """Return an instance cut from a strip without waste, with many pieces cut again, and the strip's height."""
    r = random.Random(f"pieces {seed}")
    height = 960
    line = [(a, b, 0) for a, b in pairwise([0, *sorted(r.sample(range(1, height), 20)), height])]
    whole: list[tuple[int, int, int]] = []
    time = 0
    while len(whole) < count:
        time += 1
        i = r.randrange(len(line))
        joined = line[i : i + r.randint(1, 3)]
        low, high = joined[0][0], joined[-1][1]
        whole += [(start, time, b - a) for a, b, start in joined if start < time]
        wanted = min(high - low, len(joined) + r.choice([-1, 0, 1]))
        inner = sorted(r.sample(range(low + 1, high), wanted - 1)) if wanted > 1 else []
        line[i : i + len(joined)] = [(a, b, time) for a, b in pairwise([low, *inner, high])]
    whole += [(start, time + 1, b - a) for a, b, start in line]
    whole = [(32 * start, 32 * end, size) for start, end, size in whole]  # so that cuts hardly ever coincide
    pieces: list[tuple[int, int, int]] = []
    while whole:
        start, end, size = whole.pop()
        if end - start > 1 and r.random() < 0.25:
            middle = r.randint(start + 1, end - 1)
            whole += [(start, middle, size), (middle, end, size)]
        elif size > 1 and r.random() < 0.25:
            part = r.randint(1, size - 1)
            whole += [(start, end, part), (start, end, size - part)]
        else:
            pieces.append((start, end, size))
    r.shuffle(pieces)
    return make_instance(pieces), height


def test_pieces_of_pieces_are_put_together_again() -> None:
    for seed in range(6):
        instance, height = cut_to_pieces(seed, 40)
        outcome = Search().solve(
            instance, Task(limits=Limits(work=1_000_000), pool_bounds=(height,), seed=seed), Silent()
        )
        assert outcome.stop is StopReason.PROVED, seed
        assert outcome.value == (height,), seed


def test_the_answer_does_not_depend_on_the_number_of_workers() -> None:
    instance, height = cut_to_pieces(7, 60)
    task = Task(limits=Limits(work=300_000, workers=1), pool_bounds=(height,), seed=3)
    alone = Search().solve(instance, task, Silent())
    together = Search().solve(instance, Task(Limits(work=300_000, workers=2), pool_bounds=(height,), seed=3), Silent())
    assert alone.placement is not None
    assert together.placement is not None
    assert alone.placement.offset.tolist() == together.placement.offset.tolist()
    assert alone.work == together.work
