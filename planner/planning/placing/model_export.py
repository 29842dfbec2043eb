"""The integer program of a problem, for people who want to read it or give it to a solver of their own."""

from __future__ import annotations

from typing import Literal

from solvers.model.errors import SolverError, Unavailable

from ...checks import require_sound
from ...facts.variants import require_nothing_to_choose
from ...model.errors import CannotSolve, Code, Finding
from ...model.problem import Problem
from .lowering import lower


def export_model(problem: Problem, kind: Literal["lp", "mps"]) -> str:
    """The program as text, with the buffers' and pools' names in it. Bytes are not scaled, so offsets mean what they say."""
    from solvers.milp.export import export_in_child

    require_sound(problem)
    require_nothing_to_choose(problem)
    instance = lower(problem).instance
    blocks = [str(problem.buffers[first].id) for first in instance.input_rank.tolist()]
    try:
        return export_in_child(instance, kind, blocks, [pool.name for pool in problem.pools])
    except SolverError as error:
        code = Code.UNAVAILABLE if isinstance(error, Unavailable) else Code.UNSUPPORTED
        raise CannotSolve(Finding(code, "", str(error))) from error
