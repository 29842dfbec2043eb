"""Solvers that want an instance as the user wrote it: whole, in its order and its units. What can be proven of it is proven beside them."""

from __future__ import annotations

from dataclasses import replace

from .bounds import busiest_section, pool_bound
from .errors import SolverFailed, StopReason
from .execute import execute, failed
from .instance import Instance, Term
from .outcome import Certificate, Outcome, Proof, Value
from .pool_sharing import sharing_shortage
from .solver import Control, Task


def solve_raw(name: str, instance: Instance, task: Task, control: Control) -> Outcome:
    """The solver's own answer, and the cheap bounds, so that people see how good it is."""
    certificates = _certificates(instance)
    pool_bounds = _pool_bounds(instance, certificates)
    short = _shortage(instance, certificates)
    if short:
        return Outcome(StopReason.PROVED, pool_bounds=pool_bounds, certificates=short, infeasible=True)
    bound = max(task.bound, _bound(instance, certificates, pool_bounds))
    control.bound(bound)
    try:
        outcome = execute(name, instance, replace(task, bound=bound, pool_bounds=pool_bounds), control)
    except SolverFailed as error:
        outcome = failed(error)
    if outcome.infeasible:
        return outcome
    kept = tuple(c for c in certificates if c.value or c.pool is not None)
    return replace(
        outcome,
        bound=max(bound, outcome.bound),
        pool_bounds=outcome.pool_bounds or pool_bounds,
        certificates=(*kept, *outcome.certificates),
    )


def _certificates(instance: Instance) -> tuple[Certificate, ...]:
    found = [pool_bound(instance, pool) for pool in range(len(instance.pools))]
    if instance.has_choice and instance.terms[0] is Term.SUM_OF_PEAKS:
        found.append(busiest_section(instance))
    return tuple(c for c in found if c is not None)


def _pool_bounds(instance: Instance, certificates: tuple[Certificate, ...]) -> tuple[int, ...]:
    bounds = [0] * len(instance.pools)
    for c in certificates:
        if c.pool is not None:
            bounds[c.pool] = max(bounds[c.pool], c.value)
    return tuple(bounds)


def _shortage(instance: Instance, certificates: tuple[Certificate, ...]) -> tuple[Certificate, ...]:
    """Those that prove that nothing fits."""
    short = []
    for c in certificates:
        if c.proof is Proof.POOL_SHARING:
            short += [c] if sharing_shortage(instance, c.weights) > 0 else []
        elif c.pool is not None:
            capacity = instance.pools[c.pool].capacity
            short += [c] if capacity is not None and c.value > capacity else []
    return tuple(short)


def _bound(instance: Instance, certificates: tuple[Certificate, ...], pool_bounds: tuple[int, ...]) -> Value:
    """Of the objective's first term; for others than peaks nothing is proven here."""
    match instance.terms[0]:
        case Term.SUM_OF_PEAKS:
            alone = sum(pool.cost * bound for pool, bound in zip(instance.pools, pool_bounds, strict=True))
            shared = [c.value for c in certificates if c.proof is Proof.POOL_SHARING]
            return (max([alone, *shared]),)
        case Term.LARGEST_PEAK:
            return (max(pool_bounds, default=0),)
        case _:
            return (0,)
