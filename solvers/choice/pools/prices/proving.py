"""The prices of a relaxation as a certificate that anybody can add up again (see solvers.bounds.prices.priced_room)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import TypeAlias

import numpy as np

from ....bounds.prices.priced_room import priced_value
from ....kernels.votes import MOST_VOTES, least_for_votes
from ....model.instance import Instance, Ints
from ....model.linear_terms import LINEAR, peak_price
from ....model.outcome import Certificate, Proof
from ..program.program import Program
from .crowds import FINEST, FINEST_OF_LATER, Relaxed

LONGEST = 58
"""The dearest price has at most this many bits, which readers accept."""
MOST_WEIGHTS = 4_000
MOST_MEMBERS = 20_000
"""Members of all crowds together. The dearest crowds are kept: a certificate with more would be longer than the plan."""

Priced: TypeAlias = tuple[int, int, tuple[int, ...], tuple[int, ...], int, int]
"""A crowd as a certificate names it: (pool, section, parts, votes, numerator, denominator)."""


def certificate_of(
    instance: Instance, program: Program, number: Ints, relaxed: Relaxed, held: Sequence[int] = ()
) -> Certificate:
    """The certificate of what the prices prove about the term after those that are held. `number` is the class of each block."""
    prices = [*(price for _, price in (*relaxed.of_rows, *relaxed.of_crowds)), *relaxed.of_held]
    dearest = max(prices, default=0.0)
    scale = min(1 << max(LONGEST - int(np.frexp(dearest)[1]), 0), FINEST_OF_LATER if held else FINEST)
    kept = zip(instance.terms, held, relaxed.of_held, strict=False)
    of_held = [(term, most, round(price * scale), scale) for term, most, price in kept if term in LINEAR]
    term = instance.terms[len(held)]
    of_peaks = scale * peak_price(instance, term)
    of_peaks += sum(price * peak_price(instance, earlier) for earlier, _, price, _ in of_held)
    weights = _weights(instance, program, relaxed, scale, of_peaks)
    members = _Members(instance, number)
    crowds = (*_grounds(members, instance, weights, scale, of_peaks), *_crowds(members, program, relaxed, scale))
    return Certificate(
        Proof.PRICED_ROOM,
        priced_value(instance, weights, crowds, term, of_held),
        weights=weights,
        crowds=crowds,
        term=term if held else None,
        held=tuple(each for each in of_held if each[2] > 0),
    )


def _weights(
    instance: Instance, program: Program, relaxed: Relaxed, scale: int, of_peaks: int
) -> tuple[tuple[int, int, int, int], ...]:
    """The prices of rows; in an unlimited pool no more than a unit of its peak costs, since rounded up they would prove nothing at all."""
    found = list[tuple[int, int, int, int]]()
    dearest = sorted(relaxed.of_rows, key=lambda each: -each[1])[:MOST_WEIGHTS]
    for number, pool in enumerate(instance.pools):
        rows = ((program.rows[row], round(price * scale)) for row, price in dearest)
        here = [(row.section, whole) for row, whole in rows if row.pool == number]
        total, most = sum(whole for _, whole in here), of_peaks * pool.cost
        if pool.capacity is None and total > most:
            here = [(section, whole * most // total) for section, whole in here]
        found += [(number, section, whole, scale) for section, whole in here if whole]
    return tuple(sorted(found))


def _grounds(
    members: _Members, instance: Instance, weights: Sequence[tuple[int, int, int, int]], scale: int, of_peaks: int
) -> Iterator[Priced]:
    """For each pool whose peak costs more than its rows, a crowd of who is there in any case: a lower peak has no room for one of them."""
    for number, pool in enumerate(instance.pools):
        rise = of_peaks * pool.cost - sum(price for p, _, price, _ in weights if p == number)
        section, parts = members.fullest(number)
        price = rise * sum(members.size[part] for part in parts)
        shorter = max(price.bit_length() - LONGEST, 0)
        if price > 0 and scale >> shorter and len(parts) <= MOST_MEMBERS:
            yield number, section, tuple(parts), (1,) * len(parts), price >> shorter, scale >> shorter


def _crowds(members: _Members, program: Program, relaxed: Relaxed, scale: int) -> tuple[Priced, ...]:
    """The prices of crowds, which also name who is there in any case: no one else has that room."""
    crowds, named = list[Priced](), 0
    for crowd, price in sorted(relaxed.of_crowds, key=lambda each: (-each[1], each[0])):
        row, whole = program.rows[crowd.row], round(price * scale)
        found = [
            (members.at(group, row.section), votes) for group, votes in zip(crowd.classes, crowd.votes, strict=True)
        ]
        counted = [(part, votes) for part, votes in found if part is not None]
        if not counted or not whole:
            continue
        counted += members.settled(row.pool, row.section, counted)
        named += len(counted)
        if named > MOST_MEMBERS:
            break
        parts, votes = zip(*counted, strict=True)
        crowds.append((row.pool, row.section, parts, votes, whole, scale))
    return tuple(crowds)


class _Members:
    """The part that stands for a class in a crowd: the largest that is live in the section, of blocks with one part and no exclusions."""

    def __init__(self, instance: Instance, number: Ints) -> None:
        is_single_part = np.bincount(instance.part_block, minlength=instance.blocks) == 1
        plain = is_single_part[instance.part_block]
        plain[instance.exclusions.reshape(-1)] = False
        self.size = (instance.part_high - instance.part_low).tolist()
        self._of_class: dict[int, list[tuple[int, int, int]]] = {}
        settled: dict[int, list[tuple[int, int, int, int]]] = {}
        rows = zip(instance.rect_part.tolist(), instance.rect_start.tolist(), instance.rect_end.tolist(), strict=True)
        group, is_plain = number[instance.part_block].tolist(), plain.tolist()
        home = np.where(instance.has_one_home, instance.allowed.argmax(axis=1), -1)[instance.part_block].tolist()
        for part, start, end in rows:
            if is_plain[part] and self.size[part]:
                self._of_class.setdefault(group[part], []).append((start, end, part))
                if home[part] >= 0:
                    settled.setdefault(home[part], []).append((start, end, part, group[part]))
        self._settled = {pool: np.array(rows, dtype=np.int64) for pool, rows in settled.items()}
        """By pool, of those that may be nowhere else: start, end, part and class."""

    def at(self, group: int, section: int) -> int | None:
        """The part, by its number."""
        live = [
            (self.size[part], -part) for start, end, part in self._of_class.get(group, ()) if start <= section < end
        ]
        return -max(live)[1] if live else None

    def fullest(self, pool: int) -> tuple[int, list[int]]:
        """The section where most of the pool is taken by those who are there in any case, and them."""
        change: dict[int, int] = {}
        for start, end, part, _ in self._settled[pool].tolist() if pool in self._settled else ():
            change[start] = change.get(start, 0) + self.size[part]
            change[end] = change.get(end, 0) - self.size[part]
        loads = list(accumulate(change[section] for section in sorted(change)))
        section = sorted(change)[loads.index(max(loads))] if loads else 0
        return section, self._settled_at(pool, section)

    def _settled_at(self, pool: int, section: int) -> list[int]:
        if pool not in self._settled:
            return []
        rows, largest = self._settled[pool], dict[int, int]()
        for _, _, part, group in rows[(rows[:, 0] <= section) & (section < rows[:, 1])].tolist():
            known = largest.setdefault(group, part)
            if (self.size[part], -part) > (self.size[known], -known):
                largest[group] = part
        return list(largest.values())

    def settled(self, pool: int, section: int, crowd: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Who is in the pool in any case, the largest first, each with more votes than others of the crowd have in the same room."""
        parts = self._settled_at(pool, section)
        steps = least_for_votes([self.size[part] for part, _ in crowd], [votes for _, votes in crowd])
        found, left = list[tuple[int, int]](), MOST_VOTES - len(steps)
        for part in sorted(parts, key=lambda part: (-self.size[part], part)):
            votes = bisect_right(steps, self.size[part]) + 1
            if votes <= left:
                found.append((part, votes))
                left -= votes
        return found
