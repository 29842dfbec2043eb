"""Which problems allow storage objects: one pool for each buffer, and nothing that refers to offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import lcm

from solvers.model.instance import ADDRESS_LIMIT, Term

from ...checks.report import Report, quoted
from ...facts.costs import weighs_moves
from ...facts.possible_places import Places
from ...model.columns.buffers import BufferColumns, KeptBuffers
from ...model.deadline import CHECKING, in_time, look
from ...model.errors import CannotSolve, Code
from ...model.problem import Buffer, BufferId, Pool, Problem
from ...model.storage import Kind


def kinds_of(problem: Problem) -> list[Kind]:
    """Return the kind of storage that each buffer of a sound problem needs.

    Raises CannotSolve for what storage objects do not have (offsets, a choice of pools), BadInput for contradictions.
    """
    report = Report()
    _refuse_offsets(problem, report)
    _refuse_terms(problem, report)
    homes = _homes(problem, report)
    if report:
        raise CannotSolve(*report.listed, more=report.more)
    assert homes is not None
    kinds = [
        Kind(home.name, buffer.device, buffer.dtype)
        for buffer, home in zip(in_time(problem.buffers, CHECKING, "buffer"), homes, strict=True)
    ]
    _check_kinds(problem, kinds, report)
    look(CHECKING)
    if sum(need(buffer, home) for buffer, home in zip(problem.buffers, homes, strict=True)) >= ADDRESS_LIMIT:
        text = "the sizes, rounded up to alignments, add up to 2^62 or more; use a larger unit than bytes, or split the problem"
        report.add(Code.TOO_LARGE, ("buffers",), text)
    report.raise_if_any()
    return kinds


def with_kept_buffers(problem: Problem) -> Problem:
    """Return the same problem. Objects of buffers in columns are made once: sharing asks for each of them many times."""
    buffers = problem.buffers
    if not isinstance(buffers, BufferColumns) or isinstance(buffers, KeptBuffers):
        return problem
    return replace(problem, buffers=buffers.kept())


def need(buffer: Buffer, pool: Pool) -> int:
    """Return the least object size for the buffer: its size, rounded up to the common alignment of buffer and pool."""
    return buffer.size + -buffer.size % lcm(pool.alignment, buffer.alignment)


def _refuse_offsets(problem: Problem, report: Report) -> None:
    for i, pool in enumerate(problem.pools):
        if any(end > start for start, end in pool.reserved):
            text = f"pool {quoted(pool.name)} has reserved ranges of offsets, and storage objects have no offsets; give it less size instead"
            report.add(Code.UNSUPPORTED, ("pools", i, "reserved"), text)
    for i, buffer in enumerate(in_time(problem.buffers, CHECKING, "buffer")):
        if buffer.fixed is not None and buffer.fixed.offset is not None:
            text = f"buffer {quoted(buffer.id)} is fixed at an offset, and storage objects have no offsets; fix its pool alone"
            report.add(Code.UNSUPPORTED, ("buffers", i, "fixed", "offset"), text)
        if buffer.max_offset is not None:
            text = (
                f"buffer {quoted(buffer.id)} has a greatest offset, and storage objects have no offsets; leave it out"
            )
            report.add(Code.UNSUPPORTED, ("buffers", i, "max_offset"), text)
    for k, tie in enumerate(problem.constraints.colocations):
        if tie.offset:
            text = (
                f"buffer {quoted(tie.buffer)} begins {tie.offset} bytes inside or behind {quoted(tie.base)}; "
                f"a storage object has no inside, so only what begins where its base begins can share it"
            )
            report.add(Code.UNSUPPORTED, ("constraints", "colocations", k, "offset"), text)


def _refuse_terms(problem: Problem, report: Report) -> None:
    """Refuse other terms. If no buffer has a choice of pools, all are least when every pool's total is."""
    if problem.constraints.reuse_penalties and Term.REUSE_COST in problem.terms:
        text = "with shared objects the sizes are all that is minimised: leave 'reuse_cost' out"
        report.add(Code.UNSUPPORTED, ("objective", "terms", problem.terms.index(Term.REUSE_COST)), text)
    if weighs_moves(problem):
        text = "a storage object has no address: leave out terms that count moved buffers"
        report.add(Code.UNSUPPORTED, ("objective", "was"), text)


def _homes(problem: Problem, report: Report) -> list[Pool] | None:
    """Return each buffer's pool, if all have exactly one."""
    places = Places(problem)
    found: list[Pool] = []
    of_class: dict[int, list[str]] = {}
    for i, buffer in enumerate(in_time(problem.buffers, CHECKING, "buffer")):
        tied = places.tied(i)
        names = of_class.get(tied[0])
        if names is None:
            names = of_class[tied[0]] = list(places.allowed_pools(tied))
        if len(names) == 1:
            found.append(places.pools[names[0]])
        elif names:
            text = (
                f"buffer {quoted(buffer.id)} may be in {len(names)} pools; with shared objects every buffer needs one "
                f"pool: name it under 'pools'"
            )
            report.add(Code.UNSUPPORTED, ("buffers", i, "pools"), text)
        else:
            text = (
                f"buffer {quoted(buffer.id)} must share a pool with others, but there is none that all of them may use"
            )
            report.add(Code.UNSUPPORTED, ("buffers", i, "pools"), text)
    return found if len(found) == len(problem.buffers) else None


def _check_kinds(problem: Problem, kinds: list[Kind], report: Report) -> None:
    index = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
    _check_labels(problem, report)
    _check_colocated(problem, index, report)
    for k, group in enumerate(in_time(problem.constraints.different_pool, CHECKING, "different_pool")):
        pools = [kinds[index[id_]].pool for id_ in group]
        if len(set(pools)) < len(pools):
            text = "wants buffers in different pools that may only be in the same one"
            report.add(Code.CONTRADICTION, ("constraints", "different_pool", k), text)


def _check_labels(problem: Problem, report: Report) -> None:
    """Devices and dtypes must be strings; either all buffers name a device or none does."""
    for i, buffer in enumerate(in_time(problem.buffers, CHECKING, "buffer")):
        for name, value in (("device", buffer.device), ("dtype", buffer.dtype)):
            if value is not None and (not isinstance(value, str) or not value):
                report.add(Code.WRONG_TYPE, ("buffers", i, name), "must be a string that is not empty")
    without = [i for i, buffer in enumerate(problem.buffers) if buffer.device is None]
    if len(without) == len(problem.buffers):
        return
    for i in without:
        text = f"buffer {quoted(problem.buffers[i].id)} names no device, but others do: all must, or none"
        report.add(Code.MISSING_FIELD, ("buffers", i, "device"), text)


def _check_colocated(problem: Problem, index: Mapping[BufferId, int], report: Report) -> None:
    """Buffers that must share an object must have the same device and dtype."""
    for k, tie in enumerate(in_time(problem.constraints.colocations, CHECKING, "colocation")):
        one, other = problem.buffers[index[tie.buffer]], problem.buffers[index[tie.base]]
        for name, a, b in (("device", one.device, other.device), ("dtype", one.dtype, other.dtype)):
            if a != b:
                text = (
                    f"buffers {quoted(one.id)} and {quoted(other.id)} must share an object, but each has another {name}"
                )
                report.add(Code.CONTRADICTION, ("constraints", "colocations", k), text)
