"""Second terms, of choices after peaks or of peaks after the choice, are chosen with peaks to the last unit where sizes are no multiples of the alignment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random

import pytest

from planner import Buffer, Pool, Preference, Problem
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools import budget
from solvers.choice.pools.program.program import Heights, Pools, Program
from solvers.choice.pools.program.writing import program_of
from solvers.choice.pools.runs.in_steps import InSteps
from solvers.geometry.simpler import stepped
from solvers.heuristics.greedy.solver import Greedy
from solvers.model.instance import Instance
from solvers.model.objective import evaluate
from solvers.model.outcome import Value
from solvers.model.solver import Limits, Silent, Task

STEP = 8


def drawn(seed: int, preference: Preference) -> Instance:
    """Seven buffers, most of them no multiples of the alignment, in two memories."""
    chance = Random(seed)
    buffers = []
    for number in range(7):
        begin = chance.randint(0, 4)
        live = ((begin, begin + chance.randint(1, 4)),)
        buffers.append(Buffer(f"b{number}", chance.randint(1, 30), live=live, accesses=chance.randint(1, 9)))
    pools = (Pool("fast", chance.randint(30, 60), STEP), Pool("slow", None, STEP, rank=1))
    return lower(with_preference(Problem(tuple(buffers), pools), preference)).instance


def begun(instance: Instance) -> InSteps:
    """A run that has nothing but greedy's placement."""
    start = Greedy().solve(instance, Task(Limits(work=1)), Silent()).placement
    return InSteps(instance, program_of(instance), Task(Limits(), start=start), Silent())


def values(program: Program) -> Iterator[list[int]]:
    """What each choice is worth that does not exceed the capacities."""
    for pools in product(*program.homes):
        ends = program.ends(pools)
        if all(room.capacity is None or end <= room.capacity for room, end in zip(program.rooms, ends, strict=True)):
            yield [program.value(index, pools, ends) for index in range(2)]


@pytest.mark.parametrize("preference", [Preference.SIZE, Preference.SPEED])
@pytest.mark.parametrize("seed", range(10))
def test_the_best_choice_with_the_first_term_no_worse_bounds_the_second(
    seed: int, preference: Preference, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(InSteps, "_is_for_ends", lambda *_: True)
    instance = drawn(seed, preference)
    run = begun(instance)
    assert run.value is not None
    first, second = run.value[:2]
    run._choose_at_ends(0)
    assert not run.proven
    run._choose_at_ends(1)
    run.asking.close()
    least = min(later for earlier, later in values(run.program) if earlier <= first)
    assert run.proven[1] == ((first,), least)
    assert run.best is not None
    assert run.value == evaluate(instance, run.best)
    assert run.value[:2] <= (first, second)


def test_it_is_asked_only_where_it_helps() -> None:
    """Of choices where much is open after whole steps; of peaks where little is."""
    for preference, near in ((Preference.SIZE, budget.FAR), (Preference.SPEED, budget.NEAR)):
        run = begun(drawn(1, preference))
        assert run.value is not None
        (first, *_), is_of_peaks = run.value, preference is Preference.SPEED
        for second, is_asked in ((near * 1_000, is_of_peaks), (1_000, not is_of_peaks)):
            run.value, run.bound = (first, second + 1_000), (first, second)
            run.wide = None
            assert run._is_for_ends(1) is (is_asked and is_of_peaks)
            run.wide = stepped(run.instance)
            assert run._is_for_ends(1) is is_asked
        run.asking.close()


def test_without_blocks_that_are_rounded_up_nothing_is_asked() -> None:
    run = begun(drawn(1, Preference.SIZE))
    run.program = replace(run.program, pads=())
    run._choose_at_ends(1)
    run.asking.close()
    assert not run.proven


def test_where_no_choice_near_has_the_least_peaks_pools_may_end_farther_away(monkeypatch: pytest.MonkeyPatch) -> None:
    run = begun(drawn(1, Preference.SIZE))
    assert run.value is not None
    assert run.best is not None
    run.bound = run.value[:1]
    asked = list[tuple[Value, int]]()

    def nothing(_: Program, __: Pools, heights: Heights, held: Value) -> None:
        asked.append((held, max(high - low for low, high in heights)))

    monkeypatch.setattr(run, "_choose_near", nothing)
    run._lower_ends(run.best)
    run.asking.close()
    assert [held for held, _ in asked] == [run.bound, run.bound, ()]
    near, far, again = (width for _, width in asked)
    assert far > near == again
