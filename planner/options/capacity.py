"""Other pool sizes than the problem's, for trying out what fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..errors import echo
from ..problem import Problem
from .options import bad_option


def with_capacity(problem: Problem, capacity: int | Mapping[str, int] | None) -> Problem:
    """The problem with other pool sizes."""
    if capacity is None:
        return problem
    if isinstance(capacity, int):
        if len(problem.pools) != 1:
            raise bad_option("capacity", f"the problem has {len(problem.pools)} pools: say which one, as NAME=BYTES")
        capacity = {problem.pools[0].name: capacity}
    unknown = [name for name in capacity if name not in {pool.name for pool in problem.pools}]
    if unknown:
        raise bad_option("capacity", f"the problem has no pool {echo(unknown[0])}")
    if min(capacity.values(), default=0) < 0:
        raise bad_option("capacity", "a capacity cannot be negative")
    pools = tuple(replace(pool, size=capacity.get(pool.name, pool.size)) for pool in problem.pools)
    return replace(problem, pools=pools)
