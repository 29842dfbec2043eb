"""What a piece of an output needs is found by recording what an operator reads; here for channels of which several are made."""

from __future__ import annotations

import numpy as np
import pytest

from planner.graph.cascades.operators import Kind, Network, Operator, Padding, Tensor
from planner.graph.cascades.windows import Box, steps_of

from .running import Array, Machine


@pytest.mark.parametrize("multiplier", [1, 2, 3, 4])
def test_a_piece_of_channels_needs_those_that_it_is_made_of(multiplier: int) -> None:
    tensors = (Tensor("x", (6, 6, 4)), Tensor("y", (6, 6, 4 * multiplier)))
    operator = Operator(Kind.DEPTHWISE, ("x",), "y", kernel=(3, 3), padding=Padding.SAME)
    network = Network(tensors, (operator,))
    (step,), machine = steps_of(network), Machine(network, 0)
    assert (step.effort, step.weights) == (9, 9 * 4 * multiplier)
    for low in range(4 * multiplier):
        for high in range(low + 1, 4 * multiplier + 1):
            read: set[int] = set()

            def reading(_: int, where: list[Array]) -> Array:
                read.update(where[-1].tolist())  # noqa: B023 - used at once
                found: Array = machine.inputs["x"][np.ix_(*where)]
                return found

            machine.piece(0, [(0, 6), (0, 6), (low, high)], reading)
            needed = step.windows[0].needed(Box.of([(0, 6), (0, 6), (low, high)]))
            assert list(range(int(needed.low[2, 0]), int(needed.high[2, 0]))) == sorted(read)
            window = step.windows[0].axes[2]
            assert (window.first(low), window.end(high)) == (min(read), max(read) + 1)
