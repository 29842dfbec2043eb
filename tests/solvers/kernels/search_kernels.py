"""Calls the search kernels, native and reference, on instances, and keeps all that they say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from solvers.kernels import Kernels
from solvers.kernels.columns import columns
from solvers.model.instance import Instance, Ints


@dataclass(frozen=True)
class Said:
    """All that a kernel said."""

    end: str
    offsets: list[int] | None
    bound: int
    nodes: int
    work: int
    better: tuple[tuple[list[int], int], ...]
    """Offsets and bound whenever it knew better offsets."""


@dataclass(frozen=True)
class Ask:
    """What a kernel is asked."""

    bound: int = 0
    incumbent: int | None = None
    fit: bool = False
    seed: int = 0
    threads: int = 1
    work: int | None = None
    max_pairs: int = 1_000_000
    until: Callable[[], bool] = lambda: False
    """Asked at every report; true stops the search."""
    active_threads: Ints | None = None


def ask(kernel: Kernels, instance: Instance, wish: Ask) -> Said:
    better: list[tuple[list[int], int]] = []

    def report(offsets: Ints | None, bound: int) -> bool:
        if offsets is not None:
            better.append((offsets.tolist(), bound))
        return wish.until()

    end, offsets, bound, nodes, work = kernel.search(
        sections=instance.sections,
        columns=columns(instance),
        bound=wish.bound,
        incumbent=wish.incumbent,
        fit=wish.fit,
        seed=wish.seed,
        threads=wish.threads,
        work=wish.work,
        max_pairs=wish.max_pairs,
        report=report,
        active_threads=wish.active_threads,
    )
    return Said(str(end), None if offsets is None else offsets.tolist(), bound, nodes, work, tuple(better))
