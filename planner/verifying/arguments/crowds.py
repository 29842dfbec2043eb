"""The crowds of a certificate: buffers that are live together, and what each pays for being in a pool without room for all."""

from __future__ import annotations

from typing import NamedTuple

from ...facts.possible_places import Places
from ...facts.sweep import VERIFYING
from ...model.deadline import look
from ...model.errors import echo
from ...model.plan import PlanCertificate
from .weights import common_denominator, live_at


class Crowds(NamedTuple):
    """Prices as multiples of one unit, 1 / denominator."""

    denominator: int
    due: dict[int, dict[str, int]]
    """The payments by pool, by the first of the buffers that must share one."""
    steps: dict[str, dict[int, int]]
    """By pool: the heights from which one more of a crowd has room, and what it pays."""


def read_crowds(places: Places, certificate: PlanCertificate, denominator: int) -> Crowds | str:
    """Return the crowds in units of which all given numbers are multiples; or in words why they prove nothing."""
    common = common_denominator({crowd[4] for crowd in certificate.crowds}, "price", denominator)
    if isinstance(common, str):
        return common
    excluded = {places.index[id_] for pair in places.problem.constraints.exclusions for id_ in pair}
    due: dict[int, dict[str, int]] = {}
    steps: dict[str, dict[int, int]] = {}
    for pool, time, ids, numerator, under in certificate.crowds:
        look(VERIFYING)
        if numerator < 0:
            return "it has a price below zero"
        price = numerator * (common // under)
        members = [places.index[id_] for id_ in ids]
        if len({places.tied(member)[0] for member in members}) < len(members):
            return "it has a crowd of which two must share a pool"
        for id_, member in zip(ids, members, strict=True):
            if not live_at(places.problem.buffers[member], time):
                return f"buffer {echo(id_)} is not live at {time}"
            if member in excluded or len(places.group(member).members) > 1:
                return f"buffer {echo(id_)} may share addresses with others"
            mine = due.setdefault(places.tied(member)[0], {})
            mine[pool] = mine.get(pool, 0) + price
        height, here = 0, steps.setdefault(pool, {})
        for size in sorted(places.problem.buffers[member].size for member in members):
            height += size
            here[height] = here.get(height, 0) + price
    return Crowds(common, due, steps)
