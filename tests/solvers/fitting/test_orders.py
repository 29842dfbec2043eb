"""Both sets of kernels know greedy's table of orders and passes, and each row does in both what the table states."""

from __future__ import annotations

from itertools import combinations

import pytest

from solvers.fitting.neighbours import ListedNeighbours
from solvers.fitting.orders import ORDERS, PASSES, Fit, orders
from solvers.fitting.placing import Pass, place_all
from solvers.kernels import BadKernelInput, Kernels, Origin
from solvers.kernels.columns import columns
from solvers.model.instance import Instance, Ints
from tests.small.instances import make_instance
from tests.small.strategies import NIGHTLY
from tests.solvers.kernels.kernel_sets import of_origin
from tests.solvers.kernels.random_instances import fixed_first, random_instance


@pytest.fixture(params=list(Origin))
def kernels(request: pytest.FixtureRequest) -> Kernels:
    return of_origin(request.param)


@pytest.fixture(scope="module")
def instances() -> list[Instance]:
    found = [random_instance(seed) for seed in range(700, 740 if NIGHTLY else 725)]
    return [instance for instance in found if instance.allowed.all()]


def only(kernels: Kernels, instance: Instance, order: str, fit: str) -> list[int] | None:
    """Return the offsets that one pass alone finds, or None."""
    table = columns(instance)
    found = kernels.greedy(instance.sections, table, [(order, fit)], None, None, 1, lambda _: False)
    return None if found is None else found.tolist()


def test_every_order_has_a_pass_and_no_pass_is_made_twice() -> None:
    assert {order for order, _ in PASSES} == set(ORDERS)
    assert len(set(PASSES)) == len(PASSES)


def test_the_kernels_know_all_orders_and_no_more(kernels: Kernels) -> None:
    assert sorted(kernels.greedy_orders()) == sorted(ORDERS)


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_sorts_as_the_table_says(kernels: Kernels, instances: list[Instance], order: str) -> None:
    for instance in instances:
        expected = fixed_first(instance, orders(instance)[order]).tolist()
        assert kernels.greedy_order(instance.sections, columns(instance), order).tolist() == expected


@pytest.mark.parametrize(("order", "fit"), PASSES)
def test_a_pass_alone_gives_the_placement_of_its_order_and_fit(
    kernels: Kernels, instances: list[Instance], order: str, fit: Fit
) -> None:
    placed = 0
    for instance in instances:
        sequence = orders(instance)[order]
        near = ListedNeighbours(instance)
        expected = place_all(instance, Pass(sequence, fit), near, lambda: False)
        assert only(kernels, instance, order, fit) == (None if expected is None else expected.offset.tolist())
        placed += expected is not None
    assert placed > 10


def test_all_passes_differ_in_some_placement(kernels: Kernels) -> None:
    many = [random_instance(seed, scale=4) for seed in range(800, 812)]
    placements = {each: [only(kernels, instance, *each) for instance in many] for each in PASSES}
    for one, other in combinations(PASSES, 2):
        assert placements[one] != placements[other], (one, other)


def test_the_earlier_of_equally_good_passes_wins(kernels: Kernels) -> None:
    instance = make_instance([(0, 2, 3), (1, 3, 4)])
    assert only(kernels, instance, "birth", Fit.LOWEST) == [0, 3]
    assert only(kernels, instance, "size", Fit.LOWEST) == [4, 0]
    turns = [("birth", "lowest"), ("size", "lowest")]
    for passes in (turns, turns[::-1]):
        found = kernels.greedy(3, columns(instance), passes, None, None, 2, lambda _: False)
        assert found is not None
        assert found.tolist() == only(kernels, instance, *passes[0])


def never(_: Ints | None) -> bool:
    return False


def test_names_that_are_not_in_the_table_are_refused(kernels: Kernels) -> None:
    instance = make_instance([(0, 2, 3)])
    table, order = columns(instance), instance.part_block
    for passes in ([("shade", "lowest")], [("size", "tallest")], [("size", "lowest"), ("", "best")], []):
        with pytest.raises(BadKernelInput):
            kernels.greedy(instance.sections, table, passes, None, None, 1, never)
    with pytest.raises(BadKernelInput, match="shade"):
        kernels.greedy_order(instance.sections, table, "shade")
    with pytest.raises(BadKernelInput, match="tallest"):
        kernels.greedy_place(instance.sections, table, order, "tallest")
    with pytest.raises(BadKernelInput):
        kernels.greedy_place(instance.sections, table, order + 1, "best")
