"""The user's own planners: an installed distribution offers them as entry points, and MEMPLAN_SOLVERS lists those that may run.

An entry point of the group `memplan.solvers` is a function f(buffers, memory_pressure), as in TVM's USMP, or a class with the Solver protocol. It is
not imported here: it runs in a process of its own, and its placement only counts if it keeps every rule.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import ClassVar

from ...model.errors import SolverFailed, Unavailable, Unsupported
from ...model.instance import Instance
from ...model.libraries import require_available
from ...model.needs import is_joint, needs, refusal
from ...model.outcome import Outcome
from ...model.registry import OF_USER, VARIABLE, allowed
from ...model.solver import Control, Feature, Input, Solver, Task
from .functions import FEATURES, call

GROUP = "memplan.solvers"


class UserPlanner:
    """One planner that the user allowed, loaded when it is needed."""

    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    """All: it refuses problems itself when it runs, since asking it earlier would mean importing it here."""
    wants: ClassVar[Input] = Input.AS_WRITTEN
    sandboxed: ClassVar[bool] = True

    def __init__(self, name: str) -> None:
        self.name = name

    def unavailable(self) -> str | None:
        found = _offers(self.name)
        if not found:
            return f"{VARIABLE} names it, but no installed package has an entry point of that name in the group {GROUP}"
        if len(found) > 1:
            return f"several installed packages have an entry point of that name in the group {GROUP}"
        return None

    def solve(self, instance: Instance, task: Task, control: Control) -> Outcome:
        """Raises Unavailable if it cannot be loaded, Unsupported for what it does not take, SolverFailed for an invalid answer."""
        planner = self._load()
        takes = planner.features if isinstance(planner, _AsClass) else FEATURES
        missing = needs(instance, is_joint(instance)) - takes
        if missing:
            raise Unsupported(self.name, refusal(missing))
        if isinstance(planner, _AsClass):
            return planner.solver.solve(instance, task, control)
        return call(self.name, planner, instance, task, control)

    def _load(self) -> _AsClass | Callable[..., object]:
        require_available(self)
        (point,) = _offers(self.name)
        try:
            found = point.load()
            made = found() if isinstance(found, type) else found
        except Exception as error:  # somebody else's code may break in any way
            raise Unavailable(self.name, f"its entry point {point.value} cannot be loaded: {error!r}"[:300]) from error
        if isinstance(found, type):
            return _AsClass(self.name, made)
        if not callable(made):
            raise Unavailable(self.name, f"its entry point {point.value} is neither a function nor a class")
        return made  # type: ignore[no-any-return]


class _AsClass:
    """A planner with the Solver protocol; it gets its instance whole, whatever form it wants."""

    def __init__(self, name: str, solver: Solver) -> None:
        features = getattr(solver, "features", None)
        if not callable(getattr(solver, "solve", None)) or not isinstance(features, frozenset):
            raise SolverFailed(name, "its class has no `solve` method, or no frozenset of `features`")
        self.solver = solver
        self.features: frozenset[Feature] = features


def _offers(name: str) -> tuple[EntryPoint, ...]:
    return tuple({point.value: point for point in entry_points(group=GROUP, name=name)}.values())


def __getattr__(attribute: str) -> Callable[[], UserPlanner]:
    """A factory of the planner of that name, so that a separate process finds it like any solver."""
    name = attribute.removeprefix(OF_USER)
    if name == attribute or name not in allowed():
        raise AttributeError(attribute)
    return lambda: UserPlanner(name)
