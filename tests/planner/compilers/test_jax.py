"""JAX functions become problems. Run by scripts/compilers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from planner import plan, read_problem, verify
from planner.compilers import jax_problem
from tests.planner.formats.dumps.test_dumps import assigned, events, logical


class Dumped:
    """A function whose compilation writes these bytes where XLA dumps its buffer assignment."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def compile(self, compiler_options: dict[str, Any]) -> None:
        Path(compiler_options["xla_dump_to"], "f.cpu_after_optimizations.hlo.pb").write_bytes(self._data)


def test_warnings_of_the_reader_are_returned() -> None:
    made = logical(1, 64) + logical(2, 8) + assigned(72, (1, 0), (2, 64)) + events((0, 1, 0))
    problem, warnings = jax_problem(Dumped(made))
    assert ([each.size for each in problem.buffers], len(warnings)) == ([64], 1)
    assert warnings == read_problem(made, format="xla")[1]


def test_a_function_s_problem_equals_xla_s_placement() -> None:
    jax: Any = pytest.importorskip("jax", reason="JAX is not installed (./scripts/compilers)")

    def function(x: Any, inner: Any, outer: Any) -> Any:
        hidden = jax.numpy.tanh(x @ inner)
        return jax.lax.fori_loop(0, 5, lambda _, carried: jax.numpy.tanh(carried @ outer) + hidden, hidden).sum()

    shapes = [jax.ShapeDtypeStruct(shape, "float32") for shape in ((64, 128), (128, 256), (256, 256))]
    lowered = jax.jit(function).lower(*shapes)
    problem, _ = jax_problem(lowered)
    found = plan(problem)
    theirs = lowered.compile().memory_analysis().temp_size_in_bytes
    assert verify(problem, found) == ()
    assert found.status == "optimal"
    assert 0.9 * theirs < (found.peak or 0) <= theirs
