"""The colours of a map of block characters: each kind has some of its own, and neighbours differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
from rich.text import Text

from planner.drawing import MemoryMap
from planner.drawing.style import LIGHT, NO_KIND, colours_of, explained

from .consoles import plain

OF_ANY = (74, 215, 108, 176, 186, 80, 140, 180, 174, 109, 147, 150)
"""Where there are no kinds."""
SHADES = "█▓▒░"
"""Used without colours."""
LETTERS = "color(16)"
SHADES_OF_KIND = 4
"""So many colours suffice for neighbours of one kind to differ."""
NEEDED, TOO_MUCH = 1, 2
"""What a cell without a buffer shows where nothing fits."""

Cells = npt.NDArray[np.int32]
"""A buffer's number plus one in each cell; 0 if there is none. The first row is the highest."""


def _by_kind() -> tuple[tuple[int, ...], ...]:
    """Return for each colour of the pictures the nearest of the 256, each of which belongs to the one colour it is nearest to."""
    wanted = [_channels(int(colour[1:], 16)) for colour in LIGHT]
    levels = (0, 95, 135, 175, 215, 255)
    cube = {16 + 36 * r + 6 * g + b: (levels[r], levels[g], levels[b]) for r, g, b in product(range(6), repeat=3)}
    cube |= {232 + i: (8 + 10 * i,) * 3 for i in range(24)}
    found: list[list[tuple[float, int]]] = [[] for _ in wanted]
    for number, colour in cube.items():
        away, kind = min((_distance(colour, each), kind) for kind, each in enumerate(wanted))
        found[kind].append((away, number))
    return tuple(tuple(number for _, number in sorted(each)[:SHADES_OF_KIND]) for each in found)


def _channels(colour: int) -> tuple[int, int, int]:
    return colour >> 16, colour >> 8 & 255, colour & 255


def _distance(one: tuple[int, int, int], other: tuple[int, int, int]) -> float:
    """Return how different two colours look: differences in red count more the redder they are."""
    red, green, blue = (a - b for a, b in zip(one, other, strict=True))
    mean = (one[0] + other[0]) / 512
    return (2 + mean) * red**2 + 4 * green**2 + (3 - mean) * blue**2


BY_KIND = _by_kind()
"""Of 256, in the order of the pictures' colours."""


@dataclass(frozen=True, slots=True)
class Colours:
    """How each number in the cells looks."""

    of: Mapping[int, int]
    """The colour of 256, or without colours the number of the shade."""
    are_colours: bool

    def style(self, number: int) -> str:
        return f"color({self.of[number]})"

    def shade(self, number: int) -> str:
        return SHADES[self.of[number]]


def colours_for(drawn: MemoryMap, cells: Cells, *, are_colours: bool) -> Colours:
    """Choose a colour for everything in the cells, another than those of neighbours if there is one."""
    kinds = colours_of(drawn.kinds)
    are_kinds = are_colours and drawn.why_empty is None and has_kinds(drawn)

    def choices(number: int) -> Sequence[int]:
        if not are_colours:
            return range(len(SHADES))
        return BY_KIND[kinds[drawn.kind[number - 1]]] if are_kinds else OF_ANY

    beside = _neighbours(cells)
    of: dict[int, int] = {}
    for number in np.unique(cells[cells > 0]).tolist():
        free = choices(number)
        first = 0 if are_kinds else number - 1  # a kind has its nearest colour, unless a neighbour has it
        turned = [free[(first + i) % len(free)] for i in range(len(free))]
        taken = {of.get(other) for other in beside.get(number, ())}
        of[number] = next((colour for colour in turned if colour not in taken), turned[0])
    return Colours(of, are_colours)


def _neighbours(cells: Cells) -> dict[int, set[int]]:
    """Return which numbers touch which."""
    found: dict[int, set[int]] = {}
    for one, other in ((cells[:, 1:], cells[:, :-1]), (cells[1:], cells[:-1])):
        meet = (one != other) & (one > 0) & (other > 0)
        for a, b in np.unique(np.stack([one[meet], other[meet]], axis=1), axis=0).tolist():
            found.setdefault(a, set()).add(b)
            found.setdefault(b, set()).add(a)
    return found


def has_kinds(drawn: MemoryMap) -> bool:
    return any(kind is not None for kind in drawn.kinds)


def legend(drawn: MemoryMap, width: int, *, are_colours: bool) -> Iterator[Text]:
    """Return lines that say what the colours mean."""
    if drawn.why_empty is not None:
        marks = OF_ANY if are_colours else SHADES
        entries = [(marks[NEEDED - 1], "needed"), (marks[TOO_MUCH - 1], "more than there is")]
    elif are_colours and has_kinds(drawn):
        named, more = explained(drawn.kinds)
        entries = [(BY_KIND[colour][0], (drawn.kinds[i] or "no kind")[:40]) for i, colour in named]
        if more:
            entries.append((BY_KIND[NO_KIND][0], f"{more} more kinds"))
    else:
        yield Text(f"{'colours' if are_colours else 'shades'} tell neighbours apart")
        return
    line = Text()
    for mark, said in entries:
        entry = Text.assemble(("██", f"color({mark})") if are_colours else f"{mark}{mark}", " ", plain(said), "   ")
        if line and line.cell_len + entry.cell_len - 3 > width:
            yield line
            line = Text()
        line += entry
    yield line
