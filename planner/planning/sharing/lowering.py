"""From names to numbers: every kind of storage becomes its own pool, and every buffer as large as the object that it needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from solvers.sharing.arrangement import Arrangement

from ...model.deadline import PREPARING, in_time
from ...model.errors import CannotSolve, Code, Finding
from ...model.problem import Buffer, Constraints, Pool, Problem
from ...model.storage import Kind, Sharing
from ..placing.lowering import Lowered, lower
from .kinds import kinds_of, need

FEW_KINDS = 16
"""Up to this many kinds are accepted for any number of buffers."""
MOST_CELLS = 1 << 20


@dataclass(frozen=True, slots=True)
class LoweredSharing:
    """An instance whose pools are kinds of storage, and what is needed to translate its results."""

    lowered: Lowered
    kinds: tuple[Kind, ...]
    """The kind of each pool of the instance."""


def lower_sharing(problem: Problem) -> LoweredSharing:
    """Return the instance of a sound problem. Raises what kinds_of raises, and CannotSolve for too many kinds."""
    kinds = kinds_of(problem)
    number = {kind: str(n) for n, kind in enumerate(dict.fromkeys(kinds))}
    _refuse_many(len(number), len(problem.buffers))
    # with one kind there is nothing to distinguish
    homes = {kind: (name,) if len(number) > 1 else None for kind, name in number.items()}
    pools = {pool.name: pool for pool in problem.pools}

    def bare(buffer: Buffer, kind: Kind) -> Buffer:
        return Buffer(buffer.id, need(buffer, pools[kind.pool]), live=buffer.live, pools=homes[kind])

    constraints = problem.constraints
    stripped = replace(
        problem,
        buffers=tuple(map(bare, in_time(problem.buffers, PREPARING, "buffer"), kinds)),
        pools=tuple(Pool(name) for name in number.values()) or (Pool("0"),),
        constraints=Constraints(constraints.conflicts, constraints.exclusions, constraints.colocations),
        terms=Problem(()).terms,
    )
    return LoweredSharing(lower(stripped), tuple(number) or (Kind(problem.pools[0].name),))


def _refuse_many(kinds: int, buffers: int) -> None:
    """Refuse too many kinds: solvers keep tables of buffers times kinds."""
    if kinds > FEW_KINDS and kinds * buffers > MOST_CELLS:
        text = (
            f"the {buffers} buffers need {kinds} kinds of storage objects (one for each pool, device and type), "
            f"and the two multiplied may be {MOST_CELLS:,} at most; kinds share nothing, so plan some of them at a time"
        )
        raise CannotSolve(Finding(Code.TOO_LARGE, "/buffers", text))


def lower_start(problem: Problem, lowered: Lowered, start: Sharing) -> Arrangement | None:
    """Return which blocks use one object; None if a sharing lacks buffers or tears blocks apart. Other rules are not checked."""
    object_of = {each.id: each.object for each in start.assignments}
    if not all(buffer.id in object_of for buffer in problem.buffers):
        return None
    number: dict[int, int] = {}
    found = [number.setdefault(object_of[buffer.id], len(number)) for buffer in problem.buffers]
    of_part = np.array(found, dtype=np.int64)
    part_block = lowered.instance.part_block
    storage = np.zeros(lowered.instance.blocks, dtype=np.int64)
    storage[part_block] = of_part
    return Arrangement(storage) if (storage[part_block] == of_part).all() else None
