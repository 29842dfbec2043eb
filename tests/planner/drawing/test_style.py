"""A kind has the same colour in every picture; what is no kind of the formats gets a colour that these leave. Twelve can be told apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest

from planner.drawing.style import DARK, KNOWN, LIGHT, NO_KIND, colours_of, explained

Colours = npt.NDArray[np.float64]


@pytest.mark.parametrize("kinds", [*permutations(("input", "intermediate", "output", None)), ("output",)])
def test_known_kinds_keep_their_colours(kinds: tuple[str | None, ...]) -> None:
    assert colours_of(kinds) == tuple(NO_KIND if kind is None else KNOWN[kind] for kind in kinds)


def test_twelve_kinds_differ_and_the_rest_share_the_grey() -> None:
    others = [f"mine {i}" for i in range(8)]
    colours = colours_of(("weights", "constant", *others, "input", None, "output"))
    assert len(set(colours)) == len(colours) == len(LIGHT)
    many = (*others, "input", *(f"more {i}" for i in range(40)))
    assert set(colours_of(many)) == set(range(len(LIGHT)))
    assert colours_of(many)[12:] == (NO_KIND,) * 37
    named, more = explained(many)
    assert ([many[i] for i, _ in named], more) == ([*many[:12]], 37)
    assert explained(("a", None)) == ([(0, 6), (1, NO_KIND)], 0)


VISIONS = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "without red": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
    "without green": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    "without blue": ((1.256, -0.077, -0.179), (-0.078, 0.931, 0.148), (0.005, 0.691, 0.304)),
}
"""Of linear red, green and blue (Machado and others, 2009)."""


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("kinds", "field"), [(LIGHT, "#f5f7f9"), (DARK, "#1b2026")])
def test_kinds_can_be_told_apart_by_all_eyes(kinds: tuple[str, ...], field: str, vision: str) -> None:
    """Whatever the shade: by lightness where the hue does not tell. The least distance was 0.3 of 100 before there were twelve."""
    shades = [share * channels(kinds) + (1 - share) * channels([field]) for share in (1, 0.72)]
    seen = [lightness_and_hue(np.clip(linear(shade) @ np.array(VISIONS[vision]).T, 0, 1)) for shade in shades]
    apart = np.minimum.reduce([np.linalg.norm(a[:, None] - b[None], axis=2) for a in seen for b in seen])
    apart[np.diag_indices(len(kinds))] = np.inf
    assert apart.min() > (4.9 if vision == "usual" else 2.3)


@pytest.mark.parametrize(("kinds", "ink"), [(LIGHT, "#14181c"), (DARK, "#e8ecf0")])
def test_names_can_be_read_on_every_kind(kinds: tuple[str, ...], ink: str) -> None:
    below, above = (linear(channels(each)) @ (0.2126, 0.7152, 0.0722) + 0.05 for each in (kinds, [ink]))
    assert np.maximum(below / above, above / below).min() > 3.9


def channels(colours: Sequence[str]) -> Colours:
    return np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours]) / 255


def linear(colours: Colours) -> Colours:
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def lightness_and_hue(colours: Colours) -> Colours:
    """Return OKLab, in which distances are as great as they look, from 0 to 100."""
    cones: Colours = np.cbrt(
        colours @ np.array([[0.4122, 0.2119, 0.0883], [0.5363, 0.6807, 0.2817], [0.0514, 0.1074, 0.6300]])
    )
    found: Colours = (
        100 * cones @ np.array([[0.2105, 1.9780, 0.0259], [0.7936, -2.4286, 0.7828], [-0.0041, 0.4506, -0.8087]])
    )
    return found


def test_without_kinds_there_is_one_colour() -> None:
    assert colours_of((None,)) == (0,)
    assert colours_of(()) == ()
