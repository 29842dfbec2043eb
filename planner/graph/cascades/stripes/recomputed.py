"""Stripes that share nothing: each piece of the output is computed from the group's inputs, even what two pieces need."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..demand import Flow
from ..windows import Box
from ..work import Cycles, Work
from .cutting import block_along
from .group import Group, Inner, Mode, Stripes


def recomputed(
    flow: Flow, last: int, extents: tuple[int, ...], least_first: int, blocks: Sequence[int], cycles: Cycles
) -> Iterator[Group]:
    """Return the groups that end with step `last` in such stripes, the shortest first."""
    network, stripes = flow.network, Stripes(Mode.RECOMPUTE, extents)
    boxes = {flow.steps[last].output: _grid(flow.demand[flow.steps[last].output], extents)}
    live = dict.fromkeys(range(least_first, last + 1), 0)
    inner: list[Inner] = []
    constants = total = 0
    for s in range(last, least_first - 1, -1):
        step = flow.steps[s]
        made = step.output
        if s < last and not flow.is_inner(made, s, last):
            return
        box, bits = boxes[made], network.tensors[made].element_bits
        if s < last:
            end = flow.readers[made][-1] + 1
            size = _largest(box, network.channels_multiple, bits)
            inner.append(Inner(made, size, s, end))
            for at in range(s, end):
                live[at] += size
        constants += step.operator.constants
        read = 0
        for windows, each in zip(step.windows, step.inputs, strict=True):
            need = windows.needed(box)
            boxes[each] = boxes[each].around(need) if each in boxes else need
            read += int(need.volumes.sum()) * network.tensors[each].element_bits
        runs = int(np.count_nonzero(~box.is_empty))
        work = Work(
            operator=step.operator,
            operations=_in_blocks(box, blocks) * step.effort,
            bytes_read=-(-read // 8) + runs * step.weights,
            bytes_written=-(-int(box.volumes.sum()) * bits // 8),
            runs=runs,
        )
        total += cycles(work)
        yield Group(s, last, stripes, tuple(inner), max(live.values()) + constants, total)


def whole(flow: Flow, at: int, blocks: Sequence[int], cycles: Cycles) -> Group:
    """Return the group of one operator by itself."""
    extents = tuple(max(high - low, 1) for low, high in flow.demand[flow.steps[at].output])
    return next(recomputed(flow, at, extents, at, blocks, cycles))._replace(stripes=None)


def _grid(demand: Sequence[tuple[int, int]], extents: Sequence[int]) -> Box:
    """Return the stripes, the last axis fastest."""
    cuts = [np.arange(low, high, extent, dtype=np.int64) for (low, high), extent in zip(demand, extents, strict=True)]
    if any(not len(each) for each in cuts):
        empty = np.array([[low] for low, _ in demand], np.int64)
        return Box(empty, empty)
    lows = np.stack([each.ravel() for each in np.meshgrid(*cuts, indexing="ij")])
    ends = np.array([[high] for _, high in demand], np.int64)
    return Box(lows, np.minimum(lows + np.array(extents, np.int64)[:, None], ends))


def _largest(box: Box, channels_multiple: int, bits: int) -> int:
    """Return the bytes of the largest piece."""
    sizes = box.high - box.low
    sizes[-1] = -(-sizes[-1] // channels_multiple) * channels_multiple
    return -(-int(np.multiply.reduce(sizes, axis=0).max()) * bits // 8)


def _in_blocks(box: Box, blocks: Sequence[int]) -> int:
    """Return the elements of all pieces together, with whole blocks computed."""
    if not blocks:
        return int(box.volumes.sum())
    sizes = box.high - box.low
    of_axes = np.array([[block_along(axis, len(sizes), blocks)] for axis in range(len(sizes))])
    sizes = -(-sizes // of_axes) * of_axes
    return int(np.multiply.reduce(sizes, axis=0).sum())
