"""A program written step by step: every step makes a tensor, which is needed until the last step that reads it."""

from __future__ import annotations

from ...model.problem import Buffer
from ..chance import Chance


class Tape:
    """Steps in the order in which they run. Tensors are known by number."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._kinds: list[str] = []
        self._sizes: list[int] = []
        self._births: list[int] = []
        self._last: list[int] = []
        self._time = 0

    def __len__(self) -> int:
        """Return the number of tensors."""
        return len(self._names)

    def step(self, name: str, size: int, *inputs: int, scratch: int = 0) -> int:
        """Add a step that reads `inputs` and makes a tensor; `scratch` is memory that it needs while it runs."""
        for tensor in inputs:
            self._last[tensor] = self._time
        if scratch:
            self._add(f"{name}.scratch", "workspace", scratch)
        self._add(name, "intermediate", size)
        self._time += 1
        return len(self) - 1

    def chain(self, chance: Chance, count: int, largest: int) -> None:
        """Add steps that each read the one before, until there are `count` tensors."""
        while len(self) < count:
            self.step("head", chance.spread(64, largest), *([len(self) - 1] if len(self) else []))

    def buffers(self, count: int) -> tuple[Buffer, ...]:
        """Return the first `count` tensors; the program ends after the last of them."""
        end = self._births[count - 1] + 1 if count else 0
        return tuple(
            Buffer(f"{self._names[i]}.{i}", self._sizes[i], live=((birth, min(self._last[i] + 1, end)),), kind=kind)
            for i, (birth, kind) in enumerate(zip(self._births[:count], self._kinds, strict=False))
        )

    def _add(self, name: str, kind: str, size: int) -> None:
        self._names.append(name)
        self._kinds.append(kind)
        self._sizes.append(size)
        self._births.append(self._time)
        self._last.append(self._time)
