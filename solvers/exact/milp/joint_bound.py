"""A bound on several pools at once: a linear program finds weights, solvers.bounds.weighted_sections computes the exact bound from them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

from ...bounds.prices.priced_room import can_price, class_costs, priced_value, proof_of
from ...bounds.weighted_sections import LiveHeights, Weights, homes_of_classes, peak_sections, sharing_shortage
from ...model.errors import SolverFailed, StopReason, Unsupported
from ...model.instance import Instance
from ...model.libraries import PULP, Library, missing, require_available
from ...model.linear_terms import peak_price
from ...model.outcome import Certificate, Outcome, Proof
from ...model.solver import Control, Feature, Solver, Task
from .cbc import find_cbc, no_cbc, read_duals
from .process import run_owned

MOST_NUMBERS = 1_000_000
"""Largest size of the linear program, in coefficients."""
MOST_BLOCKS = 2_000
"""With more blocks the program takes many seconds, and solvers.bounds.room_prices comes as close in one."""
WORK_PER_NUMBER = 30
"""The work of solving the linear program, for each coefficient; with less it is not begun, since CBC counts none."""
DENOMINATORS = (1, 2, 3, 4, 6, 12, 60, 840, 10_000, 1_000_000, 10**9, 10**12)
"""Weights are rounded to these denominators in turn; simple fractions are usually exact."""

Duals = Mapping[tuple[int, int], float]
"""(pool, section) -> the increase of the optimum for each unit of live memory there."""


class PoolSharing(Solver):
    """Proves a bound: however blocks are distributed over their pools, a weighted sum of live memory remains. Gives no placement."""

    name: ClassVar[str] = "pool_sharing"
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    sandboxed: ClassVar[bool] = True
    libraries: ClassVar[tuple[Library, ...]] = (PULP,)

    def unavailable(self) -> str | None:
        return missing(self.libraries) or no_cbc()

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """A bound on a linear first term, or a proof that the capacities are too small."""
        require_available(self)
        return pool_sharing_bound(instance, task, control)


def pool_sharing_bound(instance: Instance, task: Task, control: Control) -> Outcome:
    """The best bound that weights on sections give. It is exact: the linear program's numbers only suggest the weights."""
    loads = _loads(instance)
    each, work = WORK_PER_NUMBER * _numbers(instance, loads), 0
    left = each * 2 if task.limits.work is None else task.limits.work
    if task.start is None and any(spec.capacity is not None for spec in instance.pools) and each <= left:
        work += each
        duals, stop = _solve(instance, loads, control, priced=False)
        if stop is not None:
            return Outcome(stop, reproducible=False)
        short, weights = _best(instance, duals, sharing_shortage, capped=False)
        if short > 0:
            proof = Certificate(Proof.POOL_SHARING, short, weights=weights)
            return Outcome(
                StopReason.PROVED, certificates=(proof,), infeasible=True, solver=PoolSharing.name, work=work
            )
    if not can_price(instance) or work + each > left:
        return Outcome(StopReason.WORK_LIMIT, work=work)
    work += each
    duals, stop = _solve(instance, loads, control, priced=True)
    if stop is not None:
        return Outcome(stop, reproducible=False)
    bound, weights = _best(instance, duals, priced_value, capped=True)
    if bound <= 0:
        return Outcome(StopReason.WORK_LIMIT, work=work)
    control.bound((bound,))
    return Outcome(
        StopReason.WORK_LIMIT,
        bound=(bound,),
        certificates=(Certificate(proof_of(instance), bound, weights=weights),),
        work=work,
    )


def _numbers(instance: Instance, loads: Mapping[int, Mapping[int, int]]) -> int:
    """How many coefficients the linear program has: one for each class that is live in a section, in each of its pools."""
    homes = homes_of_classes(instance)
    return sum(len(homes[group]) for here in loads.values() for group in here)


def _loads(instance: Instance) -> dict[int, dict[int, int]]:
    """section -> class of blocks -> its live height there."""
    if instance.blocks > MOST_BLOCKS:
        raise Unsupported(PoolSharing.name, f"too large: more than {MOST_BLOCKS} blocks")
    lengths = instance.rect_end - instance.rect_start
    if int(lengths.sum()) * len(instance.pools) > MOST_NUMBERS:
        raise Unsupported(PoolSharing.name, f"too large: more than {MOST_NUMBERS} blocks live in sections")
    loads: dict[int, dict[int, int]] = {}
    for section, heights in LiveHeights(instance).over(peak_sections(instance)):
        here: dict[int, int] = {}
        for block, height in heights.items():
            group = int(instance.pool_class[block])
            here[group] = here.get(group, 0) + height
        loads[section] = here
    return loads


def _solve(
    instance: Instance, loads: dict[int, dict[int, int]], control: Control, *, priced: bool
) -> tuple[Duals, StopReason | None]:
    """The linear program's dual weights: of the first term's cost within capacities or, if not priced, of the excess over the capacities."""
    problem, rows = _program(instance, loads, priced=priced)
    cbc = find_cbc()
    assert cbc is not None
    with tempfile.TemporaryDirectory(prefix="memplan-lp-") as name:
        folder = Path(name)
        _, _, constraints, _ = problem.writeMPS(str(folder / "model.mps"), rename=1)
        command = [str(cbc), "model.mps", "-initialSolve", "-printingOptions", "all", "-solution", "answer.sol"]
        code, killed = run_owned(command, folder, lambda line: control.log(f"cbc: {line}"), control.stopped)
        if killed is not None:
            return {}, killed
        if code != 0 or not (folder / "answer.sol").exists():
            raise SolverFailed(PoolSharing.name, f"cbc ended with {code}")
        found = read_duals((folder / "answer.sol").read_text())
    return {place: found.get(constraints[row], 0.0) for row, place in rows.items()}, None


def _program(
    instance: Instance, loads: dict[int, dict[int, int]], *, priced: bool
) -> tuple[Any, dict[str, tuple[int, int]]]:
    """The program, and for each row that requires a pool to hold what is live, its pool and section."""
    import pulp

    problem = pulp.LpProblem("sharing", pulp.LpMinimize)
    homes = homes_of_classes(instance)
    unit = max((max(here.values(), default=0) for here in loads.values()), default=0) or 1
    share: dict[tuple[int, int], Any] = {}
    for group in sorted({group for here in loads.values() for group in here}):
        for pool in homes[group]:
            share[group, pool] = problem.add_variable(f"share_{group}_{pool}", 0, 1)
        if homes[group]:
            problem.addConstraint(sum(share[group, pool] for pool in homes[group]) == 1, f"whole_{group}")
    peaks: dict[int, Any] = {}
    for pool, spec in enumerate(instance.pools):
        capacity = None if spec.capacity is None else spec.capacity / unit
        if priced:
            peaks[pool] = problem.add_variable(f"peak_{pool}", 0, capacity)
        elif capacity is not None:
            peaks[pool] = problem.add_variable(f"peak_{pool}", capacity, None)
    price = peak_price(instance, instance.terms[0])
    goal = sum((price * instance.pools[p].cost if priced else 1) * peak for p, peak in peaks.items())
    if priced:
        costs = class_costs(instance)
        goal = goal + sum(costs[group][pool] / unit * part for (group, pool), part in share.items() if group in costs)
    problem.setObjective(goal + 0)
    rows: dict[str, tuple[int, int]] = {}
    for section, here in loads.items():
        for pool, peak in peaks.items():
            mine = [height / unit * share[group, pool] for group, height in here.items() if (group, pool) in share]
            if mine:
                row = f"live_{pool}_{section}"
                problem.addConstraint(peak - sum(mine) >= 0, row)
                rows[row] = pool, section
    return problem, rows


def _best(
    instance: Instance, duals: Duals, worth: Callable[[Instance, Weights], int], *, capped: bool
) -> tuple[int, tuple[tuple[int, int, int, int], ...]]:
    """The rounding of the weights with the best bound, the simplest of equals."""
    best: tuple[int, tuple[tuple[int, int, int, int], ...]] = (0, ())
    for denominator in DENOMINATORS:
        weights = _rounded(instance, duals, denominator, capped=capped)
        value = worth(instance, weights)
        if value > best[0]:
            best = value, weights
    return best


def _rounded(
    instance: Instance, duals: Duals, denominator: int, *, capped: bool
) -> tuple[tuple[int, int, int, int], ...]:
    """The weights as fractions. With `capped`, those of an unlimited pool are scaled down until they do not exceed its cost."""
    whole = {place: round(weight * denominator) for place, weight in duals.items()}
    factor: dict[int, Fraction] = {}
    price = peak_price(instance, instance.terms[0])
    for pool, spec in enumerate(instance.pools):
        total = sum(number for (p, _), number in whole.items() if p == pool and number > 0)
        free = price * spec.cost * denominator
        if capped and spec.capacity is None and total > free:
            factor[pool] = Fraction(free, total)
    weights = []
    for (pool, section), number in sorted(whole.items()):
        weight = Fraction(number, denominator) * factor.get(pool, Fraction(1))
        if weight > 0:
            weights.append((pool, section, weight.numerator, weight.denominator))
    return tuple(weights)
