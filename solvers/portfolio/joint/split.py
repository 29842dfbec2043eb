"""Problems that weigh shared addresses but separate: no block has a choice of pools, so costs in one pool do not affect another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...geometry.presolve import Piece, restrict
from ...model.conflicts import components
from ...model.errors import StopReason
from ...model.instance import Instance, Ints, Placement, Term
from ...model.linear_terms import ADDITIVE
from ...model.objective import evaluate
from ...model.outcome import Certificate, Outcome, Proof, Value
from ...model.solver import Control, Task
from ..board import Board, Relay
from .added_up import translated
from .joint import Joint, work_of_part


def pieces_of(instance: Instance) -> list[Ints]:
    """Sets of blocks whose terms add up, so that each can be solved on its own; one set if there is no such split."""
    everything = [np.arange(instance.blocks)]
    if instance.has_choice or len(instance.apart) or not ADDITIVE.issuperset(instance.terms):
        return everything
    label = np.argmax(instance.allowed, axis=1)
    if instance.terms == (Term.REUSE_COST,):
        # With no peak to minimise, even blocks of one pool are independent unless they meet or share a penalty.
        pairs = np.concatenate([instance.conflicts, instance.penalties[:, :2]])
        together = components(replace(instance, conflicts=pairs))
        label = np.unique(np.stack([label, together], axis=1), axis=0, return_inverse=True)[1].reshape(-1)
    return [np.flatnonzero(label == mark) for mark in np.unique(label).tolist()]


def solve_split(
    instance: Instance, task: Task, control: Control, engines: tuple[str, ...], by_name: bool, pieces: list[Ints]
) -> Outcome:
    """Solve each piece on its own, in rounds, so that work left by one goes to the others; then add up."""
    board = Board(instance, control)
    least = [0] * len(pieces)
    cuts: list[Piece] = []
    runs: list[Joint] = []
    for number, blocks in enumerate(pieces):
        pools = np.unique(np.argmax(instance.allowed[blocks], axis=1)).tolist()
        cut = restrict(instance, blocks, pools)
        mine = replace(task, start=_part_of(task.start, cut))
        run = Joint(cut.instance, mine, _relay(board, cut, least, number), engines, by_name)
        run.begin()
        cuts.append(cut)
        runs.append(run)
        if run.proven.infeasible:
            break
    while not any(run.proven.infeasible for run in runs) and (todo := [run for run in runs if run.is_open]):
        spent = sum(run.engines.work for run in runs)
        budget = work_of_part(task.limits.work, spent, sum(run.parts for run in todo))
        if not budget:
            break
        for run in todo:
            run.round(budget)
            if run.proven.infeasible:
                break
    outcomes = [run.outcome() for run in runs]
    for cut, outcome in zip(cuts, outcomes, strict=True):
        if outcome.placement is not None:
            board.put(cut.blocks, cut.pools[outcome.placement.pool], outcome.placement.offset)
    return _sum(instance, board, cuts, outcomes, sum(run.engines.work for run in runs))


def _part_of(start: Placement | None, cut: Piece) -> Placement | None:
    """The piece's part of a placement of the whole."""
    if start is None:
        return None
    return Placement(np.searchsorted(cut.pools, start.pool[cut.blocks]), start.offset[cut.blocks])


def _sum(instance: Instance, board: Board, cuts: list[Piece], outcomes: list[Outcome], work: int) -> Outcome:
    """The outcome of the whole from the outcomes of its pieces."""
    infeasible = any(outcome.infeasible for outcome in outcomes)
    bounds = [0] * len(instance.pools)
    certificates: list[Certificate] = []
    for cut, outcome in zip(cuts, outcomes, strict=True):
        for pool, bound in zip(cut.pools.tolist(), outcome.pool_bounds, strict=True):
            bounds[pool] = max(bounds[pool], bound)
        mine = outcome.certificates
        if infeasible and not outcome.infeasible:
            mine = tuple(c for c in mine if c.pool is not None)  # about the whole's pools, so they stay true
        certificates.extend(translated(certificate, cut) for certificate in mine)
    least = () if infeasible else _sum_of_bounds(outcomes)
    if not infeasible:
        certificates = _with_one_search(certificates, least)
    placement = None if infeasible else board.placement
    stops = [outcome.stop for outcome in outcomes]
    if infeasible:
        stop = StopReason.PROVED
    else:
        stop = next((s for s in stops if s is not StopReason.PROVED), StopReason.PROVED)
    return Outcome(
        stop=stop,
        placement=placement,
        value=None if placement is None else evaluate(instance, placement),
        bound=least,
        pool_bounds=tuple(bounds),
        certificates=tuple(certificates),
        infeasible=infeasible,
        solver=next(
            (outcome.solver for outcome in outcomes if outcome.solver not in (None, "greedy")), outcomes[0].solver
        ),
        work=work,
        took_part=tuple(dict.fromkeys(name for outcome in outcomes for name in outcome.took_part)),
        reproducible=all(outcome.reproducible for outcome in outcomes),
        notes=tuple(dict.fromkeys(note for outcome in outcomes for note in outcome.notes)),
    )


def _sum_of_bounds(outcomes: list[Outcome]) -> Value:
    """The sum of the bounds, term by term, as far as the earlier terms are at their least in every piece."""
    total: list[int] = []
    for term in range(min(len(outcome.bound) for outcome in outcomes)):
        total.append(sum(outcome.bound[term] for outcome in outcomes))
        if any(o.value is None or o.value[term] != o.bound[term] for o in outcomes):
            break
    return tuple(total)


def _with_one_search(certificates: list[Certificate], bound: Value) -> list[Certificate]:
    """Join the searches: each is about its piece's part of the objective, and together they are about the whole."""
    searches = [c for c in certificates if c.proof is Proof.SEARCH and c.pool is None]
    if not searches or not bound:
        return certificates
    others = [c for c in certificates if c not in searches]
    return [*others, Certificate(Proof.SEARCH, bound[0], solver=searches[0].solver)]


def _relay(board: Board, cut: Piece, least: list[int], number: int) -> Relay:
    """A piece's relay to the board of the whole; `least` holds the bounds of every piece's first term."""

    def put(placement: Placement) -> None:
        board.put(cut.blocks, cut.pools[placement.pool], placement.offset)

    def prove(bound: Value) -> None:
        least[number] = bound[0]
        board.prove((sum(least),))

    return Relay(board, put, prove)
