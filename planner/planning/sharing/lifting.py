"""From numbers back to names: turns an arrangement of blocks into a sharing."""

from __future__ import annotations

from solvers.model.errors import StopReason
from solvers.sharing.arrangement import Arrangement, totals
from solvers.sharing.bounds import Ranked
from solvers.sharing.bounds import Witness as Blocks
from solvers.sharing.portfolio import Shared
from solvers.sharing.solver import SharingOutcome

from ...facts.digest import digest
from ...model.deadline import in_time
from ...model.errors import echo
from ...model.plan import PlanStatus, gap_to
from ...model.problem import Problem
from ...model.storage import (
    Assignment,
    Kind,
    PoolTotal,
    Sharing,
    SharingCertificate,
    SharingProof,
    StorageObject,
    Witness,
)
from ...model.versions import versions
from .bounds import shortage
from .lowering import LoweredSharing


class Lift:
    """The way back of one problem."""

    def __init__(self, problem: Problem, low: LoweredSharing, seed: int) -> None:
        self._problem, self._low, self._seed = problem, low, seed
        self._digest = digest(problem)
        self._instance = low.lowered.instance
        self._first = {block: i for i, block in reversed(list(enumerate(self._instance.part_block.tolist())))}
        """The first buffer of each block."""

    def may_fit(self, totals: tuple[int, ...]) -> bool:
        """True if the pools have room for objects with these total sizes by kind."""
        sums = self._by_pool(totals)
        return all(pool.size is None or sums[pool.name] <= pool.size for pool in self._problem.pools)

    def sharing(self, shared: Shared) -> Sharing:
        """Return the whole answer."""
        outcome = shared.outcome
        bounds = self._by_pool(outcome.bounds)
        warnings = list(outcome.notes)
        arrangement = outcome.arrangement
        objects, assignments = ((), ()) if arrangement is None else self._objects(arrangement)
        sums = {pool.name: 0 for pool in self._problem.pools}
        for thing in objects:
            sums[thing.kind.pool] += thing.size
        status = self._status(arrangement, outcome.bounds, sum(sums.values()))
        if status is PlanStatus.UNKNOWN and arrangement is not None:
            warnings.append(self._too_much(sums))
        has_plan = status.has_plan
        total = sum(sums.values()) if has_plan else None
        bound = sum(bounds.values())
        is_settled = status in (PlanStatus.OPTIMAL, PlanStatus.INFEASIBLE)
        return Sharing(
            status=status,
            stop=StopReason.PROVED if is_settled else outcome.stop,
            total=total,
            bound=bound,
            gap=gap_to(bound, total),
            pools=tuple(
                PoolTotal(pool.name, pool.size, sums[pool.name] if has_plan else None, bounds[pool.name])
                for pool in self._problem.pools
            ),
            objects=objects if has_plan else (),
            assignments=assignments if has_plan else (),
            solver=outcome.solver if has_plan else None,
            seed=self._seed,
            reproducible=outcome.reproducible,
            versions=versions(outcome.took_part),
            problem_digest=self._digest,
            certificates=self._certificates(shared),
            shortage=shortage(self._problem, bounds) if status is PlanStatus.INFEASIBLE else None,
            warnings=tuple(warnings),
        )

    def bare(self, arrangement: Arrangement) -> Sharing:
        """Return the answer of a run cancelled at that arrangement; it claims no bound."""
        nothing = SharingOutcome(StopReason.CANCELLED, arrangement, (0,) * len(self._low.kinds), reproducible=False)
        return self.sharing(Shared(nothing, tuple(Ranked((), ()) for _ in self._low.kinds)))

    def _by_pool(self, of_kinds: tuple[int, ...]) -> dict[str, int]:
        sums = {pool.name: 0 for pool in self._problem.pools}
        for kind, value in zip(self._low.kinds, of_kinds, strict=True):
            sums[kind.pool] += value
        return sums

    def _status(self, arrangement: Arrangement | None, bounds: tuple[int, ...], total: int) -> PlanStatus:
        if not self.may_fit(bounds):
            return PlanStatus.INFEASIBLE
        if arrangement is None or not self._fits(arrangement):
            return PlanStatus.UNKNOWN
        return PlanStatus.OPTIMAL if total == sum(bounds) else PlanStatus.FEASIBLE

    def _fits(self, arrangement: Arrangement) -> bool:
        return self.may_fit(totals(self._instance, arrangement))

    def _objects(self, arrangement: Arrangement) -> tuple[tuple[StorageObject, ...], tuple[Assignment, ...]]:
        """Return the objects, renumbered in the order in which the buffers first use them."""
        block_of = self._instance.part_block.tolist()
        storage, high = arrangement.storage.tolist(), self._instance.block_high.tolist()
        home = self._instance.allowed.argmax(axis=1).tolist()
        number: dict[int, int] = {}
        sizes: list[int] = []
        kinds: list[Kind] = []
        assignments = []
        for i, buffer in enumerate(in_time(self._problem.buffers, "placing", "buffer")):
            block = block_of[i]
            at = number.setdefault(storage[block], len(number))
            if at == len(sizes):
                sizes.append(0)
                kinds.append(self._low.kinds[home[block]])
            sizes[at] = max(sizes[at], high[block])
            assignments.append(Assignment(buffer.id, at))
        things = (StorageObject(at, size, kind) for at, (size, kind) in enumerate(zip(sizes, kinds, strict=True)))
        return tuple(things), tuple(assignments)

    def _certificates(self, shared: Shared) -> tuple[SharingCertificate, ...]:
        found = []
        provers = shared.outcome.provers or (None,) * len(self._low.kinds)
        for kind, ranked, bound, prover in zip(
            self._low.kinds, shared.ranked, shared.outcome.bounds, provers, strict=True
        ):
            if ranked.value:
                found.append(self._ranked(kind, ranked))
            if prover is not None and bound > ranked.value:
                found.append(SharingCertificate(SharingProof.SEARCH, bound, kind, solver=prover))
        return tuple(found)

    def _ranked(self, kind: Kind, ranked: Ranked) -> SharingCertificate:
        return SharingCertificate(
            SharingProof.RANKED, ranked.value, kind, tuple(self._witness(each) for each in ranked.witnesses)
        )

    def _witness(self, each: Blocks) -> Witness:
        time = None if each.section is None else int(self._low.lowered.times[each.section])
        return Witness(time, tuple(self._problem.buffers[self._first[block]].id for block in each.blocks))

    def _too_much(self, sums: dict[str, int]) -> str:
        over = [pool for pool in self._problem.pools if pool.size is not None and sums[pool.name] > pool.size]
        pool = over[0]
        return (
            f"the best objects that were found for pool {echo(pool.name)} add up to {sums[pool.name]} bytes, "
            f"and it has only {pool.size}; that proves nothing"
        )
