"""Native and reference kernels give the same answers, and which of them run is decided as documented."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from inspect import signature
from itertools import combinations
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers import kernels
from solvers.fitting.orders import ORDERS
from solvers.kernels import BadKernelInput, Kernels, selection
from solvers.kernels.selection import KernelsUnavailable, Origin, Selection, Wanted, promised, select
from solvers.model.instance import Ints
from tests.small.strategies import NIGHTLY, effort

LIMIT = 1 << 62
ROOT = Path(__file__).resolve().parents[3]


def available() -> dict[str, Kernels]:
    """Return all sets of kernels of this installation; CI demands the native ones (MEMPLAN_KERNELS=native)."""
    chosen = [select(Wanted.REFERENCE), select(Wanted.AUTO)]
    return {each.origin: each.kernels for each in chosen}


@pytest.fixture(params=list(Origin))
def each(request: pytest.FixtureRequest) -> Kernels:
    found = available()
    if request.param not in found:
        pytest.skip(f"no {request.param} kernels: {select(Wanted.AUTO).reason}")
    return found[request.param]


def ints(*numbers: int) -> Ints:
    return np.array(numbers, dtype=np.int64)


def by_hand(rects: list[tuple[int, int, int]], sections: int) -> tuple[int, int | None]:
    """Return the greatest live weight and the first section that has it, by the definition."""
    sums = [sum(weight for start, end, weight in rects if start <= s < end) for s in range(sections)]
    return (max(sums), sums.index(max(sums))) if sums else (0, None)


def columns(rects: list[tuple[int, int, int]]) -> tuple[Ints, Ints, Ints]:
    table = np.array(rects, dtype=np.int64).reshape(len(rects), 3)
    return table[:, 0], table[:, 1], table[:, 2]


@st.composite
def sweeps(draw: st.DrawFn) -> tuple[list[tuple[int, int, int]], int]:
    sections = draw(st.integers(0, 12))
    times = st.integers(0, sections)
    weights = st.one_of(st.integers(0, 5), st.integers(0, 1 << 58))
    rects = draw(st.lists(st.tuples(times, times, weights), max_size=12))
    return [(min(a, b), max(a, b), weight) for a, b, weight in rects], sections


@given(sweeps())
def test_max_live_agrees_with_its_definition(sweep: tuple[list[tuple[int, int, int]], int]) -> None:
    rects, sections = sweep
    expected = by_hand(rects, sections)
    for found in available().values():
        assert found.max_live(*columns(rects), sections) == expected


def test_the_first_of_equal_sections_is_named(each: Kernels) -> None:
    assert each.max_live(ints(1, 3), ints(2, 4), ints(7, 7), 5) == (7, 1)


def test_without_live_blocks_the_sum_is_zero_in_the_first_section(each: Kernels) -> None:
    assert each.max_live(ints(), ints(), ints(), 3) == (0, 0)
    assert each.max_live(ints(2), ints(2), ints(9), 3) == (0, 0)


def test_without_sections_no_section_is_named(each: Kernels) -> None:
    assert each.max_live(ints(), ints(), ints(), 0) == (0, None)


def test_sums_just_below_the_limit_are_exact(each: Kernels) -> None:
    assert each.max_live(ints(0, 0, 1), ints(2, 2, 2), ints(LIMIT - 4, 2, 1), 2) == (LIMIT - 1, 1)


@pytest.mark.parametrize(
    ("starts", "ends", "weights", "sections"),
    [
        pytest.param(ints(0), ints(1), ints(LIMIT), 1, id="one weight too large"),
        pytest.param(ints(*[0] * 8), ints(*[1] * 8), ints(*[1 << 61] * 8), 1, id="a total that wraps to zero"),
        pytest.param(ints(0, 1), ints(1, 2), ints(1 << 61, 1 << 61), 2, id="a total of exactly 2^62"),
        pytest.param(ints(0), ints(1), ints(-1), 1, id="negative weight"),
        pytest.param(ints(-1), ints(1), ints(1), 1, id="starts before the first section"),
        pytest.param(ints(0), ints(2), ints(1), 1, id="ends after the last section"),
        pytest.param(ints(1), ints(0), ints(1), 1, id="ends before it starts"),
        pytest.param(ints(0, 0), ints(1), ints(1), 1, id="different lengths"),
        pytest.param(ints(), ints(), ints(), -1, id="negative number of sections"),
        pytest.param(ints(), ints(), ints(), LIMIT, id="too many sections"),
    ],
)
def test_a_broken_contract_is_refused(each: Kernels, starts: Ints, ends: Ints, weights: Ints, sections: int) -> None:
    with pytest.raises(BadKernelInput):
        each.max_live(starts, ends, weights, sections)


def test_read_only_and_strided_arrays_are_accepted(each: Kernels) -> None:
    table = np.arange(12, dtype=np.int64).reshape(4, 3)
    table[:, 1] = 12
    table.setflags(write=False)
    reversed_rows = table[::-1]
    assert each.max_live(reversed_rows[:, 0], reversed_rows[:, 1], reversed_rows[:, 2], 12) == (26, 9)


def test_native_kernels_refuse_other_types_rather_than_convert_them() -> None:
    native = available().get(Origin.NATIVE)
    if native is None:
        pytest.skip(f"no native kernels: {select(Wanted.AUTO).reason}")
    with pytest.raises(TypeError):
        native.max_live(np.array([0.5]), ints(1), ints(1), 1)


def test_kernels_may_run_side_by_side(each: Kernels) -> None:
    n = 20_000
    starts = np.arange(n, dtype=np.int64)
    answers: list[tuple[int, int | None]] = []
    threads = [
        threading.Thread(target=lambda: answers.append(each.max_live(starts, starts + 1, starts, n))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [(n - 1, n - 1)] * 4


def test_the_package_offers_the_active_kernels() -> None:
    assert kernels.active().kernels.max_live(ints(0, 1), ints(2, 3), ints(2, 3), 3) == (5, 1)


def test_the_reference_can_be_asked_for() -> None:
    chosen = select("reference")
    assert chosen.origin is Origin.REFERENCE
    assert chosen.reason is not None
    assert "MEMPLAN_KERNELS=reference" in chosen.reason


def test_an_unknown_set_of_kernels_is_refused() -> None:
    with pytest.raises(KernelsUnavailable, match="auto, native, reference"):
        select("fast")


def without_native(monkeypatch: pytest.MonkeyPatch, stand_in: ModuleType | None) -> None:
    """Make importing the compiled module return stand_in; without one, fail as if it were not installed."""

    def import_module(name: str) -> ModuleType:
        if name == selection.NATIVE_MODULE:
            if stand_in is None:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)
            return stand_in
        return sys.modules[name]

    monkeypatch.setattr(selection, "import_module", import_module)


def test_without_native_kernels_the_reference_runs_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    reference = select("reference").kernels
    without_native(monkeypatch, None)
    chosen = select("auto")
    assert chosen == Selection(Origin.REFERENCE, reference, chosen.reason)
    assert "no working C++ compiler" in (chosen.reason or "")


def test_demanding_missing_native_kernels_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    without_native(monkeypatch, None)
    with pytest.raises(KernelsUnavailable, match="MEMPLAN_KERNELS=native, but"):
        select("native")


def test_native_kernels_that_lag_behind_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    select("reference")
    without_native(monkeypatch, ModuleType(selection.NATIVE_MODULE))
    chosen = select("auto")
    assert chosen.origin is Origin.REFERENCE
    assert "older than the rest" in (chosen.reason or "")


def stand_in(change: Callable[[str, str], str]) -> ModuleType:
    """Return a stand-in for the compiled module, with changed signatures."""
    module = ModuleType(selection.NATIVE_MODULE)
    for name, arguments in promised().items():
        text = f"def {name}({', '.join(f'{argument}: int' for argument in arguments)}) -> object"
        setattr(module, name, Compiled(change(name, text)))
    return module


class Compiled:
    """A function as the compiled module has it; when called, it lists the orders."""

    def __init__(self, signature: str) -> None:
        self.__nb_signature__ = ((signature, "", None),)

    def __call__(self) -> list[str]:
        return list(ORDERS)


@pytest.mark.parametrize("name", promised())
def test_native_kernels_that_take_other_arguments_are_not_used(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    select("reference")
    without_native(monkeypatch, stand_in(lambda _, text: text))
    assert select("auto").origin is Origin.NATIVE
    longer = stand_in(lambda each, text: text.replace(") ->", ", more: int) ->") if each == name else text)
    renamed = stand_in(lambda each, text: text.replace(": int", "s: int") if each == name else text)
    for module in (longer, *([renamed] if promised()[name] else [])):
        without_native(monkeypatch, module)
        chosen = select("auto")
        assert chosen.origin is Origin.REFERENCE
        assert f"older than the rest of memplan (no {name})" in (chosen.reason or "")


def test_native_kernels_without_an_order_of_the_table_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    select("reference")
    without_native(monkeypatch, stand_in(lambda _, text: text))
    monkeypatch.setitem(ORDERS, "shade", ORDERS["size"])
    assert select("auto").origin is Origin.NATIVE  # the stand-in lists the table's orders
    monkeypatch.setattr(Compiled, "__call__", lambda _: ["size", "area"])
    assert "no order width_area_total" in (select("auto").reason or "")


def test_both_sets_of_kernels_take_the_arguments_of_the_interface() -> None:
    python = select("reference").kernels
    for name, arguments in promised().items():
        assert tuple(signature(getattr(python, name)).parameters) == arguments, name


def python_kernels_after(code: str, wanted: str) -> set[str]:
    """Return the names of the Python kernels that a new process has imported after this code."""
    code += "\nimport sys; print(*(m for m in sys.modules if m.startswith('solvers.kernels.python.')))"
    environment = {**os.environ, selection.VARIABLE: wanted}
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment).stdout
    return {module.removeprefix("solvers.kernels.python.") for module in output.split()}


def test_only_the_python_kernels_in_use_are_imported() -> None:
    code = "from solvers.kernels import active\nkernels = active().kernels\n"
    assert python_kernels_after(code, "reference") == {"kernels"}
    assert python_kernels_after(code + "kernels.greedy_orders()", "reference") == {"kernels", "greedy", "input"}


EVERY_SOLVER_WITH_KERNELS = """
import numpy as np
from solvers.heuristics.greedy.packing import packed
from solvers.fitting.orders import Fit
from solvers.model.instance import Placement
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance

instance = make_instance([(0, 2, 4), (1, 3, 5), (2, 4, 4), (0, 1, 2)])
start = Placement.in_one_pool([0, 20, 40, 60])
for name in ("greedy", "search", "improve", "beam", "gluing"):
    outcome = get(name).solve(instance, Task(Limits(work=500), start=start, bound=(1,)), Silent())
    assert outcome.value == (9,), (name, outcome)
assert packed(instance, 0, np.arange(4), "size", Fit.BEST) is not None
"""


def test_with_native_kernels_no_python_kernel_is_imported() -> None:
    if Origin.NATIVE not in available():
        pytest.skip(f"no native kernels: {select(Wanted.AUTO).reason}")
    assert python_kernels_after(EVERY_SOLVER_WITH_KERNELS, "native") == set()
    used = python_kernels_after(EVERY_SOLVER_WITH_KERNELS, "reference")
    assert {"kernels", "greedy", "search", "improve", "beam", "gluing"} <= used


@st.composite
def placements(draw: st.DrawFn) -> list[tuple[int, int, int, int, int]]:
    times, addresses = (
        st.tuples(st.integers(0, 9), st.integers(0, 9)),
        st.tuples(st.integers(-4, 9), st.integers(-4, 9)),
    )
    rects = draw(st.lists(st.tuples(times, st.integers(0, 1), addresses), max_size=9))
    unit = draw(st.sampled_from([1, 1 << 58]))
    return [(start, end, pool, unit * low, unit * high) for (start, end), pool, (low, high) in rects]


def share_something(a: tuple[int, int, int, int, int], b: tuple[int, int, int, int, int]) -> bool:
    return (
        max(a[0], b[0]) < min(a[1], b[1]) and a[2] == b[2] and max(a[3], b[3]) < min(a[4], b[4])
    )  # an empty lifetime shares nothing


@effort(60, 10_000)
@given(placements())
def test_apart_agrees_with_comparing_all_pairs(rects: list[tuple[int, int, int, int, int]]) -> None:
    table = np.array(rects, dtype=np.int64).reshape(len(rects), 5)
    expected = not any(share_something(a, b) for a, b in combinations(rects, 2))
    for found in available().values():
        assert found.apart(*table.T) is expected


@pytest.mark.parametrize("count", [63, 64, 65, 64 * 64, 64 * 64 + 1, 70_000 if NIGHTLY else 20_000])
def test_many_touching_rectangles_are_apart_until_one_moves(each: Kernels, count: int) -> None:
    number = np.arange(count, dtype=np.int64)
    order = number * 19 % count  # a permutation, as 19 divides none of the counts
    starts, ends, pools, lows = order, np.full(count, count), np.zeros_like(number), 10 * number
    assert each.apart(starts, ends, pools, lows, lows + 10)
    assert not each.apart(starts, ends, pools, lows, lows + 10 + (number == count // 2))


def test_columns_of_different_lengths_are_refused(each: Kernels) -> None:
    with pytest.raises(BadKernelInput):
        each.apart(ints(0), ints(1), ints(0), ints(0), ints())
