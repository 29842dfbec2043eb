"""Heights that hold at all times: found exactly where there are any, as far as few divisions and choices are all of them; choices below them are valid."""

from __future__ import annotations

import random
from functools import cache
from itertools import product

import numpy as np
import pytest

from planner import Buffer, Pool, Preference, Problem
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.program.program import Program
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.searches import lasting
from solvers.choice.pools.searches.lasting import LastingHeights
from solvers.choice.pools.searches.peaks import Choice
from solvers.model.instance import Instance, Ints
from tests.small.strategies import NIGHTLY

MUCH = 10_000_000


def lowered(problem: Problem) -> Instance:
    return lower(with_preference(problem, Preference.SIZE)).instance


def few_blocks(seed: int) -> Instance:
    draw = random.Random(seed)
    buffers = []
    for number in range(draw.randint(3, 8)):
        begin = draw.randrange(6)
        homes = ("slow",) if draw.random() < 0.2 else ("fast", "slow") if draw.random() < 0.3 else None
        live = ((begin, begin + draw.randint(1, 4)),)
        buffers.append(Buffer(f"b{number}", draw.randint(1, 9), live=live, reads=draw.randint(0, 9), pools=homes))
    sizes = (draw.randint(9, 14) for _ in range(3))
    named = zip(("fast", "middle", "slow"), sizes, strict=True)
    pools = (Pool(name, size, rank=rank) for rank, (name, size) in enumerate(named))
    return lowered(Problem(tuple(buffers), tuple(pools)))


def live_sums(instance: Instance, pools: Ints) -> Ints:
    """(pools, sections) What is live."""
    loads = np.zeros((len(instance.pools), instance.sections), dtype=np.int64)
    sizes = (instance.part_high - instance.part_low)[instance.rect_part]
    spans = zip(instance.part_block[instance.rect_part], instance.rect_start, instance.rect_end, sizes, strict=True)
    for block, begin, end, size in spans:
        loads[pools[block], begin:end] += size
    return loads


def holds(instance: Instance, pools: Ints) -> bool:
    """Is no pool anywhere fuller than at the fullest section, nor than it may be?"""
    loads = live_sums(instance, pools)
    full = loads[:, int(loads.sum(axis=0).argmax())]
    ends = [pool.capacity for pool in instance.pools]
    fits = all(end is None or load <= end for load, end in zip(full.tolist(), ends, strict=True))
    return fits and bool((loads <= full[:, None]).all())


def some_hold(instance: Instance) -> bool:
    homes = [np.flatnonzero(allowed).tolist() for allowed in instance.allowed]
    return any(holds(instance, np.array(pools)) for pools in product(*homes))


def search_of(instance: Instance, program: Program, stop: bool = False) -> LastingHeights:
    most = int(live_sums(instance, np.zeros(instance.blocks, dtype=np.int64)).sum(axis=0).max())
    return LastingHeights(instance, program, instance.class_number, 1, {}, most, lambda: stop)


@pytest.mark.parametrize("seed", range(400 if NIGHTLY else 60))
def test_a_choice_is_found_where_there_is_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lasting, "ALIKE", MUCH)
    monkeypatch.setattr(lasting, "STATES", 3**8)
    instance = few_blocks(seed)
    program = program_of(instance)
    choices = search_of(instance, program).choices(MUCH)
    assert bool(choices) == some_hold(instance)
    for choice in choices:
        assert holds(instance, np.array(choice.pools)[instance.class_number])
        assert all(end <= top for end, top in zip(program.least_tops(choice.pools), choice.tops, strict=True))


def test_both_kinds_of_such_problems_are_drawn() -> None:
    assert 10 < sum(some_hold(few_blocks(seed)) for seed in range(60)) < 50


@cache
def of_many(seed: int) -> tuple[Instance, list[Choice]]:
    instance = lowered(generate("hot", Request(120, seed)))
    return instance, search_of(instance, program_of(instance)).choices(MUCH)


@pytest.mark.parametrize("seed", range(12 if NIGHTLY else 4))
def test_choices_fit_below_heights_that_add_up_to_what_is_live(seed: int) -> None:
    instance, choices = of_many(seed)
    program = program_of(instance)
    assert choices
    assert choices == sorted(choices, key=lambda choice: choice.value)
    live = live_sums(instance, np.zeros(instance.blocks, dtype=np.int64)).sum(axis=0).max()
    for choice in choices:
        assert sum(choice.tops) == live
        assert all(end <= top for end, top in zip(program.least_tops(choice.pools), choice.tops, strict=True))
        assert choice.value == program.value(1, choice.pools, choice.tops)


def test_the_same_work_gives_the_same_choices() -> None:
    instance, choices = of_many(0)
    assert search_of(instance, program_of(instance)).choices(MUCH) == choices


def test_with_too_little_work_nothing_is_followed() -> None:
    instance, _ = of_many(0)
    search = search_of(instance, program_of(instance))
    before = search.work
    assert search.choices(1_000) == []
    assert search.work == before


def test_a_stop_ends_it() -> None:
    instance, _ = of_many(0)
    stopped, whole = search_of(instance, program_of(instance), stop=True), search_of(instance, program_of(instance))
    stopped.choices(MUCH)
    whole.choices(MUCH)
    assert stopped.work * 2 < whole.work


def of_many_pools() -> Instance:
    draw = random.Random(1)
    buffers = [
        Buffer(f"b{n}", draw.randint(1, 60), live=((0, 1 + n % 2),), reads=draw.randint(0, 9)) for n in range(40)
    ]
    pools = [Pool(f"p{rank}", 160, rank=rank) for rank in range(10)]
    return lowered(Problem(tuple(buffers), tuple(pools)))


@pytest.mark.parametrize(
    ("stop", "work", "most"), [(False, 1_000_000, 1_000_000), (False, 10_000, 20_000), (True, MUCH, 1_000)]
)
def test_of_many_pools_no_more_divisions_are_kept_than_there_is_work_for(stop: bool, work: int, most: int) -> None:
    instance = of_many_pools()
    search = search_of(instance, program_of(instance), stop)
    before = search.work
    assert bool(search.choices(work)) == (not stop)
    assert search.work - before <= most


def test_of_very_many_pools_so_few_are_kept_that_memory_holds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = of_many_pools()
    monkeypatch.setattr(lasting, "WIDEST", 100 * len(instance.pools) ** 2)
    search = search_of(instance, program_of(instance))
    before = search.work
    search.choices(1_000_000)
    assert search.work - before < 200_000
