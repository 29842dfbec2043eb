"""Linear programs, by OR-Tools' GLOP, which is exact, or by its PDLP, which comes near for far larger ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from solvers.model.errors import Unavailable

from .engine import NAME

STEPS_TIMES_ROWS_PER_WORK = 80
SECONDS_PER_WORK = 2e-6
"""Of GLOP's deterministic seconds, which it looks at while it works."""
ENTRIES_PER_WORK = 250
"""What PDLP goes through in one iteration."""
NEAR = 1e-3
"""PDLP ends where its two sides differ by no larger part than this."""


class Solved(NamedTuple):
    """Where a program costs least."""

    cost: float
    columns: Sequence[float]
    """Their values;"""
    rows: Sequence[float]
    """and by how much the cost falls for each unit that a row's upper end rises."""


class LinearProgram:
    """Columns and rows."""

    def __init__(self, *, is_large: bool = False) -> None:
        try:
            from ortools.linear_solver import pywraplp
        except ImportError as error:
            raise Unavailable(NAME, "OR-Tools is not installed: pip install ortools") from error
        self._optimal = pywraplp.Solver.OPTIMAL
        self._is_large = is_large
        self._solver: Any = pywraplp.Solver.CreateSolver("PDLP" if is_large else "GLOP")
        self._columns: list[Any] = []
        self._rows: list[Any] = []
        self._entries = 0
        self.work = 0
        """Of all solutions so far."""

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
            self._entries += 1
        self._rows.append(row)
        return len(self._rows) - 1

    def minimise(self, work: int) -> Solved | None:
        """Where it costs least; None if that takes more work, or there is none."""
        self._solver.SetSolverSpecificParametersAsString(self._limits(work))
        status = self._solver.Solve()
        steps: int = self._solver.iterations()
        self.work += (
            steps * self._entries // ENTRIES_PER_WORK
            if self._is_large
            else steps * len(self._rows) // STEPS_TIMES_ROWS_PER_WORK
        )
        if status != self._optimal:
            return None
        return Solved(
            self._solver.Objective().Value(),
            [column.solution_value() for column in self._columns],
            [-row.dual_value() for row in self._rows],
        )

    def _limits(self, work: int) -> str:
        """How the solver is told when to end."""
        if not self._is_large:
            # The dual method goes on from the last solution where rows have been added since.
            return f"max_deterministic_time: {work * SECONDS_PER_WORK} use_dual_simplex: true"
        iterations = max(work * ENTRIES_PER_WORK // max(self._entries, 1), 1)
        near = f"simple_optimality_criteria {{ eps_optimal_relative: {NEAR} eps_optimal_absolute: {NEAR} }}"
        return f"num_threads: 1 termination_criteria {{ {near} iteration_limit: {iterations} }}"
