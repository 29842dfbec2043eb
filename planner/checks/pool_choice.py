"""Checks of where buffers may live: fixed pools, allowed pools, same_pool, different_pool and colocations."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.figures import fixed_ones
from ..model.columns.buffers import restricted
from ..model.columns.varied import VariedColumns, are_any_fixed
from ..model.deadline import CHECKING, in_time, look, tick
from ..model.errors import Code
from ..model.problem import Problem
from .colocations import Groups
from .names import Names
from .report import Place, Report, quoted


class Classes:
    """Sets of buffers, or of blocks of them, that must share a pool (union-find, by index); each is named by its least."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def of(self, i: int) -> int:
        if i not in self._parent:
            return i
        root = i
        while (up := self._parent.get(root, root)) != root:
            root = up
        while i != root:
            self._parent[i], i = root, self._parent[i]
        return root

    def join(self, i: int, j: int) -> None:
        a, b = self.of(i), self.of(j)
        if a != b:
            self._parent[max(a, b)] = min(a, b)

    @property
    def are_any(self) -> bool:
        """True if any two buffers must share a pool."""
        return bool(self._parent)

    def involved(self) -> list[int]:
        """Return every buffer that must share its pool with another."""
        return sorted({*self._parent, *self._parent.values()})


class Homes:
    """The pool that each buffer must be in, if fixed positions decide it: its own, or one in its class."""

    def __init__(self, problem: Problem, names: Names, classes: Classes) -> None:
        self.classes = classes
        self._fixed: dict[int, tuple[int, int]] = {}
        """By class: the pool, and the first buffer fixed there."""
        self._names = names
        self._problem = problem

    @property
    def are_decided(self) -> bool:
        """True if any pool is decided."""
        return bool(self._fixed)

    def claim(self, i: int, pool: int) -> tuple[int, int] | None:
        """Fix buffer i to the pool; return its class's earlier claim if they contradict each other."""
        earlier = self._fixed.setdefault(self.classes.of(i), (pool, i))
        return earlier if earlier[0] != pool else None

    def of(self, i: int) -> int | None:
        """Return the pool that buffer i must be in, or None if undecided."""
        claim = self._fixed.get(self.classes.of(i))
        return None if claim is None else claim[0]

    def choices(self, members: list[int]) -> Sequence[int]:
        """Return the pools allowed to all members."""
        home = self.of(members[0])
        common = None if home is None else {home}
        for i in members:
            pools = self._problem.buffers[i].pools
            if pools is not None:
                named = {self._names.pools[name] for name in pools}
                common = named if common is None else common & named
        return range(len(self._problem.pools)) if common is None else sorted(common)


def check_pool_choice(problem: Problem, names: Names, groups: Groups, report: Report) -> Homes | None:
    """Return the decided pools, or None if the constraints contradict themselves."""
    before = report.found
    classes = Classes()
    buffers, constraints = problem.buffers, problem.constraints
    are_tied = groups.are_any or bool(constraints.same_pool)
    if not constraints.different_pool and not (are_tied and are_any_fixed(buffers)) and _may_all_be_there(problem):
        return Homes(problem, names, classes)
    for members in groups.members.values():
        for i in members[1:]:
            tick(CHECKING)
            classes.join(members[0], i)
    for ids in constraints.same_pool:
        for id_ in in_time(ids[1:], CHECKING):
            classes.join(names.buffers[ids[0]], names.buffers[id_])
    homes = Homes(problem, names, classes)
    look(CHECKING)
    for i, buffer in restricted(buffers):
        if buffer.fixed is not None:
            _claim(problem, homes, i, names.pools[buffer.fixed.pool], report)
    for i in in_time(classes.involved(), CHECKING) if homes.are_decided else ():
        _check_allowed(problem, homes, i, report)
    look(CHECKING)
    if homes.are_decided or classes.are_any:  # earlier checks made sure that no name appears twice
        _check_different(problem, names, homes, report)
    return None if report.found > before else homes


def _may_all_be_there(problem: Problem) -> bool:
    """True if each buffer that is fixed in a memory may use it."""
    buffers = problem.buffers
    some = restricted(buffers) if problem.facts.neighbour is None else fixed_ones(problem)
    said = (
        ((each.pools, each.home) for each in buffers.used)
        if isinstance(buffers, VariedColumns)
        else ((each.pools, None if each.fixed is None else each.fixed.pool) for _, each in some)
    )
    return all(pools is None or home is None or home in pools for pools, home in said)


def _claim(problem: Problem, homes: Homes, i: int, pool: int, report: Report) -> None:
    place: Place = ("buffers", i, "fixed", "pool")
    buffer, name = problem.buffers[i], problem.pools[pool].name
    if buffer.pools is not None and name not in buffer.pools:
        report.add(
            Code.CONTRADICTION,
            place,
            f"buffer {quoted(buffer.id)} is fixed in pool {quoted(name)}, which it may not use",
        )
    earlier = homes.claim(i, pool)
    if earlier is not None:
        text = (
            f"buffer {quoted(buffer.id)} must share a pool with {quoted(problem.buffers[earlier[1]].id)}, "
            f"but the two are fixed in different pools"
        )
        report.add(Code.CONTRADICTION, place, text)


def _check_allowed(problem: Problem, homes: Homes, i: int, report: Report) -> None:
    buffer, home = problem.buffers[i], homes.of(i)
    if home is None or buffer.pools is None or buffer.fixed is not None:
        return
    name = problem.pools[home].name
    if name not in buffer.pools:
        text = f"buffer {quoted(buffer.id)} may not use pool {quoted(name)}, in which buffers that share its pool are fixed"
        report.add(Code.CONTRADICTION, ("buffers", i, "pools"), text)


def _check_different(problem: Problem, names: Names, homes: Homes, report: Report) -> None:
    for k, ids in enumerate(problem.constraints.different_pool):
        by_class: dict[int, int] = {}
        by_pool: dict[int, int] = {}
        for j, id_ in enumerate(ids):
            tick(CHECKING)
            i = names.buffers[id_]
            home = homes.of(i)
            twin = by_class.setdefault(homes.classes.of(i), i)
            neighbour = i if home is None else by_pool.setdefault(home, i)
            if twin != i:
                other, why = twin, "must share a pool"
            elif neighbour != i:
                other, why = neighbour, "are fixed in the same pool"
            else:
                continue
            text = f"wants buffers {quoted(problem.buffers[other].id)} and {quoted(id_)} in different pools, but they {why}"
            report.add(Code.CONTRADICTION, ("constraints", "different_pool", k, j), text)
