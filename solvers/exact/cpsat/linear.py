"""Linear programs, solved by OR-Tools' GLOP exactly, or by its PDLP approximately for far larger ones."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from operator import neg
from typing import Any, NamedTuple

from ...model.errors import Unavailable
from .engine import NAME

STEPS_TIMES_ROWS_PER_WORK = 80
SECONDS_PER_WORK = 2e-6
"""GLOP's deterministic seconds per unit of work; GLOP checks its limit while it works."""
AS_IT_IS = "use_preprocessing: false use_scaling: false"
"""The dual simplex goes on from its last solution if only rows were added or ends changed; what is simplified or scaled anew has no such solution."""
SIMPLIFIED = ""
"""Where that fails for want of precision."""
ENTRIES_PER_WORK = 250
"""Matrix entries that PDLP processes in an iteration, for each unit of work. Passing a program to it takes one unit per entry."""
MOST_ITERATIONS = (1 << 31) - 1
"""The greatest iteration limit that PDLP accepts."""
NEAR = 1e-3
"""PDLP ends when primal and dual differ by no more than this fraction."""


class Solved(NamedTuple):
    """An optimal solution."""

    cost: float
    columns: Sequence[float]
    """The values of the columns."""
    rows: Sequence[float]
    """By row: the decrease of the cost for each unit that the row's upper end rises."""


_COLUMNS, _ROWS = 3, 4
"""The fields of OR-Tools' `MPSolutionResponse` with the values of columns, and of rows."""
_EIGHT_BYTES, _MANY_BYTES = 1, 2
"""How a field is written that is no integer."""


class _Response:
    """Stands for OR-Tools' message of a solution, which it fills from bytes.

    All values come at once so; one after the other takes ten times as long, and importing the class of that message takes 0.1 s.
    """

    def __init__(self) -> None:
        self._bytes = b""

    def SerializeToString(self) -> bytes:  # noqa: N802
        """As the message has it: empty before."""
        return self._bytes

    def ParseFromString(self, written: bytes) -> None:  # noqa: N802
        """The same."""
        self._bytes = written

    def numbers(self) -> Iterator[tuple[int, list[float]]]:
        """The lists of floating-point numbers, by field."""
        place = 0
        while place < len(self._bytes):
            tag, place = self._varint(place)
            if tag & 7 == _EIGHT_BYTES:
                place += 8
                continue
            number, place = self._varint(place)
            if tag & 7 == _MANY_BYTES:
                if tag >> 3 in (_COLUMNS, _ROWS):
                    yield tag >> 3, array("d", self._bytes[place : place + number]).tolist()
                place += number

    def _varint(self, place: int) -> tuple[int, int]:
        """The number that is written there, and where it ends."""
        number = shift = 0
        while True:
            byte = self._bytes[place]
            number, place, shift = number | (byte & 127) << shift, place + 1, shift + 7
            if byte < 128:
                return number, place


class LinearProgram:
    """A linear program, built column by column and row by row."""

    def __init__(self, *, is_large: bool = False) -> None:
        try:
            from ortools.linear_solver import pywraplp
        except ImportError as error:
            raise Unavailable(NAME, "OR-Tools is not installed: pip install ortools") from error
        self._optimal, self._failed = pywraplp.Solver.OPTIMAL, pywraplp.Solver.ABNORMAL
        self._is_large = is_large
        self._solver: Any = pywraplp.Solver.CreateSolver("PDLP" if is_large else "GLOP")
        self._objective = self._solver.Objective()
        self._columns: list[Any] = []
        self._rows: list[Any] = []
        self._entries = 0
        self._last: tuple[Any, Any] | None = None
        """PDLP's last solution, of columns and rows, from which the next solve starts."""
        self.work = 0
        """The work of all solves so far."""

    def column(self, high: float | None, cost: float = 0.0) -> int:
        """Adds a column from 0 on and returns its number."""
        column = self._solver.NumVar(0.0, math.inf if high is None else high, "")
        if cost:
            self._objective.SetCoefficient(column, cost)
        self._columns.append(column)
        return len(self._columns) - 1

    def within(self, column: int, low: float, high: float) -> None:
        """Changes a column's bounds."""
        self._columns[column].SetBounds(low, high)

    def row(self, low: float | None, high: float, entries: Iterable[tuple[int, float]]) -> int:
        """Adds a row and returns its number."""
        row = self._solver.Constraint(-math.inf if low is None else low, high)
        count, columns = row.SetCoefficient, self._columns
        for column, weight in entries:
            count(columns[column], weight)
            self._entries += 1
        self._rows.append(row)
        return len(self._rows) - 1

    def change(self, row: int, high: float, column: int, weight: float) -> None:
        """Changes the end of a row, and how much a column counts in it."""
        self._rows[row].SetBounds(-math.inf, high)
        self._rows[row].SetCoefficient(self._columns[column], weight)

    def minimise(self, work: int) -> Solved | None:
        """Minimises the cost; None if that takes more work or there is no solution."""
        return self._nearly(work) if self._is_large else self._exactly(work)

    def _exactly(self, work: int) -> Solved | None:
        status = self._solved(work, AS_IT_IS)
        if status == self._failed:
            status = self._solved(work, SIMPLIFIED)
        if status != self._optimal:
            return None
        response = _Response()
        self._solver.FillSolutionResponseProto(response)
        numbers = dict(response.numbers())
        columns, rows = (numbers.get(field, []) for field in (_COLUMNS, _ROWS))
        return Solved(self._objective.Value(), columns, list(map(neg, rows)))

    def _solved(self, work: int, how: str) -> int:
        """The status after solving it this way."""
        limits = f"max_deterministic_time: {work * SECONDS_PER_WORK} use_dual_simplex: true {how}"
        self._solver.SetSolverSpecificParametersAsString(limits)
        status: int = self._solver.Solve()
        self.work += self._solver.iterations() * len(self._rows) // STEPS_TIMES_ROWS_PER_WORK
        return status

    def _nearly(self, work: int) -> Solved | None:
        import numpy as np
        from ortools.linear_solver import linear_solver_pb2
        from ortools.pdlp import solve_log_pb2, solvers_pb2
        from ortools.pdlp.python import pdlp

        params = solvers_pb2.PrimalDualHybridGradientParams(num_threads=1)
        end = params.termination_criteria
        end.iteration_limit = min(max(work * ENTRIES_PER_WORK // max(self._entries, 1), 1), MOST_ITERATIONS)
        end.simple_optimality_criteria.eps_optimal_relative = NEAR
        end.simple_optimality_criteria.eps_optimal_absolute = NEAR
        model = linear_solver_pb2.MPModelProto()
        self._solver.ExportModelToProto(model)
        start = None
        if self._last is not None:
            columns, rows = self._last
            start = pdlp.PrimalAndDualSolution()
            start.primal_solution = np.append(columns, np.zeros(len(self._columns) - len(columns)))
            start.dual_solution = np.append(rows, np.zeros(len(self._rows) - len(rows)))
        program = pdlp.qp_from_mpmodel_proto(model, relax_integer_variables=True)
        found = pdlp.primal_dual_hybrid_gradient(program, params, initial_solution=start)
        self.work += found.solve_log.iteration_count * self._entries // ENTRIES_PER_WORK + self._entries
        if found.solve_log.termination_reason != solve_log_pb2.TERMINATION_REASON_OPTIMAL:
            return None
        self._last = found.primal_solution, found.dual_solution
        cost = float(np.dot(program.objective_vector, found.primal_solution))
        return Solved(cost, found.primal_solution.tolist(), (-found.dual_solution).tolist())
