"""The integer program of a problem, or CP-SAT's model, to read or to give to another solver."""

from __future__ import annotations

from functools import partial
from typing import Literal, TypeAlias

from solvers.model.errors import SolverError, Unavailable

from ...checks import require_sound
from ...facts.variants import require_nothing_to_choose
from ...model.deadline import LEAST_SECONDS, expect
from ...model.errors import CannotSolve, Code, Finding
from ...model.problem import Problem
from ..placing.lowering import lower

WRITING = "writing the program of"
WAITING_SECONDS = LEAST_SECONDS
"""Who waits for another process spends nothing of the processor's time, by which a limit is stretched."""
ModelFormat: TypeAlias = Literal["lp", "mps", "cpsat"]


def export_model(problem: Problem, kind: ModelFormat, *, plain: bool = False) -> str:
    """Return the program as text (CP-SAT's model in protobuf's text format) with the names of buffers and pools. Bytes are not scaled, so offsets
    are true offsets.

    With `plain`, the integer program lacks what only helps solvers: redundant rows, and the limit on peaks that a plan found quickly reaches.
    """
    from solvers.exact.export import export_in_child

    require_sound(problem)
    require_nothing_to_choose(problem)
    instance = lower(problem).instance
    blocks = [str(problem.buffers[first].id) for first in instance.input_rank.tolist()]
    pools = [pool.name for pool in problem.pools]
    try:
        return export_in_child(
            instance, kind, blocks, pools, plain=plain, look=partial(expect, WAITING_SECONDS, WRITING)
        )
    except SolverError as error:
        code = Code.UNAVAILABLE if isinstance(error, Unavailable) else Code.UNSUPPORTED
        raise CannotSolve(Finding(code, "", str(error))) from error
