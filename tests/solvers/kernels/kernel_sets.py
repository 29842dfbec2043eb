"""The two sets of kernels, for tests that use one or both, and a call of their search with all its outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from solvers.kernels import Kernels, Origin, active, selection
from solvers.kernels.columns import columns
from solvers.kernels.selection import Wanted, select
from solvers.model.instance import Instance, Ints


def native() -> Kernels:
    """Return the native kernels; skip the test where there are none."""
    found = select(Wanted.AUTO)
    if found.origin is not Origin.NATIVE:
        pytest.skip(f"no native kernels: {found.reason}")
    return found.kernels


def reference() -> Kernels:
    """Return the Python kernels."""
    return select(Wanted.REFERENCE).kernels


def of_origin(origin: str) -> Kernels:
    """Return the kernels of this origin; skip the test where there are none."""
    return native() if origin == Origin.NATIVE else reference()


def where_native_run(why: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test where this process does not use the native kernels."""
    return pytest.mark.skipif(active().origin is not Origin.NATIVE, reason=f"native kernels are not in use: {why}")


def use_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the Python kernels to all solvers that select kernels from now on."""
    monkeypatch.setattr(selection, "active", lambda: select(Wanted.REFERENCE))


@dataclass(frozen=True)
class Answer:
    """All outputs of a kernel's search."""

    end: str
    offsets: list[int] | None
    bound: int
    nodes: int
    work: int
    better: tuple[tuple[list[int], int], ...]
    """The offsets and the bound of each report that brought better offsets."""


@dataclass(frozen=True)
class Ask:
    """The inputs of a kernel's search, besides the instance."""

    bound: int = 0
    incumbent: int | None = None
    fit: bool = False
    seed: int = 0
    threads: int = 1
    work: int | None = None
    max_pairs: int = 1_000_000
    until: Callable[[], bool] = lambda: False
    """Called at every report; the search stops when it returns True."""
    active_threads: Ints | None = None


def ask(kernel: Kernels, instance: Instance, wish: Ask) -> Answer:
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
    return Answer(str(end), None if offsets is None else offsets.tolist(), bound, nodes, work, tuple(better))
