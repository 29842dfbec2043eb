"""Linear programs, solved exactly."""

from __future__ import annotations

from random import Random

from ortools.linear_solver import pywraplp

from solvers.exact.cpsat.linear import LinearProgram

ENOUGH = 1 << 40


def test_all_values_are_those_of_the_solver() -> None:
    """Also after the program has changed; and there are so many that their length takes several bytes."""
    chance, program = Random(7), LinearProgram()
    twin = pywraplp.Solver.CreateSolver("GLOP")
    costs = [chance.random() for _ in range(300)]
    columns = [program.column(1.0, cost) for cost in costs]
    twins = [twin.NumVar(0.0, 1.0, "") for _ in costs]
    for column, cost in zip(twins, costs, strict=True):
        twin.Objective().SetCoefficient(column, cost)
    rows = []
    for number in range(40):
        entries = [(column, -chance.random()) for column in chance.sample(columns, 9)]
        assert program.row(None, -1.0, entries) == number
        rows.append(twin.Constraint(-twin.infinity(), -1.0))
        for column, weight in entries:
            rows[-1].SetCoefficient(twins[column], weight)
        found = program.minimise(ENOUGH)
        twin.SetSolverSpecificParametersAsString("use_dual_simplex: true use_preprocessing: false use_scaling: false")
        assert twin.Solve() == pywraplp.Solver.OPTIMAL
        assert found is not None
        assert found.cost == twin.Objective().Value()
        assert found.columns == [column.solution_value() for column in twins]
        assert found.rows == [-row.dual_value() for row in rows]
        assert any(found.columns)
        assert any(found.rows)


def test_a_program_without_rows_has_a_solution() -> None:
    program = LinearProgram()
    program.column(2.0, -1.0)
    found = program.minimise(ENOUGH)
    assert found is not None
    assert (found.cost, found.columns, found.rows) == (-2.0, [2.0], [])


def test_nothing_is_found_where_there_is_no_solution_or_no_work() -> None:
    program = LinearProgram()
    column = program.column(1.0, 1.0)
    assert program.minimise(ENOUGH) is not None
    program.row(2.0, 3.0, [(column, 1.0)])
    assert program.minimise(ENOUGH) is None
