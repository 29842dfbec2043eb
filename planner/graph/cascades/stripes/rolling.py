"""Rolling buffers: each operator runs as late as possible and makes only what is missing; rows stay while they are needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ..demand import Flow
from ..windows import Box, Window
from ..work import Cycles, Work
from .cutting import MOST_STRIPES, block_along
from .group import Group, Inner, Stripes


def rolling(
    flow: Flow, last: int, stripes: Stripes, least_first: int, blocks: Sequence[int], cycles: Cycles
) -> Iterator[Group]:
    """Return the groups that end with step `last` and roll along an axis of its output, the shortest first."""
    run = _Run(flow, last, stripes, least_first)
    run.to_the_end()
    network = flow.network
    inner: list[Inner] = []
    own = total = 0
    for s in range(last, run.first - 1, -1):
        step, turn = flow.steps[s], run.turns[s]
        if s < last:
            extents = [high - low for low, high in flow.demand[step.output]]
            if turn.axis is not None:
                extents[turn.axis] = turn.held
            size = network.bytes(tuple(extents), network.tensors[step.output].element_bits)
            inner.append(Inner(step.output, size, s, s + 1, None if turn.axis is None else turn.held, turn.axis))
            own += size
        own += step.operator.constants
        total += cycles(_work(flow, s, turn, blocks))
        yield Group(s, last, stripes, tuple(each._replace(start=s, end=last + 1) for each in inner), own, total)


def _work(flow: Flow, s: int, turn: _Turn, blocks: Sequence[int]) -> Work:
    step, tensors = flow.steps[s], flow.network.tensors
    demand = flow.demand[step.output]
    written = [high - low for low, high in demand]
    box = Box.of(demand)
    of_axes = [block_along(axis, len(written), blocks) for axis in range(len(written))]
    made = prod(
        -(-extent // block) * block
        for k, (extent, block) in enumerate(zip(written, of_axes, strict=True))
        if k != turn.axis
    )
    if turn.axis is not None:
        block = of_axes[turn.axis]
        made *= sum(-(-rows // block) * block * times for rows, times in turn.sizes.items())
        written[turn.axis] = sum(rows * times for rows, times in turn.sizes.items())
    read = 0
    for k, (windows, each) in enumerate(zip(step.windows, step.inputs, strict=True)):
        extents = [int(high - low) for (low,), (high,) in zip(*windows.needed(box), strict=True)]
        along = rolled_axis(windows.axes, turn.axis)
        if along is not None:
            extents[along] = turn.rows_read[k]
            read += prod(extents) * tensors[each].element_bits
        else:
            read += turn.runs * prod(extents) * tensors[each].element_bits
    return Work(
        operator=step.operator,
        operations=made * step.effort,
        bytes_read=-(-read // 8) + turn.runs * step.weights,
        bytes_written=-(-prod(written) * tensors[step.output].element_bits // 8),
        runs=turn.runs,
    )


def rolled_axis(axes: Sequence[Window], axis: int | None) -> int | None:
    """Return the input's axis that moves with the output's; None if there is none, or more than one."""
    found = [k for k, window in enumerate(axes) if window.stride and window.axis == axis]
    return found[0] if axis is not None and len(found) == 1 else None


class _Turn:
    """The progress of an operator."""

    def __init__(self, axis: int | None, low: int, high: int) -> None:
        self.axis = axis
        """An axis of its output; None: it runs once, and makes everything."""
        self.done = low
        """Everything before this is made, or not needed."""
        self.high = high
        self.chunk = 0
        """The rows of a run, once it rolls."""
        self.held = 0
        """The most rows needed at one time."""
        self.runs = 0
        self.sizes: dict[int, int] = {}
        """The number of runs by the rows made."""
        self.rows_read: list[int] = []
        self.readers: list[tuple[_Turn, Window]] = []
        """The readers that read it row by row, and their windows."""


class _Run:
    """All operators of the longest group that ends with a step."""

    def __init__(self, flow: Flow, last: int, stripes: Stripes, least_first: int) -> None:
        self._flow = flow
        self._last = last
        self.turns: dict[int, _Turn] = {}
        self.first = last
        while self.first > least_first and flow.is_inner(flow.steps[self.first - 1].output, self.first - 1, last):
            self.first -= 1
        for s in range(last, self.first - 1, -1):
            self._add(s, stripes)

    def _add(self, s: int, stripes: Stripes) -> None:
        step = self._flow.steps[s]
        axis: int | None = stripes.axis
        readers: list[tuple[_Turn, Window]] = []
        if s < self._last:
            axis, readers = self._read_along(step.output)
        low, high = (0, 1) if axis is None else self._flow.demand[step.output][axis]
        turn = self.turns[s] = _Turn(axis, low, high)
        turn.rows_read = [0] * len(step.inputs)
        turn.readers = readers
        wanted = max(
            (-(-reader.chunk // window.share) * window.stride for reader, window in readers),
            default=stripes.extents[stripes.axis],
        )
        # If a kernel reaches far, rows need not come one by one.
        turn.chunk = max(wanted, -(-(high - low) // MOST_STRIPES))

    def _read_along(self, tensor: int) -> tuple[int | None, list[tuple[_Turn, Window]]]:
        """Return the axis along which all readers of the tensor advance, and how."""
        axes: set[int | None] = set()
        readers: list[tuple[_Turn, Window]] = []
        for reader in self._flow.readers[tensor]:
            step, turn = self._flow.steps[reader], self.turns[reader]
            for windows, each in zip(step.windows, step.inputs, strict=True):
                if each == tensor:
                    along = rolled_axis(windows.axes, turn.axis)
                    axes.add(along)
                    if along is not None:
                        readers.append((turn, windows.axes[along]))
        (axis,) = axes if len(axes) == 1 else (None,)
        return axis, readers if axis is not None else []

    def to_the_end(self) -> None:
        turn = self.turns[self._last]
        self._advance(self._last, turn.high)

    def _advance(self, s: int, target: int) -> None:
        """Make what is missing before the target."""
        turn = self.turns[s]
        if turn.readers:
            turn.done = max(turn.done, min(target, *(window.first(reader.done) for reader, window in turn.readers)))
        while turn.done < target:
            end = target if turn.axis is None else min(turn.done + turn.chunk, target)
            self._ask(s, turn, end)
            turn.runs += 1
            turn.sizes[end - turn.done] = turn.sizes.get(end - turn.done, 0) + 1
            turn.done = end
        if turn.readers:
            kept = min(window.first(reader.done) for reader, window in turn.readers)
            turn.held = max(turn.held, turn.done - kept)

    def _ask(self, s: int, turn: _Turn, end: int) -> None:
        """Have the inputs made that a run up to `end` reads."""
        step = self._flow.steps[s]
        for k, (windows, each) in enumerate(zip(step.windows, step.inputs, strict=True)):
            along = rolled_axis(windows.axes, turn.axis)
            maker = self._flow.maker.get(each)
            made_by = self.turns.get(maker) if maker is not None else None
            if along is not None:
                window = windows.axes[along]
                turn.rows_read[k] += max(window.end(end) - window.first(turn.done), 0)
            if made_by is not None and maker is not None:
                whole = made_by.axis is None or along is None
                self._advance(maker, made_by.high if whole else window.end(end))
