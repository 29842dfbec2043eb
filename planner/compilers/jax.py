"""From JAX's functions to Problems: what XLA's own planner had to place when it compiled them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..checks.report import bad_input
from ..formats import read_problem
from ..model.errors import Code
from ..model.problem import Problem

DUMPED = "*after_optimizations.hlo.pb"


def jax_problem(lowered: Any) -> tuple[Problem, tuple[str, ...]]:
    """Return the Problem of `jax.jit(function).lower(...)`: temporary buffers, one event of XLA's heap simulator per step; and warnings.

    This compiles it once more, since only a dump has the times: not every back end has them in `compiled.memory_analysis()`. Raises BadInput
    if XLA places no temporary buffers.
    """
    with TemporaryDirectory() as folder:
        lowered.compile(compiler_options={"xla_dump_to": folder, "xla_dump_hlo_as_proto": True})
        found = sorted(Path(folder).glob(DUMPED))
        if not found:
            raise bad_input(Code.MISSING_FIELD, (), "this back end of JAX dumps no buffer assignment")
        return read_problem(found[-1].read_bytes(), format="xla")
