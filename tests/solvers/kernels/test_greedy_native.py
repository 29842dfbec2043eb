"""The native greedy kernel makes the decisions of the reference in Python, block for block."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from solvers.fitting.neighbours import ListedNeighbours, ScannedNeighbours
from solvers.fitting.orders import PASSES, Fit, orders
from solvers.fitting.placing import Pass, place_all
from solvers.geometry.rules import violation
from solvers.heuristics.greedy.solver import Greedy
from solvers.kernels import BadKernelInput, Kernels, Origin
from solvers.kernels.columns import columns
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Ints, Placement, PoolSpec, Term
from solvers.model.outcome import Outcome
from solvers.model.solver import Control, Goal, Limits, Silent, Task
from tests.small.instances import Block, make_instance, plain
from tests.small.strategies import NIGHTLY
from tests.solvers.kernels.kernel_sets import native, of_origin, use_reference
from tests.solvers.kernels.random_instances import fixed_first, random_instance


@pytest.fixture
def kernel() -> Kernels:
    return native()


@pytest.mark.parametrize("seeds", [range(first, first + 100) for first in range(0, 500, 100)], ids=str)
def test_every_block_goes_where_the_reference_puts_it(kernel: Kernels, seeds: range) -> None:
    placed = 0
    for seed in seeds if NIGHTLY else seeds[::3]:
        instance = random_instance(seed)
        if not instance.allowed.all():
            continue
        near = ListedNeighbours(instance)
        for number, (name, order) in enumerate(orders(instance).items()):
            sequence = fixed_first(instance, order)
            assert kernel.greedy_order(instance.sections, columns(instance), name).tolist() == sequence.tolist()
            if number % 4 != seed % 4:
                continue
            for fit in Fit:
                found = kernel.greedy_place(instance.sections, columns(instance), sequence, fit)
                expected = place_all(instance, Pass(order, fit), near.fresh(), lambda: False)
                assert (None if found is None else found.tolist()) == (
                    None if expected is None else expected.offset.tolist()
                ), (seed, number, fit)
                placed += found is not None
    assert placed > 30  # many orders find a placement


def comb(teeth: int) -> Block:
    """Teeth of height 1 with gaps of 3, all live together."""
    return Block([(4 * at, 4 * at + 1, [(0, 1)]) for at in range(teeth)])


@pytest.mark.parametrize(("teeth", "second"), [(1_000, 1), (3_000, 4 * 3_000 - 3)])
def test_a_block_that_meets_others_in_very_many_places_is_taken_to_be_solid(
    kernel: Kernels, teeth: int, second: int
) -> None:
    instance = make_instance([comb(teeth), comb(teeth)])
    found = kernel.greedy_place(instance.sections, columns(instance), np.arange(2), Fit.LOWEST)
    assert found is not None
    assert found.tolist() == [0, second]


def test_blocks_left_when_time_is_over_are_stacked_on_top(kernel: Kernels) -> None:
    rng = np.random.default_rng(5)
    rows = zip(rng.integers(0, 50, 1000).tolist(), rng.integers(1, 40, 1000).tolist(), strict=True)
    instance = make_instance([plain(birth, birth + 9, size) for birth, size in rows])
    given, order = columns(instance), np.arange(1000)
    calm = kernel.greedy_place(instance.sections, given, order, Fit.LOWEST, lambda: False)
    usual = kernel.greedy_place(instance.sections, given, order, Fit.LOWEST)
    hasty = kernel.greedy_place(instance.sections, given, order, Fit.LOWEST, lambda: True)
    assert calm is not None
    assert usual is not None
    assert hasty is not None
    assert np.array_equal(calm, usual)
    assert violation(instance, Placement.in_one_pool(hasty)) is None
    assert (np.diff(hasty[-500:]) == instance.block_high[-500:-1]).all()
    assert hasty.max() > calm.max()


@pytest.mark.parametrize("fit", Fit)
def test_addresses_beyond_32_bits_are_as_exact_as_small_ones(kernel: Kernels, fit: Fit) -> None:
    rng = np.random.default_rng(6)
    lives = [(birth, birth + length) for birth, length in rng.integers(1, 40, (300, 2)).tolist()]
    sizes = rng.integers(1, 99, 300).tolist()

    def placed(unit: int) -> Ints:
        blocks = [plain(*life, unit * size) for life, size in zip(lives, sizes, strict=True)]
        instance = make_instance(blocks)
        found = kernel.greedy_place(instance.sections, columns(instance), np.arange(300), fit)
        assert found is not None
        return found

    assert np.array_equal(
        placed(1 << 24) >> 24, placed(1)
    )  # offsets of the first few hundred units are below 2^32, the others above


def test_stacked_blocks_lie_above_all_reserved_ranges(kernel: Kernels) -> None:
    pool = PoolSpec(reserved=((100, 110), (9000, 9001)))
    instance = make_instance([plain(0, 9, 7) for _ in range(600)], pools=[pool])
    hasty = kernel.greedy_place(instance.sections, columns(instance), np.arange(600), Fit.LOWEST, lambda: True)
    assert hasty is not None
    assert violation(instance, Placement.in_one_pool(hasty)) is None
    assert (hasty[:200] < 9000).all()
    assert hasty[-200:].tolist() == [9001 + 7 * i for i in range(600 - 255 - 200, 600 - 255)]


def test_long_lives_among_short_ones_agree(kernel: Kernels) -> None:
    placed = 0
    for seed in range(6):
        instance = random_instance(2000 + seed, scale=40)
        near = ListedNeighbours(instance)
        for number, order in enumerate(orders(instance).values()):
            if number % 6 != seed % 6 or not instance.allowed.all():
                continue
            sequence = fixed_first(instance, order)
            for fit in Fit:
                found = kernel.greedy_place(instance.sections, columns(instance), sequence, fit)
                expected = place_all(instance, Pass(order, fit), near.fresh(), lambda: False)
                assert (found is None) == (expected is None)
                if found is not None and expected is not None:
                    assert found.tolist() == expected.offset.tolist(), (seed, number, fit)
                placed += found is not None
    assert placed > 10


def test_many_blocks_of_very_different_lives_agree(kernel: Kernels) -> None:
    rng = np.random.default_rng(3)
    lives = np.minimum(1 + (4 * rng.pareto(0.7, 1500)).astype(np.int64), 3000)
    births = rng.integers(0, 3000, 1500)
    sizes = 1 + (20 * rng.pareto(1.5, 1500)).astype(np.int64)
    rows = zip(births.tolist(), lives.tolist(), sizes.tolist(), strict=True)
    instance = make_instance([plain(b, b + w, s, alignment=1 + s % 3) for b, w, s in rows])
    for order in list(orders(instance).values())[::3]:
        for fit in Fit:
            expected = place_all(instance, Pass(order, fit), ScannedNeighbours(instance), lambda: False)
            found = kernel.greedy_place(instance.sections, columns(instance), order, fit)
            assert found is not None
            assert expected is not None
            assert found.tolist() == expected.offset.tolist()


def test_orders_stay_exact_where_areas_exceed_what_floats_hold(kernel: Kernels) -> None:
    rng = np.random.default_rng(4)
    sizes = (1 << 50) + rng.integers(0, 3, 60)
    starts = rng.integers(0, 40, 60)
    blocks = [plain(s, s + 1 + (s * 7) % 30, z) for s, z in zip(starts.tolist(), sizes.tolist(), strict=True)]
    instance = make_instance(blocks)
    instance = replace(instance, highest=np.full_like(instance.highest, (1 << 61) - (1 << 51)))
    for name, order in orders(instance).items():
        assert kernel.greedy_order(instance.sections, columns(instance), name).tolist() == order.tolist()


def solve_both(
    instance: Instance, task: Task, monkeypatch: pytest.MonkeyPatch, control: Control | None = None
) -> tuple[Outcome, Outcome]:
    fast = Greedy().solve(instance, task, control or Silent())
    with monkeypatch.context() as patch:
        use_reference(patch)
        return fast, Greedy().solve(instance, task, control or Silent())


def assert_alike(one: Outcome, other: Outcome) -> None:
    assert (one.stop, one.value, one.solver) == (other.stop, other.value, other.solver)
    assert (one.placement is None) == (other.placement is None)
    if one.placement is not None and other.placement is not None:
        assert one.placement.offset.tolist() == other.placement.offset.tolist()


@pytest.mark.usefixtures("kernel")
def test_the_whole_portfolio_gives_the_same_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(1000, 1120 if NIGHTLY else 1045):
        rng = np.random.default_rng(seed)
        instance = random_instance(seed)
        size = int(instance.block_high.max())
        tasks = [
            Task(limits=Limits(workers=1 + seed % 3)),
            Task(goal=Goal.FIT),
            Task(target=(int(rng.integers(size, 3 * size + 2)),), limits=Limits(workers=2)),
        ]
        fast, slow = solve_both(instance, tasks[seed % 3], monkeypatch)
        assert_alike(fast, slow)
        if fast.placement is not None:
            assert violation(instance, fast.placement) is None
            tasks = [replace(task, start=fast.placement) for task in tasks]
            assert_alike(*solve_both(instance, tasks[(seed + 1) % 3], monkeypatch))


@pytest.mark.usefixtures("kernel")
def test_components_keep_their_best_although_another_fits_nowhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    left = [(int(s), int(s + w), int(h)) for s, w, h in rng.integers(1, 30, (40, 3))]
    right = [(s + 100, e + 100, 40 - h) for s, e, h in left]
    both = make_instance(left + right)
    fast, slow = solve_both(both, Task(limits=Limits(workers=2)), monkeypatch)
    assert_alike(fast, slow)
    alone = [Greedy().solve(make_instance(side), Task(), Silent()).value for side in (left, right)]
    assert fast.value == max(v for v in alone if v is not None)
    # The narrow component fits only if the block that dies last comes first.
    narrow = make_instance([plain(1, 3, 1, max_offset=0), (0, 2, 2), *right])
    fast, slow = solve_both(narrow, Task(), monkeypatch)
    assert_alike(fast, slow)
    assert fast.value == Greedy().solve(make_instance(right), Task(), Silent()).value


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(
    "terms",
    [
        (Term.LARGEST_PEAK,),
        (Term.ACCESS_COST, Term.SUM_OF_PEAKS),
        (Term.SUM_OF_PEAKS, Term.LARGEST_PEAK, Term.REUSE_COST),
    ],
    ids="+".join,
)
def test_the_bound_is_met_in_every_objective(terms: tuple[Term, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [plain(0, 2, 4, access=[3]), plain(1, 3, 4, access=[5]), plain(2, 4, 4, access=[0])]
    instance = make_instance(blocks, pools=[PoolSpec(None, cost=3)], terms=terms)
    worth = {Term.LARGEST_PEAK: 8, Term.ACCESS_COST: 8, Term.SUM_OF_PEAKS: 24, Term.REUSE_COST: 0}
    bound = tuple(worth[term] for term in terms)
    fast, slow = solve_both(instance, Task(bound=bound), monkeypatch)
    assert_alike(fast, slow)
    assert (fast.stop, fast.value) == (StopReason.PROVED, bound)


@pytest.mark.parametrize("count", [400, 700])  # one thread places 400 blocks, several threads place 700
def test_the_number_of_threads_changes_nothing(kernel: Kernels, count: int) -> None:
    rng = np.random.default_rng(9)
    rows = rng.integers(1, 60, (count, 3)).tolist()
    instance = make_instance([(s, s + w, h) for s, w, h in rows])
    answers = []
    for threads in (1, 2, 5, 64):
        for enough in (None, 1, 900):
            found = kernel.greedy(instance.sections, columns(instance), PASSES, None, enough, threads, lambda _: False)
            assert found is not None
            answers.append((enough, found.tolist()))
    for enough in (None, 1, 900):
        assert len({tuple(found) for each, found in answers if each == enough}) == 1


@pytest.mark.parametrize("seed", range(4))
def test_probed_passes_give_the_answer_of_whole_passes(kernel: Kernels, seed: int) -> None:
    """With so many blocks each pass is first probed for its use; the answer is that of all passes, run one by one."""
    rng = np.random.default_rng(seed)
    blocks = []
    for _ in range(2400):
        start, life, size = (int(n) for n in rng.integers((0, 1, 1), (3000, 60 if rng.random() < 0.95 else 900, 99)))
        if seed == 2 and start % 1000 < 100:
            start += 100  # so that there are three components
        end = min(start + life, 1000 * (start // 1000 + 1)) if seed == 2 else start + life
        later = [(end + 5, end + 9)] if seed == 1 else []
        blocks.append(Block([(0, size, [(start, end), *later])], alignment=int(rng.choice((1, 1, 8)))))
    pairs = rng.integers(0, 2400, (40, 2)).tolist()
    instance = make_instance(blocks, exclusions=[(a, b) for a, b in pairs if a != b] if seed == 3 else [])
    given, high = columns(instance), instance.block_high
    order = np.argsort(instance.rect_start, kind="stable")
    group = np.zeros(len(blocks), dtype=np.int64)
    reach, number = 0, 0
    for r in order.tolist():
        number += int(instance.rect_start[r]) >= reach > 0
        reach = max(reach, int(instance.rect_end[r]))
        group[instance.rect_part[r]] = number
    if seed == 1:  # blocks that live twice connect components of different times
        group[:] = number = 0
    assert number == (2 if seed == 2 else 0)
    best: Ints | None = None
    for name, fit in PASSES:
        placed = kernel.greedy_place(instance.sections, given, kernel.greedy_order(instance.sections, given, name), fit)
        assert placed is not None
        best = placed.copy() if best is None else best
        for each in range(number + 1):
            here = group == each
            if int((placed + high)[here].max()) < int((best + high)[here].max()):
                best[here] = placed[here]
    for threads in (1, 3):
        found = kernel.greedy(instance.sections, given, PASSES, None, None, threads, lambda _: False)
        assert found is not None
        assert found.tolist() == (best if best is None else best.tolist())


class Stopped(Silent):
    """A control whose time is over from the start."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Placement] = []

    def incumbent(self, placement: Placement) -> None:
        self.found.append(placement)

    def stopped(self) -> StopReason | None:
        return StopReason.TIME_LIMIT


def big(count: int) -> Instance:
    rng = np.random.default_rng(2)
    starts, lives, sizes = rng.integers(0, count, count), rng.integers(1, 400, count), rng.integers(1, 99, count)
    rows = zip(starts.tolist(), lives.tolist(), sizes.tolist(), strict=True)
    return make_instance([(s, s + w, z) for s, w, z in rows])


@pytest.mark.usefixtures("kernel")
def test_a_first_placement_is_made_even_without_time() -> None:
    instance = big(20_000)
    control = Stopped()
    outcome = Greedy().solve(instance, Task(), control)
    assert outcome.stop is StopReason.TIME_LIMIT
    assert outcome.placement is not None
    assert violation(instance, outcome.placement) is None
    assert len(control.found) == 1


def test_other_threads_run_and_a_stop_is_heeded(kernel: Kernels) -> None:
    instance = big(20_000)
    threads_seen: list[int] = []
    begin = threading.Event()

    def report(offsets: Ints | None) -> bool:
        threads_seen.append(threading.get_ident())
        begin.set()
        return len(threads_seen) > 2

    answer: list[Ints | None] = []
    worker = threading.Thread(
        target=lambda: answer.append(kernel.greedy(instance.sections, columns(instance), PASSES, None, None, 2, report))
    )
    worker.start()
    assert begin.wait(60)  # this thread could run, so the kernel does not hold the interpreter
    worker.join()
    assert answer[0] is not None
    assert set(threads_seen) == {worker.ident}


def test_an_error_of_the_caller_is_raised(kernel: Kernels) -> None:
    instance = big(20_000)

    def report(_: Ints | None) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kernel.greedy(instance.sections, columns(instance), PASSES, None, None, 1, report)


@pytest.mark.parametrize("origin", Origin)
def test_inconsistent_arrays_are_refused(origin: Origin) -> None:
    kernel = of_origin(origin)
    instance = make_instance([(0, 2, 4), (1, 3, 4)])
    good = columns(instance)
    with pytest.raises(BadKernelInput):
        kernel.greedy(instance.sections, good[:-1], PASSES, None, None, 1, lambda _: False)  # type: ignore[arg-type]
    with pytest.raises(BadKernelInput):
        kernel.greedy(1, good, PASSES, None, None, 1, lambda _: False)
    with pytest.raises(BadKernelInput):
        kernel.greedy(instance.sections, good, PASSES, np.zeros(1, dtype=np.int64), None, 1, lambda _: False)
    for nowhere in (-1, np.iinfo(np.int64).max):
        with pytest.raises(BadKernelInput):
            kernel.greedy(instance.sections, good, PASSES, np.array([0, nowhere]), None, 1, lambda _: False)
    with pytest.raises(BadKernelInput):
        kernel.greedy_place(instance.sections, good, np.array([0, 2]), Fit.LOWEST)


@pytest.mark.parametrize("origin", Origin)
def test_an_instance_without_blocks_is_placed(origin: Origin) -> None:
    kernel = of_origin(origin)
    empty = make_instance([(0, 1, 1)])
    fields = "part_block part_low part_high rect_part rect_start rect_end allowed modulus residue lowest highest"
    nothing = replace(empty, sections=0, **{name: getattr(empty, name)[:0] for name in fields.split()})
    found = kernel.greedy(0, columns(nothing), PASSES, None, None, 1, lambda _: False)
    assert found is not None
    assert found.tolist() == []
    flat = make_instance([(0, 3, 0), plain(0, 3, 0, alignment=4, residue=3)])
    found = kernel.greedy(flat.sections, columns(flat), PASSES, None, None, 1, lambda _: False)
    assert found is not None
    assert found.tolist() == [0, 3]
