"""JAX functions become problems. Run by scripts/compilers."""

from __future__ import annotations

from typing import Any

import pytest

from planner import plan, verify
from planner.compilers import jax_problem

jax: Any = pytest.importorskip("jax", reason="JAX is not installed (./scripts/compilers)")


def test_a_function_s_problem_equals_xla_s_placement() -> None:
    def function(x: Any, inner: Any, outer: Any) -> Any:
        hidden = jax.numpy.tanh(x @ inner)
        return jax.lax.fori_loop(0, 5, lambda _, carried: jax.numpy.tanh(carried @ outer) + hidden, hidden).sum()

    shapes = [jax.ShapeDtypeStruct(shape, "float32") for shape in ((64, 128), (128, 256), (256, 256))]
    lowered = jax.jit(function).lower(*shapes)
    problem = jax_problem(lowered)
    found = plan(problem)
    theirs = lowered.compile().memory_analysis().temp_size_in_bytes
    assert verify(problem, found) == ()
    assert found.status == "optimal"
    assert 0.9 * theirs < (found.peak or 0) <= theirs
