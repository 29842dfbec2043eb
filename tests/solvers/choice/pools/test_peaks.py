"""With the peaks held at their least, pools are lowered from the dearest on."""

from __future__ import annotations

import pytest

from planner import Preference
from planner.generate import Request, generate
from planner.planning.options.preference import with_preference
from planner.planning.placing.lowering import lower
from solvers.choice.pools.peaks import heights_first, is_held_by_peaks
from solvers.choice.pools.program import Program, program_of


def small(kind: str, prefer: Preference) -> Program:
    return program_of(lower(with_preference(generate(kind, Request(12, 5)), prefer)).instance)


def test_only_a_choice_after_peaks_is_held_by_peaks() -> None:
    assert is_held_by_peaks(small("hot", Preference.SIZE), 1)
    assert not is_held_by_peaks(small("hot", Preference.SIZE), 0)
    assert not is_held_by_peaks(small("hot", Preference.SPEED), 1)


@pytest.mark.parametrize("kind", ["pools", "hot"])
def test_the_dearest_pool_is_lowered_first_and_the_cheapest_never(kind: str) -> None:
    program = small(kind, Preference.SIZE)
    first, *heights = heights_first(program, 1).terms
    assert first == program.terms[0]
    assert [term.of_peaks for term in heights] == [(0, 0, 1), (0, 1, 0)]
    assert not any(any(map(any, term.of_homes)) for term in heights)
