"""Gluing keeps all rules, worsens no placement and packs again what was cut; both kernels decide alike."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from solvers.geometry.rules import violation
from solvers.heuristics.improve import Gluing
from solvers.kernels import BadKernelInput, Kernels, Origin
from solvers.kernels.columns import columns
from solvers.kernels.python.gluing.boxes import placed_below
from solvers.kernels.python.gluing.course import Course
from solvers.kernels.python.gluing.forest import Forest
from solvers.kernels.python.gluing.slack import Slack
from solvers.kernels.python.gluing.wheels import wheels_with
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Placement
from solvers.model.outcome import Outcome
from solvers.model.registry import get
from solvers.model.solver import Limits, Silent, Task
from tests.small.instances import make_instance, plain
from tests.small.strategies import NIGHTLY
from tests.solvers.heuristics.test_beam import aligned, bound_of
from tests.solvers.heuristics.test_improve import first_placement, never, peak
from tests.solvers.kernels.kernel_sets import native, of_origin, reference, where_native_run


@pytest.fixture
def kernel() -> Kernels:
    return native()


def packing(count: int, seed: int, dropped: int = 0, alignment: int = 1, steps: int | None = None) -> Instance:
    """An instance cut from a box of so many steps by straight cuts without waste, with some of the pieces dropped."""
    rng = random.Random(seed)
    pieces = [(0, 8 * count if steps is None else steps, 0, 1 << 20)]
    while len(pieces) < count:
        start, end, low, high = pieces.pop(rng.randrange(len(pieces)))
        if rng.random() < 0.5 and end - start > 1:
            at = rng.randint(start + max((end - start) // 6, 1), end - max((end - start) // 6, 1))
            pieces += [(start, at, low, high), (at, end, low, high)]
        elif high - low > 1:
            at = rng.randint(low + max((high - low) // 6, 1), high - max((high - low) // 6, 1))
            pieces += [(start, end, low, at), (start, end, at, high)]
        else:
            pieces.append((start, end, low, high))
    rng.shuffle(pieces)
    rows = [(start, end, (high - low) * alignment) for start, end, low, high in pieces[dropped:]]
    return make_instance([plain(start, end, size, alignment=alignment) for start, end, size in rows])


def around_wheels(count: int, seed: int, dropped: int = 0) -> Instance:
    """An instance cut from a box by straight cuts and, one in five, around a pinwheel, with some of the pieces dropped."""
    rng = random.Random(seed)
    pieces = [(0, 8 * count, 0, 1 << 20)]
    while len(pieces) < count:
        start, end, low, high = pieces.pop(rng.randrange(len(pieces)))
        if rng.random() < 0.2 and end - start > 2 and high - low > 2:
            left, right = sorted(rng.sample(range(start + 1, end), 2))
            under, over = sorted(rng.sample(range(low + 1, high), 2))
            pieces += [(start, right, low, under), (right, end, low, over), (left, end, over, high)]
            pieces += [(start, left, under, high), (left, right, under, over)]
        elif rng.random() < 0.5 and end - start > 1:
            at = rng.randint(start + 1, end - 1)
            pieces += [(start, at, low, high), (at, end, low, high)]
        elif high - low > 1:
            at = rng.randint(low + 1, high - 1)
            pieces += [(start, end, low, at), (start, end, at, high)]
        else:
            pieces.append((start, end, low, high))
    rng.shuffle(pieces)
    return make_instance([plain(start, end, high - low) for start, end, low, high in pieces[dropped:]])


def shrunk(count: int, seed: int) -> Instance:
    """The same with lives up to a quarter shorter and sizes up to a twentieth smaller: gluing leaves some pieces."""
    whole, rng = packing(count, seed), random.Random(seed)
    rows = zip(whole.rect_start.tolist(), whole.rect_end.tolist(), whole.part_high.tolist(), strict=True)
    return make_instance(
        [
            plain(
                start,
                max(start + 1, end - rng.randint(0, (end - start) // 4)),
                max(1, size * rng.randint(95, 100) // 100),
            )
            for start, end, size in rows
        ]
    )


def glued(instance: Instance, work: int) -> Outcome:
    """Return what becomes of all blocks on top of each other; it breaks no rule."""
    start = np.concatenate([[0], np.cumsum(instance.part_high)[:-1]])
    task = Task(limits=Limits(work=work), start=Placement.in_one_pool(start), bound=(bound_of(instance),))
    outcome = Gluing().solve(instance, task, Silent())
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    return outcome


def excess(instance: Instance, outcome: Outcome) -> float:
    """Return how far the placement ends above the bound, as a part of it."""
    assert outcome.placement is not None
    return peak(instance, outcome.placement.offset) / bound_of(instance) - 1


def compare(kernel: Kernels, instance: Instance, seed: int, work: int) -> int:
    """Assert that both kernels decide alike; return by how much the peak is lower than that of a first placement."""
    start = first_placement(instance, seed)
    assert start is not None
    arguments = (instance.sections, columns(instance), start, bound_of(instance), seed, work, never)
    expected, done = reference().gluing(*arguments)
    found, spent = kernel.gluing(*arguments)
    assert (found.tolist(), spent) == (expected.tolist(), done), seed
    assert violation(instance, Placement.in_one_pool(found)) is None, seed
    return peak(instance, start) - peak(instance, found)


@pytest.mark.parametrize("seeds", [range(first, first + 20) for first in range(0, 80 if NIGHTLY else 40, 20)], ids=str)
def test_the_kernel_decides_as_the_reference(kernel: Kernels, seeds: range) -> None:
    gains = [compare(kernel, aligned(seed), seed, 300) for seed in seeds]
    assert min(gains) >= 0
    assert sum(gain > 0 for gain in gains) > 5


@pytest.mark.parametrize(
    ("buffers", "dropped", "alignment"), [(60, 0, 1), (60, 4, 1), (60, 4, 64), (150, 0, 1), (150, 10, 1)]
)
def test_the_kernel_decides_as_the_reference_on_packings(
    kernel: Kernels, buffers: int, dropped: int, alignment: int
) -> None:
    for seed in range(3):
        assert compare(kernel, packing(buffers, seed, dropped, alignment), seed, 1_500) > 0


def test_the_kernel_decides_as_the_reference_where_many_blocks_live_for_one_step(kernel: Kernels) -> None:
    assert sum(compare(kernel, packing(150, seed, steps=12), seed, 3_000) > 0 for seed in range(4)) >= 2


def test_the_kernel_decides_as_the_reference_where_exact_joints_leave_some_pieces(kernel: Kernels) -> None:
    for seed in range(1, 4):
        assert compare(kernel, packing(300, seed, steps=12), seed, 12_000) > 0


def test_the_kernel_decides_as_the_reference_where_it_goes_on_to_lower_heights(kernel: Kernels) -> None:
    for seed in range(4):
        assert compare(kernel, shrunk(120, seed), seed, 10_000) > 0


@pytest.mark.parametrize(("buffers", "dropped"), [(40, 0), (40, 2), (150, 0), (150, 5)])
def test_the_kernel_decides_as_the_reference_around_wheels(kernel: Kernels, buffers: int, dropped: int) -> None:
    for seed in range(3):
        assert compare(kernel, around_wheels(buffers, seed, dropped), seed, 3_000) >= 0


def test_the_kernel_decides_as_the_reference_below_ceilings_that_what_fits_exactly_does_not_keep(
    kernel: Kernels,
) -> None:
    for seed in range(2):
        instance = packing(150, seed)
        highest = first_placement(instance, seed)
        assert highest is not None
        highest[highest > np.median(highest)] = instance.highest.max()
        compare(kernel, replace(instance, highest=np.minimum(instance.highest, highest[:, np.newaxis])), seed, 3_000)


def test_no_result_is_below_the_least_peak(kernel: Kernels) -> None:
    met = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows = [(s := int(rng.integers(0, 6)), s + int(rng.integers(1, 5)), int(rng.integers(1, 9))) for _ in range(6)]
        instance = make_instance(rows)
        start = first_placement(instance, seed)
        assert start is not None
        found, _ = kernel.gluing(instance.sections, columns(instance), start, 0, seed, 500, never)
        assert violation(instance, Placement.in_one_pool(found)) is None
        least = get("search").solve(instance, Task(), Silent()).value
        assert least is not None
        assert peak(instance, found) >= least[0]
        met += peak(instance, found) == least[0]
    assert met >= 30


@where_native_run("it takes the kernel in C++ a moment, the one in Python minutes")
def test_perfect_packings_are_packed_again() -> None:
    proven = 0
    for seed in range(6):
        instance = packing(600, seed)
        start = first_placement(instance)
        assert start is not None
        bound = bound_of(instance)
        task = Task(limits=Limits(work=300_000), start=Placement.in_one_pool(start), bound=(bound,))
        outcome = Gluing().solve(instance, task, Silent())
        assert outcome.placement is not None
        assert violation(instance, outcome.placement) is None
        proven += outcome.stop is StopReason.PROVED and outcome.value == (bound,)
    assert proven >= 4


@where_native_run("it takes the kernel in C++ a moment, the one in Python minutes")
def test_thousands_of_blocks_are_glued_by_their_sizes() -> None:
    """Where hundreds of blocks begin or end together, their sizes tell which of them belong together."""
    proven = 0
    for seed in (2, 3):
        instance = packing(6_000, seed)
        proven += glued(instance, 200_000).value == (bound_of(instance),)
    assert proven


@where_native_run("it takes the kernel in C++ a moment, the one in Python minutes")
def test_blocks_that_live_for_one_step_fill_what_is_left_between_others() -> None:
    """Dozens begin and end together: some of them are as high as a piece beside them, and only these go with it."""
    for seed in (5, 6):
        instance = packing(5_000, seed)
        assert glued(instance, 200_000).stop is StopReason.PROVED


@where_native_run("it takes the kernel in C++ a moment, the one in Python minutes")
def test_what_lies_in_a_window_of_time_is_glued_anew() -> None:
    """Where some sets of short-lived blocks were chosen wrongly, all that is right elsewhere stays glued."""
    for seed in (1, 3):
        instance = packing(1_000, seed, steps=60)
        assert glued(instance, 500_000).stop is StopReason.PROVED


@where_native_run("it takes the kernel in C++ a moment, the one in Python minutes")
def test_what_exact_joints_leave_is_packed_with_some_slack() -> None:
    instance = packing(8_000, 4)
    assert excess(instance, glued(instance, 200_000)) <= 0.005


@where_native_run("it takes the kernel in C++ a moment, the one in Python minutes")
def test_packings_with_missing_pieces_are_packed_near_the_bound() -> None:
    """With some pieces missing, glued boxes do not fit one another exactly, but are still packed near the bound."""
    for seed in (1, 2):
        instance = packing(3_000, seed, dropped=90)
        assert excess(instance, glued(instance, 500_000)) <= 0.005


@where_native_run("it takes the kernel in C++ a moment, the one in Python minutes")
def test_little_work_goes_into_gluing_without_slack() -> None:
    """What goes together with a little slack at once does not wait for tries without any."""
    for seed in (7, 8):
        instance = packing(4_000, seed)
        outcome = glued(instance, 1_200_000)
        assert outcome.stop is StopReason.PROVED
        assert outcome.work < 250_000


@where_native_run("it takes the kernel in C++ a moment, the one in Python minutes")
def test_what_was_glued_is_kept_at_lower_heights() -> None:
    """Only the joints that waste too much room are taken apart, and the exact search places the few pieces that are left."""
    for seed, gap in ((2, 0.001), (4, 0.01)):
        instance = packing(8_000, seed)
        assert excess(instance, glued(instance, 500_000)) <= gap


@where_native_run("it takes the kernel in C++ a moment, the one in Python minutes")
def test_boxes_cut_around_wheels_are_packed_again() -> None:
    """No straight cut separates the five pieces of a pinwheel: they are joined at once."""
    for dropped, gap in ((0, 0.001), (60, 0.02)):
        for seed in (1, 2, 4):
            instance = around_wheels(2_000, seed, dropped)
            assert excess(instance, glued(instance, 500_000)) <= gap


WHEEL = [(0, 7, 3), (7, 9, 5), (0, 4, 6), (4, 9, 4), (4, 7, 2)]
"""What lies below the middle, after it, before it, above it, and the middle: (begin, end, height)."""


@pytest.mark.parametrize("last", range(5))
@pytest.mark.parametrize("higher", [0, 1])
def test_a_wheel_is_found_by_each_of_its_pieces(last: int, higher: int) -> None:
    leaves = [(begin, end, height + (higher if node == last else 0)) for node, (begin, end, height) in enumerate(WHEEL)]
    forest = Forest(9, [*leaves, (0, 9, 1), (2, 7, 3), (4, 8, 2)])
    course = Course(0, 10_000, never)
    assert wheels_with(forest, last, course) == [(0, 1, 2, 3, 4)]
    assert course.work > 0


def test_unsupported_instances_keep_their_start() -> None:
    instance = make_instance([plain(0, 3, 4), plain(1, 5, 2)], conflicts=[(0, 1)])
    start = first_placement(instance)
    assert start is not None
    outcome = Gluing().solve(instance, Task(limits=Limits(work=100), start=Placement.in_one_pool(start)), Silent())
    assert outcome.placement is not None
    assert outcome.placement.offset.tolist() == start.tolist()


@pytest.mark.parametrize("kind", Origin)
def test_impossible_kernel_inputs_are_refused(kind: Origin) -> None:
    given = make_instance([(0, 3, 4), (1, 5, 2)])
    start = np.zeros(2, dtype=np.int64)
    for broken in ((start[:1], 0, 10), (start, 0, -1), (start - 8, 0, 10)):
        offsets, enough, work = broken
        with pytest.raises(BadKernelInput):
            of_origin(kind).gluing(given.sections, columns(given), offsets, enough, 0, work, never)


def test_scarce_room_has_a_higher_price() -> None:
    slack = Slack(100, [84] * 100 + [36] * 100, Course(0, 1_000, never))
    few, many = slack.price(20, 80, 5), slack.price(120, 180, 5)
    assert few is not None
    assert many is not None
    assert few == 4 * many
    assert slack.price(20, 80, 17) is None


@pytest.mark.parametrize("count", range(1, 5))
def test_the_exact_search_is_asked_about_a_few_pieces(count: int) -> None:
    forest = Forest(2, [(0, 2, 3)] * count)
    course = Course(0, 10_000, lambda _: False)
    bases, _ = placed_below(3 * count, forest, 0, 1_000, course.stops)
    assert bases is not None
    assert sorted(bases) == [3 * i for i in range(count)]
    assert placed_below(3 * count - 1, forest, 0, 1_000, course.stops)[0] is None
