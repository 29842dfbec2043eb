"""The part of a problem that an alternative touches: small enough to be checked once for each alternative."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, TypeAlias

from ..facts.variants import with_alternatives
from ..model.deadline import CHECKING, in_time, look, tick
from ..model.problem import Alternative, BufferId, Colocation, Constraints, Problem, ReusePenalty
from .report import Place, Report, pointer

Examine: TypeAlias = Callable[[Problem], Report]

_KINDS = tuple(field.name for field in fields(Constraints))


MOST_BUFFERS = 300_000
"""The most buffers in all parts together. Beyond, alternatives are checked with only the buffers that they name;
one whose contradiction is missed cannot be chosen later.
"""


class Parts:
    """A problem without its variants, in parts."""

    def __init__(self, problem: Problem, examine: Examine) -> None:
        self._problem, self._examine = replace(problem, variants=None, was=(), steps=()), examine
        self.index = {buffer.id: i for i, buffer in enumerate(problem.buffers)}
        self._fixed = [b.id for b in problem.buffers if b.fixed is not None and b.fixed.offset is not None]
        self._room = MOST_BUFFERS
        self._touching: dict[BufferId, list[tuple[str, int]]] = {}
        for kind in _KINDS:
            for k, item in enumerate(in_time(getattr(problem.constraints, kind), CHECKING)):
                for id_ in members(item):
                    self._touching.setdefault(id_, []).append((kind, k))

    def check(self, alternative: Alternative, place: Place, report: Report) -> None:
        """Report the faults of the alternative, alone and together with the buffers of the problem that it touches."""
        look(CHECKING)
        part = with_alternatives(self._part(alternative), [replace(alternative, buffers=(), constraints=Constraints())])
        own, base = alternative.constraints, part.constraints
        whole = replace(
            part,
            buffers=(*alternative.buffers, *part.buffers),
            constraints=Constraints(**{kind: (*getattr(own, kind), *getattr(base, kind)) for kind in _KINDS}),
        )
        look(CHECKING)
        found = self._examine(whole)
        for finding in found.listed:
            report.include(replace(finding, pointer=_moved(finding.pointer, alternative, place)))
        report.count(found.more)

    def _part(self, alternative: Alternative) -> Problem:
        named = [id_ for kind in _KINDS for item in getattr(alternative.constraints, kind) for id_ in members(item)]
        named += [more.buffer for more in alternative.live]
        fixed = 0
        if alternative.constraints.colocations or any(buffer.fixed is not None for buffer in alternative.buffers):
            named += self._fixed
            fixed = len(self._fixed)
        inside = self._with_colocated(named if self._room > 0 else named[: len(named) - fixed])
        self._room -= len(inside)
        look(CHECKING)
        buffers = tuple(self._problem.buffers[i] for i in sorted(self.index[id_] for id_ in inside))
        kept: dict[str, list[int]] = {kind: [] for kind in _KINDS}
        for kind, k in sorted({at for id_ in inside for at in self._touching.get(id_, ())}):
            kept[kind].append(k)
        constraints = self._problem.constraints
        small = {kind: tuple(_within(getattr(constraints, kind), kept[kind], inside)) for kind in _KINDS}
        return replace(self._problem, buffers=buffers, constraints=Constraints(**small))

    def _with_colocated(self, named: list[BufferId]) -> set[BufferId]:
        inside = {id_ for id_ in named if id_ in self.index}
        todo = list(inside) if self._room > 0 else []
        colocations = self._problem.constraints.colocations
        while todo:
            tick(CHECKING)
            for kind, k in self._touching.get(todo.pop(), ()):
                if kind == "colocations":
                    new = {colocations[k].buffer, colocations[k].base} - inside
                    inside |= new
                    todo += new
        return inside


def members(item: Any) -> tuple[BufferId, ...]:
    """Return the buffers named by a constraint of any kind."""
    if isinstance(item, Colocation):
        return item.buffer, item.base
    if isinstance(item, ReusePenalty):
        return item.first, item.second
    return tuple(item)


def _within(items: tuple[Any, ...], kept: list[int], inside: set[BufferId]) -> Iterator[Any]:
    """Return the constraints among these buffers only; sets are reduced to them."""
    for k in kept:
        item = items[k]
        if isinstance(item, tuple) and len(item) > 2:
            yield tuple(id_ for id_ in item if id_ in inside)
        elif all(id_ in inside for id_ in members(item)):
            yield item


def _moved(found: str, alternative: Alternative, place: Place) -> str:
    """Return a finding about a part with its place in the alternative, or at the alternative itself."""
    steps = found.split("/")[1:]
    within = (
        len(steps) > 1 and steps[0] == "buffers" and steps[1].isdigit() and int(steps[1]) < len(alternative.buffers)
    )
    if len(steps) > 2 and steps[0] == "constraints" and steps[2].isdigit():
        within = int(steps[2]) < len(getattr(alternative.constraints, steps[1], ()))
    return pointer(place) + (found if within else "")
