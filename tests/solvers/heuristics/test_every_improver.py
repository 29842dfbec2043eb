"""Every solver that lowers a placement's peak keeps its promises, with its native kernel and its Python reference."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.geometry.rules import violation
from solvers.heuristics.core import Core
from solvers.heuristics.improve import Beam, Gluing, Improve, Improver, LateFirst
from solvers.heuristics.mosaic.solver import Mosaic
from solvers.kernels.columns import columns
from solvers.model.errors import StopReason
from solvers.model.instance import Ints, Placement
from solvers.model.outcome import Outcome
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance, plain
from tests.solvers.heuristics.test_improve import first_placement, peak, recurrent
from tests.solvers.kernels.kernel_sets import native, use_reference

KERNELS = ("improve", "beam", "gluing")
IMPROVERS: dict[str, type[Improver]] = {
    "improve": Improve,
    "beam": Beam,
    "gluing": Gluing,
    "core": Core,
    "late_first": LateFirst,
    "mosaic": Mosaic,
}


@pytest.fixture(params=[(name, kernel) for name in IMPROVERS for kernel in ("native", "reference")], ids="-".join)
def solve(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Improver:
    name, kernel = request.param
    if kernel == "native":
        native()
    else:
        use_reference(monkeypatch)
    return IMPROVERS[name]()


def test_great_sizes_do_not_overflow(solve: Improver) -> None:
    size = 1 << 58
    blocks = [plain(0, 3, size), plain(1, 4, size), plain(3, 6, size, alignment=3 << 40)]
    instance = make_instance(blocks, capacity=(1 << 62) - 1)
    start = np.array([0, size, instance.highest[2, 0]], dtype=np.int64)
    outcome = solve.solve(instance, Task(limits=Limits(work=5_000), start=Placement.in_one_pool(start)), Silent())
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert peak(instance, outcome.placement.offset) < 1 << 61


def test_a_work_limit_ends_each_run_alike(solve: Improver) -> None:
    instance = recurrent(200)
    start = first_placement(instance)
    assert start is not None

    def once(workers: int) -> Outcome:
        limits = Limits(work=300, workers=workers)
        return solve.solve(instance, Task(limits=limits, start=Placement.in_one_pool(start), seed=3), Silent())

    first, second = once(1), once(2)
    assert first.placement is not None
    assert second.placement is not None
    assert first.placement.offset.tolist() == second.placement.offset.tolist()
    assert first.work == second.work
    assert first.reproducible


def test_a_cancelled_run_keeps_its_best_placement(solve: Improver) -> None:
    instance = recurrent(200)
    start = first_placement(instance)
    assert start is not None

    class Cancel(Silent):
        heard: int | None = None

        def incumbent(self, placement: Placement) -> None:
            self.heard = peak(instance, placement.offset)

        def stopped(self) -> StopReason | None:
            return None if self.heard is None else StopReason.CANCELLED

    control = Cancel()
    outcome = solve.solve(instance, Task(start=Placement.in_one_pool(start), bound=(1,)), control)
    assert (outcome.stop, outcome.reproducible) == (StopReason.CANCELLED, False)
    assert outcome.placement is not None
    assert control.heard is not None
    assert peak(instance, outcome.placement.offset) <= control.heard < peak(instance, start)


@pytest.mark.parametrize("name", KERNELS)
def test_an_error_of_the_listener_is_raised(name: str) -> None:
    instance = recurrent(200)
    start = first_placement(instance)
    assert start is not None

    def broken(_: Ints | None) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        getattr(native(), name)(instance.sections, columns(instance), start, 0, 0, 1 << 40, broken)
