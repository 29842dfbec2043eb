"""Linear programs, by OR-Tools' GLOP."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from solvers.model.errors import Unavailable

from .engine import NAME


class Solved(NamedTuple):
    """Where a program costs least."""

    cost: float
    columns: Sequence[float]
    """Their values;"""
    rows: Sequence[float]
    """and by how much the cost falls for each unit that a row's upper end rises."""


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
        self._rows: list[Any] = []
        self.steps = 0
        """Of the simplex method, in all solutions so far."""

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self._rows)

    def column(self, low: float, high: float | None, cost: float = 0.0) -> int:
        """A new column, by its number."""
        column = self._solver.NumVar(low, self._solver.infinity() if high is None else high, "")
        self._solver.Objective().SetCoefficient(column, cost)
        self._columns.append(column)
        return len(self._columns) - 1

    def within(self, column: int, low: float, high: float) -> None:
        """From now on a column's value is between these."""
        self._columns[column].SetBounds(low, high)

    def row(self, low: float | None, high: float, entries: Iterable[tuple[int, float]]) -> int:
        """A new row, by its number."""
        row = self._solver.Constraint(-self._solver.infinity() if low is None else low, high)
        for column, weight in entries:
            row.SetCoefficient(self._columns[column], weight)
        self._rows.append(row)
        return len(self._rows) - 1

    def minimise(self, seconds: float) -> Solved | None:
        """Where it costs least; None if that takes more than so many of GLOP's deterministic seconds, or there is none."""
        # The dual method goes on from the last solution where rows have been added since.
        self._solver.SetSolverSpecificParametersAsString(f"max_deterministic_time: {seconds} use_dual_simplex: true")
        status = self._solver.Solve()
        self.steps += self._solver.iterations()
        if status != self._optimal:
            return None
        return Solved(
            self._solver.Objective().Value(),
            [column.solution_value() for column in self._columns],
            [-row.dual_value() for row in self._rows],
        )
