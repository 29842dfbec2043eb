"""The prices of a relaxation as a certificate that anybody can add up again (see solvers.bounds.priced_room)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....bounds.priced_room import priced_value
from ....model.instance import Instance, Ints
from ....model.linear_terms import LINEAR
from ....model.outcome import Certificate, Proof
from ..program import Program
from .crowds import FINEST, FINEST_OF_LATER, Relaxed

LONGEST = 58
"""The dearest price has at most this many bits, which readers accept."""
MOST_WEIGHTS = 4_000
MOST_MEMBERS = 20_000
"""Members of all crowds together. The dearest crowds are kept: a certificate with more would be longer than the plan."""


def certificate_of(
    instance: Instance, program: Program, number: Ints, relaxed: Relaxed, held: Sequence[int] = ()
) -> Certificate:
    """The certificate of what the prices prove about the term after those that are held. `number` is the class of each block."""
    prices = [*(price for _, price in (*relaxed.of_rows, *relaxed.of_crowds)), *relaxed.of_held]
    dearest = max(prices, default=0.0)
    scale = min(1 << max(LONGEST - int(np.frexp(dearest)[1]), 0), FINEST_OF_LATER if held else FINEST)
    weights = []
    for row, price in sorted(relaxed.of_rows, key=lambda each: -each[1])[:MOST_WEIGHTS]:
        if whole := round(price * scale):
            weights.append((program.rows[row].pool, program.rows[row].section, whole, scale))
    members, crowds, named = _Members(instance, number), [], 0
    for crowd, price in sorted(relaxed.of_crowds, key=lambda each: (-each[1], each[0])):
        here = program.rows[crowd.row]
        found = [
            (members.at(group, here.section), votes) for group, votes in zip(crowd.classes, crowd.votes, strict=True)
        ]
        counted = [(part, votes) for part, votes in found if part is not None]
        named += len(counted)
        if named > MOST_MEMBERS:
            break
        if counted and (whole := round(price * scale)):
            parts, votes = zip(*counted, strict=True)
            crowds.append((here.pool, here.section, parts, votes, whole, scale))
    kept = zip(instance.terms, held, relaxed.of_held, strict=False)
    of_held = [(term, most, round(price * scale), scale) for term, most, price in kept if term in LINEAR]
    term = instance.terms[len(held)]
    value = priced_value(instance, sorted(weights), crowds, term, of_held)
    return Certificate(
        Proof.PRICED_ROOM,
        value,
        weights=tuple(sorted(weights)),
        crowds=tuple(crowds),
        term=term if held else None,
        held=tuple(each for each in of_held if each[2] > 0),
    )


class _Members:
    """The part that stands for a class in a crowd: the largest that is live in the section, of blocks with one part and no exclusions."""

    def __init__(self, instance: Instance, number: Ints) -> None:
        is_single_part = np.bincount(instance.part_block, minlength=instance.blocks) == 1
        plain = is_single_part[instance.part_block]
        plain[instance.exclusions.reshape(-1)] = False
        size = instance.part_high - instance.part_low
        self._of_class: dict[int, list[tuple[int, int, int, int]]] = {}
        rows = zip(instance.rect_part.tolist(), instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True)
        group, sizes, is_plain = number[instance.part_block].tolist(), size.tolist(), plain.tolist()
        for part, start, end in rows:
            if is_plain[part] and sizes[part]:
                self._of_class.setdefault(group[part], []).append((start, end, sizes[part], part))

    def at(self, group: int, section: int) -> int | None:
        """The part, by its number."""
        live = [(size, -part) for start, end, size, part in self._of_class.get(group, ()) if start <= section < end]
        return -max(live)[1] if live else None
