"""Linear programs, by OR-Tools' GLOP."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from solvers.model.errors import Unavailable

from .engine import NAME


class LinearProgram:
    """Columns and rows."""

    def __init__(self) -> None:
        try:
            from ortools.linear_solver import pywraplp
        except ImportError as error:
            raise Unavailable(NAME, "OR-Tools is not installed: pip install ortools") from error
        self._optimal = pywraplp.Solver.OPTIMAL
        self._solver: Any = pywraplp.Solver.CreateSolver("GLOP")
        self._columns: list[Any] = []

    def column(self, low: float, high: float | None) -> int:
        """A new column, by its number."""
        self._columns.append(self._solver.NumVar(low, self._solver.infinity() if high is None else high, ""))
        return len(self._columns) - 1

    def row(self, low: float | None, high: float, entries: Iterable[tuple[int, float]]) -> None:
        """A new row."""
        row = self._solver.Constraint(-self._solver.infinity() if low is None else low, high)
        for column, weight in entries:
            row.SetCoefficient(self._columns[column], weight)

    def minimise(self, costs: Iterable[tuple[int, float]], seconds: float) -> Sequence[float] | None:
        """The columns' values where they cost least; None if that takes more than so many of GLOP's deterministic seconds, or there is none."""
        for column, cost in costs:
            self._solver.Objective().SetCoefficient(self._columns[column], cost)
        self._solver.SetSolverSpecificParametersAsString(f"max_deterministic_time: {seconds}")
        if self._solver.Solve() != self._optimal:
            return None
        return [column.solution_value() for column in self._columns]
