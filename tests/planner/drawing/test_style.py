"""A kind has the same colour in every picture; what is no kind of the formats gets a colour that these leave."""

from __future__ import annotations

from itertools import permutations

import pytest

from planner.drawing.style import KNOWN, NO_KIND, colours_of


@pytest.mark.parametrize("kinds", [*permutations(("input", "intermediate", "output", None)), ("output",)])
def test_known_kinds_keep_their_colours(kinds: tuple[str | None, ...]) -> None:
    assert colours_of(kinds) == tuple(NO_KIND if kind is None else KNOWN[kind] for kind in kinds)


def test_other_kinds_differ_from_all_that_are_there_as_long_as_colours_last() -> None:
    others = [f"mine {i}" for i in range(NO_KIND - 2)]
    colours = colours_of(("weights", "constant", *others[:-1], "input", None))
    assert len(set(colours)) == len(colours) == NO_KIND + 1
    assert set(colours_of((*others, "input", *(f"more {i}" for i in range(40))))) == set(range(NO_KIND))


def test_without_kinds_there_is_one_colour() -> None:
    assert colours_of((None,)) == (0,)
    assert colours_of(()) == ()
