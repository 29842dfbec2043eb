"""The memory map of a sharing: its objects one above the other, in each the buffers that use it in turn."""

from __future__ import annotations

from collections.abc import Mapping

from ..model.errors import BadAnswer, Code, Finding, echo
from ..model.plan import Objective, Placement, Plan, PoolUse
from ..model.problem import Problem
from ..model.storage import Sharing
from .memory_map import MemoryMap, memory_map


def objects_map(problem: Problem, sharing: Sharing) -> MemoryMap:
    """Return the map. Raises BadInput for a sharing of another problem."""
    pools = {pool.name: 0 for pool in problem.pools}
    begin: dict[int, int] = {}
    for position, thing in enumerate(sharing.objects):
        if thing.kind.pool not in pools:
            raise _of_another(f"/objects/{position}/pool", Code.UNKNOWN_POOL, f"pool {echo(thing.kind.pool)}")
        begin[thing.id] = pools[thing.kind.pool]
        pools[thing.kind.pool] += thing.size
    return memory_map(problem, _stacked(problem, sharing, begin, pools))


def _stacked(problem: Problem, sharing: Sharing, begin: Mapping[int, int], ends: Mapping[str, int]) -> Plan:
    """Return the sharing as a plan with addresses: each object begins where the one before ends."""
    sizes = {buffer.id: buffer.size for buffer in problem.buffers}
    pool_of = {thing.id: thing.kind.pool for thing in sharing.objects}
    bounds = {pool.name: pool.bound for pool in sharing.pools}
    places = []
    for position, each in enumerate(sharing.assignments):
        if each.id not in sizes:
            raise _of_another(f"/assignments/{position}/id", Code.UNKNOWN_BUFFER, f"buffer {echo(each.id)}")
        if each.object not in begin:
            raise _of_another(f"/assignments/{position}/object", Code.INVALID_VALUE, f"object {each.object}")
        places.append(Placement(each.id, pool_of[each.object], begin[each.object], sizes[each.id]))
    uses = tuple(
        PoolUse(pool.name, pool.size, ends[pool.name] if places else None, bounds.get(pool.name, 0))
        for pool in problem.pools
    )
    return Plan(
        status=sharing.status,
        stop=sharing.stop,
        peak=sharing.total,
        bound=sharing.bound,
        gap=sharing.gap,
        objective=Objective(sharing.total, sharing.bound, ()),
        pools=uses,
        placements=tuple(places),
        solver=sharing.solver,
        seed=sharing.seed,
        reproducible=sharing.reproducible,
        versions=sharing.versions,
        problem_digest=sharing.problem_digest,
        shortage=sharing.shortage,
    )


def _of_another(pointer: str, code: Code, what: str) -> BadAnswer:
    return BadAnswer(Finding(code, pointer, f"{what} is not in the problem, or not in the sharing"))
