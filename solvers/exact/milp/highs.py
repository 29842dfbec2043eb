"""Runs the same program file with HiGHS's Python module, which reports better solutions and bounds during the run."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...model.errors import StopReason
from .answer import Answer, Budget, Listener
from .program.build import TOLERANCE

REPORTING_SECONDS = 0.1
MOST_NODES = (1 << 31) - 1
FINITE = 1e40


class HighsBackend:
    """Runs programs with highspy, in this process, which must not have ortools loaded."""

    name = "highs"

    def run(self, problem: Any, start: Mapping[str, float] | None, budget: Budget, listener: Listener) -> Answer:
        """See Backend."""
        import highspy

        solver = highspy.Highs()
        solver.setOptionValue("output_flag", False)
        with tempfile.TemporaryDirectory(prefix="memplan-highs-") as folder:
            path = str(Path(folder, "model.mps"))
            _, variables, _, _ = problem.writeMPS(path, rename=1)
            solver.readModel(path)
        # Set only now: with little time left, a limit would cut off reading the model.
        for option, value in _options(budget).items():
            solver.setOptionValue(option, value)
        # HiGHS numbers columns in the file's order.
        shorts = [solver.getColName(column)[1] for column in range(solver.getNumCol())]
        named = {short: name for name, short in variables.items()}
        columns = [named.get(short, short) for short in shorts]
        if start is not None:
            warm = highspy.HighsSolution()
            warm.col_value = [float(start.get(name, 0)) for name in columns]
            solver.setSolution(warm)
        stopped: list[StopReason] = []

        def watch(event: Any) -> None:
            reason = listener.control.stopped()
            if reason is not None:
                stopped.append(reason)
                event.interrupt()

        def improved(event: Any) -> None:
            listener.on_values(dict(zip(columns, (float(v) for v in event.data_out.mip_solution), strict=True)))

        def bounded(event: Any) -> None:
            bound = float(event.data_out.mip_dual_bound)
            if abs(bound) < FINITE:
                listener.on_bound(bound)
            watch(event)

        solver.cbMipInterrupt += watch
        solver.cbSimplexInterrupt += watch
        solver.cbMipLogging += bounded
        solver.cbMipImprovingSolution += improved
        solver.run()
        return _answer(highspy, solver, columns, stopped[0] if stopped else None)


def _options(budget: Budget) -> dict[str, object]:
    options: dict[str, object] = {
        "mip_rel_gap": 0.0,
        "mip_abs_gap": 0.0,
        "mip_feasibility_tolerance": TOLERANCE,
        "random_seed": budget.seed % MOST_NODES,
        "threads": 1,
        "parallel": "off",
    }
    if budget.nodes is not None:
        options["mip_max_nodes"] = min(budget.nodes, MOST_NODES)
    if budget.first_only:
        options["mip_max_improving_sols"] = 1
    if budget.deadline is not None:
        seconds = budget.deadline - time.monotonic()
        options["time_limit"] = max(seconds - REPORTING_SECONDS, seconds / 2, 0.01)
    return options


def _answer(highspy: Any, solver: Any, columns: list[str], stopped: StopReason | None) -> Answer:
    status, info = solver.getModelStatus(), solver.getInfo()
    kinds = highspy.HighsModelStatus
    nodes = max(int(info.mip_node_count), 0)
    message = f"highs ended: {solver.modelStatusToString(status)}"
    if status == kinds.kInfeasible:
        return Answer(StopReason.PROVED, nodes=nodes)
    stops = {
        kinds.kOptimal: StopReason.PROVED,
        kinds.kTimeLimit: StopReason.TIME_LIMIT,
        kinds.kSolutionLimit: StopReason.WORK_LIMIT,
        kinds.kIterationLimit: StopReason.WORK_LIMIT,
        kinds.kInterrupt: stopped or StopReason.CANCELLED,
        kinds.kMemoryLimit: StopReason.MEMORY_LIMIT,
    }
    stop = stops.get(status, StopReason.SOLVER_FAILED)
    bound = float(info.mip_dual_bound)
    if solver.getLp().integrality_ == []:
        bound = float(info.objective_function_value)
    known_bound = bound if abs(bound) < FINITE else None
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return Answer(stop, bound=known_bound, nodes=nodes, message=message)
    values = dict(zip(columns, (float(v) for v in solver.getSolution().col_value), strict=True))
    return Answer(stop, values, float(info.objective_function_value), known_bound, nodes, message)
