"""The search in Python decides as the native one does, number by number, and both agree with brute force."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.problem import Problem
from planner.planning.placing.lowering import lower
from solvers.bounds.one_pool import homeless
from solvers.exact.search import solver as search_solver
from solvers.exact.search.solver import Search
from solvers.geometry.presolve import scaled, unit
from solvers.geometry.rules import violation
from solvers.kernels import BadKernelInput, Kernels, TooLarge
from solvers.kernels.python.search.states import plain as plain_state
from solvers.kernels.python.search.strategies import MANY_BLOCKS, luby
from solvers.model.errors import StopReason
from solvers.model.instance import Instance, Ints, Placement, PoolSpec
from solvers.model.objective import evaluate
from solvers.model.solver import Limits, Silent, Task
from solvers.portfolio.execute import execute
from tests.small.instances import Block, make_instance, pairs, plain
from tests.small.strategies import effort, problems
from tests.solvers.exact.search.small_instances import KINDS, brute_force, random_block, random_instance
from tests.solvers.kernels.kernel_sets import Answer, Ask, ask, native, reference

WORK = 200
"""Work that takes about a tenth of a second in Python."""


def below(instance: Instance, height: int) -> Instance:
    """Return the instance with no room above this height."""
    top = (height - instance.block_high)[:, None]
    return replace(instance, highest=np.minimum(instance.highest, top))


def check_answer(kernel: Kernels, instance: Instance, best: int | None, seed: int) -> None:
    """Assert that a kernel proves the best peak, or that none exists; all fits at this height, but not one below."""
    answer = ask(kernel, instance, Ask(seed=seed))
    if best is None:
        assert (answer.end, answer.offsets) == ("impossible", None)
        return
    assert (answer.end, answer.bound) == ("proved", best)
    assert_valid(instance, answer, best)
    at_best = ask(kernel, below(instance, best), Ask(seed=seed, fit=True))
    assert at_best.end in ("fits", "proved")
    assert_valid(instance, at_best, best)
    assert ask(kernel, below(instance, best - 1), Ask(seed=seed, fit=True)).end == "impossible"


def assert_valid(instance: Instance, answer: Answer, peak: int) -> None:
    assert answer.offsets is not None
    placement = Placement.in_one_pool(answer.offsets)
    assert violation(instance, placement) is None
    assert evaluate(instance, placement) == (peak,)


small = st.builds(random_instance, st.integers(0, 1 << 40), st.sampled_from(KINDS))


@effort(10, 6_000)
@given(small, st.integers(0, 5))
def test_brute_force_and_the_reference_agree(instance: Instance, seed: int) -> None:
    best = brute_force(instance)
    if instance.allowed.all():
        check_answer(reference(), instance, best, seed)
    else:
        assert best is None


@effort(10, 6_000)
@given(small, st.integers(0, 5))
def test_brute_force_and_the_native_search_agree(instance: Instance, seed: int) -> None:
    best = brute_force(instance)
    if instance.allowed.all():
        check_answer(native(), instance, best, seed)


@effort(4, 6_000)
@given(small)
def test_brute_force_and_cpsat_agree(instance: Instance) -> None:
    limits = Limits(time.monotonic() + 60.0)
    outcome = execute("cpsat", instance, Task(limits), Silent(limits))
    best = brute_force(instance)
    assert outcome.stop is StopReason.PROVED
    assert outcome.infeasible == (best is None)
    assert best is None or outcome.value == outcome.bound == (best,)


@effort(15, 6_000)
@given(small, st.integers(0, (1 << 64) - 1), st.booleans())
def test_both_kernels_decide_alike_on_small_instances(instance: Instance, seed: int, fit: bool) -> None:
    wish = Ask(seed=seed, fit=fit)
    answer = ask(reference(), instance, wish)
    assert answer == ask(native(), instance, wish)
    if answer.offsets is not None:
        lower = below(instance, answer.bound - 1)
        assert ask(reference(), lower, wish) == ask(native(), lower, wish)


@effort(9, 6_000)
@given(problems(max_pools=1), st.integers(0, 99))
def test_both_kernels_decide_alike_on_problems_of_users(problem: Problem, seed: int) -> None:
    instance = lower(problem).instance
    if homeless(instance) is None:
        instance = scaled(instance, unit(instance))
        assert ask(reference(), instance, Ask(seed=seed)) == ask(native(), instance, Ask(seed=seed))


def larger(seed: int, kind: str) -> Instance:
    """A random instance of some dozens of blocks, so that there is something to search."""
    r = random.Random(f"{kind} {seed}")
    span = r.randint(4, 50)
    blocks = []
    for _ in range(r.randint(10, 40)):
        block, shift, scale = random_block(r, kind), r.randrange(span), r.choice([1, 1, 1, 2, 5])
        parts = []
        for low, high, live in block.parts:
            spans = [(start + shift, end + shift) for start, end in live]
            spans[-1:] = [(start, end + r.choice([0, 0, 3, span // 2])) for start, end in spans[-1:]]
            parts.append((low * scale, high * scale, spans))
        fixed = block.fixed if r.random() < 0.2 else None
        blocks.append(
            Block(parts, block.alignment, block.residue, fixed, None if r.random() < 0.8 else block.max_offset)
        )
    owner = [i for i, block in enumerate(blocks) for _ in block.parts]
    among = [(a, b) for b in range(len(owner)) for a in range(b) if owner[a] != owner[b]]
    r.shuffle(among)
    exclusions = among[: r.randint(0, 15)] if kind in ("exclusions", "all") else []
    conflicts = among[15 : 15 + r.randint(0, 20)] if kind in ("conflicts", "all") else []
    holes = tuple((at, at + r.randint(1, 4)) for at in (20, 30, 70)) if kind == "obstacles" else ()
    capacity = None if r.random() < 0.6 else r.randint(20, 100)
    return make_instance(blocks, pools=[PoolSpec(capacity, holes)], conflicts=conflicts, exclusions=exclusions)


@pytest.mark.parametrize("kind", KINDS)
def test_both_kernels_decide_alike_on_larger_instances(kind: str) -> None:
    kernels = reference(), native()
    ends = set()
    for seed in range(10):
        instance = larger(seed, kind)
        wish = Ask(seed=seed, fit=seed % 4 == 3, work=WORK // 5)
        mine, theirs = (ask(kernel, instance, wish) for kernel in kernels)
        assert mine == theirs, f"{kind} {seed}"
        ends.add(mine.end)
    assert len(ends) > 1  # searches end in more than one way


def random_rows(seed: int, count: int, sections: int, longest: int, largest: int) -> list[tuple[int, int, int]]:
    r = random.Random(seed)
    return [
        (start, start + r.randint(1, longest), r.randint(1, largest))
        for start in (r.randrange(sections) for _ in range(count))
    ]


@pytest.mark.parametrize("seed", range(4))
def test_both_kernels_decide_alike_until_the_work_is_done(seed: int) -> None:
    rows = random_rows(seed, 60, 60, 30, 1000)
    live = [sum(size for start, end, size in rows if start <= s < end) for s in range(90)]
    wish = Ask(bound=max(live), seed=seed, work=WORK)
    answer = ask(reference(), make_instance(rows), wish)
    assert answer == ask(native(), make_instance(rows), wish)
    assert answer.work > 0


def test_both_kernels_decide_alike_on_incumbents_and_sizes_beyond_32_bits() -> None:
    rows = [(start, end, size << 22) for start, end, size in random_rows(7, 40, 40, 20, 1000)]
    answer = ask(reference(), make_instance(rows), Ask(seed=7, work=WORK))
    assert answer.offsets is not None
    peak = max(x + size for x, (_, _, size) in zip(answer.offsets, rows, strict=True))
    for incumbent in (peak, peak + 1):
        wish = Ask(seed=7, work=WORK, incumbent=incumbent)
        assert ask(reference(), make_instance(rows), wish) == ask(native(), make_instance(rows), wish)


def test_both_kernels_decide_alike_on_very_many_blocks() -> None:
    rows = random_rows(3, MANY_BLOCKS + 100, 1500, 3, 100)
    wish = Ask(seed=3, fit=True, work=2 * WORK)
    answer = ask(reference(), make_instance(rows), wish)
    assert answer.offsets is not None
    assert answer == ask(native(), make_instance(rows), wish)


@pytest.mark.parametrize("seed", [797, 855])
def test_empty_parts_do_not_make_blocks_twins(seed: int) -> None:
    """Where only an empty part of a block lives, it conflicts with nothing; this once made a proof wrong."""
    r = random.Random(seed)
    count, sections = r.randint(6, 12), r.randint(4, 8)
    sizes = r.choice([[2, 3], [3, 4, 5], [2, 3, 4, 7]])
    blocks, bare = [], []
    for _ in range(count):
        start, size = r.randrange(sections), r.choice(sizes)
        part = (0, size, [(start, start + r.randint(1, 4))])
        alignment = r.choice([1, 1, 2])
        blocks.append(Block([part, (1, 1, [(30, 31)])], alignment))
        bare.append(Block([part], alignment))
    answer = ask(reference(), make_instance(blocks), Ask(seed=seed))
    assert (answer.end, answer.bound) == ("proved", ask(native(), make_instance(bare), Ask(seed=seed)).bound)
    assert answer == ask(native(), make_instance(blocks), Ask(seed=seed))


@pytest.mark.parametrize("kernels", [reference, native])
def test_a_part_of_less_than_a_unit_may_stand_right_above_an_obstacle(kernels: Callable[[], Kernels]) -> None:
    mover = Block([(0, 4, [(0, 1)]), (1, 2, [(4, 6)])], alignment=4, residue=1)
    fixed = plain(4, 6, 4, fixed=6)
    instance = make_instance([mover, fixed], pools=[PoolSpec(13, ((2, 5),))])
    answer = ask(kernels(), instance, Ask())
    assert (answer.end, answer.offsets, answer.bound) == ("proved", [9, 6], 13)


def test_long_rows_left_unchanged_lead_to_the_same_optima(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_state, "LONG_ROWS", 0)
    for seed in range(40):
        instance = random_instance(seed, ("plain", "aligned", "obstacles")[seed % 3])
        if instance.allowed.all():
            check_answer(reference(), instance, brute_force(instance), seed)


def test_restarts_grow_in_a_known_rhythm() -> None:
    assert [luby(i) for i in range(1, 16)] == [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]


def test_both_kernels_refuse_too_many_pairs_or_members() -> None:
    crowd = [(0, 9, 1)] * 12
    ring = make_instance([Block([(0, 1, [(0, 9)]), (2, 3, [(0, 9)])]) for _ in range(12)])
    for kernel in (reference(), native()):
        for instance, most in ((make_instance(crowd), 35), (ring, 3)):
            with pytest.raises(TooLarge):
                ask(kernel, instance, Ask(max_pairs=most))
        assert ask(kernel, make_instance(crowd), Ask(max_pairs=36)).end == "proved"


@pytest.mark.parametrize(
    "broken",
    [
        {"lowest": pairs([[-1]], 1)},
        {"modulus": pairs([[0]], 1)},
        {"residue": pairs([[7]], 1)},
        {"modulus": pairs([[4]], 1), "residue": pairs([[1]], 1)},
        {"part_block": np.array([1], dtype=np.int64)},
        {"part_high": np.array([1 << 62], dtype=np.int64)},
        {"rect_part": np.array([-1], dtype=np.int64)},
        {"rect_end": np.array([9], dtype=np.int64)},
        {"rect_start": np.array([], dtype=np.int64)},
        {"conflicts": pairs([[0, 5]], 2)},
    ],
    ids=" and ".join,
)
def test_both_kernels_refuse_a_broken_contract(broken: dict[str, Ints]) -> None:
    instance = replace(make_instance([(0, 2, 3)], capacity=10), **broken)  # type: ignore[arg-type]
    for kernel in (reference(), native()):
        with pytest.raises(BadKernelInput):
            ask(kernel, instance, Ask())


def hard(seed: int = 5) -> Instance:
    """An instance so large that its search does not end by itself soon."""
    return make_instance(random_rows(seed, 300, 100, 60, 10**6))


def test_a_search_stopped_at_its_first_placement_keeps_it() -> None:
    found: list[int] = []

    class Seen(Silent):
        def incumbent(self, placement: Placement) -> None:
            found.append(1)

        def stopped(self) -> StopReason | None:
            return StopReason.CANCELLED if found else None

    outcome = Search().solve(hard(), Task(), Seen())
    assert outcome.stop is StopReason.CANCELLED
    assert outcome.placement is not None
    assert violation(hard(), outcome.placement) is None


def test_the_search_asks_repeatedly_whether_to_stop() -> None:
    calls: list[int] = []

    def until() -> bool:
        calls.append(1)
        return len(calls) > 3

    answer = ask(reference(), hard(), Ask(until=until))
    assert answer.end == "stopped"
    assert len(calls) == 4


def test_a_stop_is_heeded_while_the_model_is_built() -> None:
    block = Block([(0, 1, [(0, 2000)]), (2, 3, [(0, 2000)])])
    answer = ask(reference(), make_instance([block] * 700), Ask(until=lambda: True))
    assert (answer.end, answer.offsets, answer.nodes) == ("stopped", None, 0)


def test_an_error_of_the_caller_is_raised_unchanged() -> None:
    def until() -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(reference(), hard(), Ask(until=until))


@pytest.fixture
def without_native(monkeypatch: pytest.MonkeyPatch) -> None:
    from solvers.kernels.selection import select

    monkeypatch.setattr(search_solver, "active", lambda: select("reference"))


@pytest.mark.usefixtures("without_native")
def test_the_solver_needs_no_native_kernels() -> None:
    assert Search().unavailable() is None
    outcome = Search().solve(make_instance([(0, 2, 4), (1, 3, 5), (2, 4, 4)]), Task(), Silent())
    assert outcome.stop is StopReason.PROVED
    assert outcome.value == outcome.bound == (9,)
    assert Search().solve(make_instance([plain(0, 1, 7)], capacity=6), Task(), Silent()).infeasible


@pytest.mark.usefixtures("without_native")
def test_a_limit_of_work_holds_without_native_kernels() -> None:
    outcome = Search().solve(hard(), Task(Limits(work=50)), Silent())
    assert outcome.stop is StopReason.WORK_LIMIT
    assert outcome.reproducible


@pytest.mark.usefixtures("without_native")
def test_a_deadline_holds_without_native_kernels() -> None:
    limits = Limits(deadline=time.monotonic())
    outcome = Search().solve(hard(), Task(limits), Silent(limits))
    assert outcome.stop is StopReason.TIME_LIMIT
    assert not outcome.reproducible
