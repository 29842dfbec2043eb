"""A run on later terms of choices, as it stands once its first term is at its least."""

from __future__ import annotations

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.later.held_peaks import HeldPeaks
from solvers.choice.pools.program.writing import program_of
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task


def begun(a_number: int, buffers: int = 60, seed: int = 3) -> HeldPeaks:
    """With so much work for each number in the program."""
    instance = lower(with_preference(generate("hot", Request(buffers, seed)), Preference.SIZE)).instance
    program = program_of(instance)
    start = get("pools_first").solve(instance, Task(Limits(work=100_000)), Silent()).placement
    used = HeldPeaks(instance, program, Task(Limits(work=1), start=start), Silent()).work
    run = HeldPeaks(instance, program, Task(Limits(work=used + a_number * program.entries), start=start), Silent())
    assert run.value is not None
    run.bound = run.value[:1]
    return run
