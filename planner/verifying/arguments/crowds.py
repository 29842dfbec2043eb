"""The crowds of a certificate: buffers that are live together, and what each pays for its votes in a pool without room for all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from ...facts.intervals import covers
from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.deadline import look
from ...model.errors import echo
from ...model.plan import PlanCertificate
from .weights import common_denominator

MOST_VOTES = 1_000
"""Of all buffers of a crowd where some have several; so they can be counted soon."""


class Crowds(NamedTuple):
    """Prices as multiples of one unit, 1 / denominator."""

    denominator: int
    due: dict[int, dict[str, int]]
    """The payments by pool, by the first of the buffers that must share one."""
    steps: dict[str, dict[int, int]]
    """By pool: the heights from which what has room there may have one vote more of a crowd, and what that vote pays."""


def read_crowds(places: Places, certificate: PlanCertificate, denominator: int) -> Crowds | str:
    """Return the crowds in units of which all given numbers are multiples; or in words why they prove nothing."""
    common = common_denominator({crowd[-1] for crowd in certificate.crowds}, "price", denominator)
    if isinstance(common, str):
        return common
    due: dict[int, dict[str, int]] = {}
    steps: dict[str, dict[int, int]] = {}
    for pool, time, ids, votes, numerator, under in certificate.crowds:
        look(VERIFYING)
        if numerator < 0:
            return "it has a price below zero"
        if len(votes) != len(ids) or min(votes, default=1) < 1:
            return "it has a crowd that does not give each of its buffers a vote or more"
        if max(votes, default=1) > 1 and sum(votes) > MOST_VOTES:
            return f"it has a crowd with {sum(votes)} votes, of which only {MOST_VOTES} are counted"
        price = numerator * (common // under)
        members = [places.index[id_] for id_ in ids]
        if len({places.tied(member)[0] for member in members}) < len(members):
            return "it has a crowd of which two must share a pool"
        for id_, member, its_votes in zip(ids, members, votes, strict=True):
            if not covers(places.problem.buffers[member].live, time):
                return f"buffer {echo(id_)} is not live at {time}"
            if member in places.partners.exclusions or len(places.group(member).members) > 1:
                return f"buffer {echo(id_)} may share addresses with others"
            mine = due.setdefault(places.tied(member)[0], {})
            mine[pool] = mine.get(pool, 0) + price * its_votes
        here = steps.setdefault(pool, {})
        for height in heights_for_votes([places.problem.buffers[member].size for member in members], votes):
            here[height] = here.get(height, 0) + price
    return Crowds(common, due, steps)


def heights_for_votes(sizes: Sequence[int], votes: Sequence[int]) -> list[int]:
    """Return the least heights below which some of these sizes have one vote together, two, and so on."""
    if max(votes, default=1) == 1:
        return list(accumulate(sorted(sizes)))
    least = {0: 0}
    for size, more in sorted(zip(sizes, votes, strict=True)):
        for count, height in sorted(least.items(), reverse=True):
            least[count + more] = min(least.get(count + more, height + size), height + size)
    heights, most = list[int](), None
    for count in range(sum(votes), 0, -1):
        most = min(height for height in (least.get(count), most) if height is not None)
        heights.append(most)
    return heights[::-1]
