"""The parts of tensors that are read: from the outputs back to the inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from .operators import Network
from .windows import Box, Step, steps_of


@dataclass(frozen=True)
class Flow:
    """A sound network, and the makers and readers of its tensors."""

    network: Network

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        return steps_of(self.network)

    @cached_property
    def maker(self) -> Mapping[int, int]:
        """Return, by tensor, the step that makes it; inputs have none."""
        return {step.output: s for s, step in enumerate(self.steps)}

    @cached_property
    def readers(self) -> Mapping[int, tuple[int, ...]]:
        """Return, by tensor, the steps that read it."""
        found: dict[int, list[int]] = {t: [] for t in range(len(self.network.tensors))}
        for s, step in enumerate(self.steps):
            for each in dict.fromkeys(step.inputs):
                found[each].append(s)
        return {t: tuple(steps) for t, steps in found.items()}

    @cached_property
    def outputs(self) -> frozenset[int]:
        """Return the network's outputs."""
        return frozenset(
            t
            for t, tensor in enumerate(self.network.tensors)
            if tensor.is_output or (t in self.maker and not self.readers[t])
        )

    @cached_property
    def demand(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Return, by tensor, the part that is computed because it is read; inputs are given whole."""
        boxes: dict[int, Box] = {
            t: Box.of([(0, extent) for extent in tensor.shape])
            for t, tensor in enumerate(self.network.tensors)
            if t in self.outputs or t not in self.maker
        }
        for step in reversed(self.steps):
            for windows, each in zip(step.windows, step.inputs, strict=True):
                box = windows.needed(boxes[step.output])
                boxes[each] = boxes[each].around(box) if each in boxes else box
        return {
            t: tuple((int(low), int(high)) for (low,), (high,) in zip(box.low, box.high, strict=True))
            for t, box in boxes.items()
        }

    def planned(self, inputs: bool, outputs: bool) -> list[int]:
        """Return the tensors that the caller does not provide: with or without the network's inputs and outputs."""
        return [
            t
            for t in range(len(self.network.tensors))
            if (inputs or t in self.maker) and (outputs or t not in self.outputs)
        ]

    def whole_bytes(self, tensor: int) -> int:
        extents = tuple(high - low for low, high in self.demand[tensor])
        return self.network.bytes(extents, self.network.tensors[tensor].element_bits)

    def is_inner(self, tensor: int, first: int, last: int) -> bool:
        """True if only the steps from first to last make or read it."""
        made = self.maker.get(tensor)
        return made is not None and made >= first and tensor not in self.outputs and self.readers[tensor][-1] <= last
