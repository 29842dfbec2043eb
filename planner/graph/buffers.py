"""The buffers of a program's tensors, in columns if they are many and plain."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from ..model.columns.buffers import BufferColumns
from ..model.columns.rows import FEW
from ..model.problem import MAX_ADDRESS, Buffer, BufferId, Fixed, Interval
from .operators import Tensor, TensorKind


class Gathered:
    """Buffers as they are made. Numbers of most are kept, and objects of those that have more than columns can say."""

    def __init__(self, *, keeps: bool) -> None:
        """`keeps`: the problem has rules or several pools, so that its buffers are looked at one by one."""
        self._keeps = keeps
        self._ids: list[BufferId] = []
        self._kinds: list[str] = []
        self._size, self._alignment, self._start, self._end = (array("q") for _ in range(4))
        self._others: dict[int, Buffer] = {}

    def add(
        self, id_: BufferId, tensor: Tensor, alignment: int, spans: tuple[Interval, ...], fixed: Fixed | None
    ) -> None:
        """Make the buffer of a tensor that is needed at these times."""
        kind = "output" if tensor.is_output and tensor.kind is not TensorKind.MUTABLE else tensor.kind.value
        is_plain = tensor.pools is None and tensor.device is None and fixed is None and alignment <= MAX_ADDRESS
        if is_plain and len(spans) < 2:
            start, end = spans[0] if spans else (0, 0)
            self._size.append(tensor.bytes)
            self._alignment.append(alignment)
        else:
            start = end = 0
            self._size.append(0)
            self._alignment.append(1)
            self._others[len(self._ids)] = Buffer(
                id_,
                tensor.bytes,
                alignment,
                live=spans,
                pools=tensor.pools,
                fixed=fixed,
                kind=kind,
                device=tensor.device,
            )
        self._start.append(start)
        self._end.append(end)
        self._ids.append(id_)
        self._kinds.append(kind)

    def buffers(self) -> Sequence[Buffer]:
        numbers = (self._size, self._alignment, self._start, self._end)
        size, alignment, start, end = (np.frombuffer(each, np.int64) for each in numbers)
        columns = BufferColumns(self._ids, size, alignment, start, end, self._kinds)
        if len(self._ids) <= FEW or self._others:
            return tuple(self._others.get(i, buffer) for i, buffer in enumerate(columns))
        return columns.kept() if self._keeps else columns
