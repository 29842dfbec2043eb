"""Threads of the native search begin later rounds while others finish the last, and find what one thread finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers.kernels import BadKernelInput
from solvers.kernels.python.search.refuted import Key, Refuted
from solvers.model.instance import Instance
from tests.small.instances import make_instance
from tests.solvers.kernels.kernel_sets import Ask, ask, native, reference, where_native_run

pytestmark = where_native_run("threads are the native search's")


def strip(seed: int, count: int) -> Instance:
    """An instance cut from a box, some pieces missing and all a bit smaller, so that many heights are tried."""
    random = np.random.default_rng(seed)
    pieces = [(0, 8 * count, 1 << 20)]
    while len(pieces) < count:
        start, end, size = pieces.pop(int(random.integers(len(pieces))))
        at = float(random.uniform(0.2, 0.8))
        if random.random() < 0.5 and end - start > 4:
            middle = start + max(int(at * (end - start)), 1)
            pieces += [(start, middle, size), (middle, end, size)]
        else:
            low = max(int(at * size), 1)
            pieces += [(start, end, low), (start, end, size - low)]
    kept = [piece for piece in pieces if random.random() > 0.04]
    return make_instance([(start, end, int(size * random.uniform(0.97, 1)) + 1) for start, end, size in kept])


def busiest(instance: Instance) -> int:
    live = np.zeros(instance.sections + 1, dtype=np.int64)
    np.add.at(live, instance.rect_start, instance.part_high[instance.rect_part])
    np.add.at(live, instance.rect_end, -instance.part_high[instance.rect_part])
    return int(np.cumsum(live).max())


@pytest.mark.parametrize(("seed", "count"), [(2, 60), (2, 100), (3, 150), (4, 200), (0, 300)])
@pytest.mark.parametrize("fit", [False, True])
def test_any_number_of_threads_gives_the_same_answer(seed: int, count: int, fit: bool) -> None:
    instance = strip(seed, count)
    bound = busiest(instance)
    for work in (300, 3_000, 50_000):
        wish = Ask(bound=bound, fit=fit, seed=seed, work=work)
        alone = ask(native(), instance, wish)
        for threads in (2, 3, 8):
            assert ask(native(), instance, replace(wish, threads=threads)) == alone


def test_threads_agree_where_long_attempts_are_cut_short() -> None:
    instance = strip(1, 2_300)
    wish = Ask(bound=busiest(instance), seed=1, work=150_000)
    alone = ask(native(), instance, wish)
    assert alone.end == "work"
    assert ask(native(), instance, replace(wish, threads=2)) == alone


@pytest.mark.parametrize("seed", range(4))
def test_threads_agree_wherever_the_work_ends(seed: int) -> None:
    instance = strip(seed, 40)
    for work in [*range(1, 60), *range(60, 2_000, 97)]:
        wish = Ask(bound=busiest(instance), seed=seed, work=work)
        alone = ask(native(), instance, wish)
        for threads in (2, 3, 8):
            assert ask(native(), instance, replace(wish, threads=threads)) == alone


@pytest.mark.parametrize(("seed", "count"), [(2, 100), (0, 300)])
def test_threads_agree_while_their_number_changes(seed: int, count: int) -> None:
    instance = strip(seed, count)
    active_threads = np.ones(1, dtype=np.int64)

    def change() -> bool:
        active_threads[0] = active_threads[0] % 4 + 1
        return False

    wish = Ask(bound=busiest(instance), seed=seed, work=100_000)
    assert ask(native(), instance, replace(wish, threads=4, active_threads=active_threads, until=change)) == ask(
        native(), instance, wish
    )


def test_a_stop_reaches_all_threads() -> None:
    instance = strip(0, 300)
    answer = ask(native(), instance, Ask(bound=busiest(instance), threads=4, until=lambda: True))
    assert answer.end == "stopped"


def test_several_numbers_of_active_threads_are_refused() -> None:
    with pytest.raises(BadKernelInput):
        ask(native(), strip(1, 60), Ask(work=1, active_threads=np.ones(2, dtype=np.int64)))


@pytest.mark.parametrize(("seed", "count"), [(2, 60), (7, 80)])
def test_what_was_refuted_is_known_again(seed: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is met so often, each state that is forgotten or mistaken for another changes what is counted."""
    met = list[Key]()

    def contains(self: Refuted, key: Key) -> bool:
        met.extend([key] * known(self, key))
        return known(self, key)

    known = Refuted.__contains__
    monkeypatch.setattr(Refuted, "__contains__", contains)
    instance = strip(seed, count)
    wish = Ask(bound=busiest(instance), seed=1, work=3_000)
    assert ask(native(), instance, wish) == ask(reference(), instance, wish)
    assert len(met) > 30
