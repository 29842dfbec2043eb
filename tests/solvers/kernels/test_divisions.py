"""The open divisions of a section, in C++ and in Python: equal answers, step by step, and contracts that are kept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.kernels import BadKernelInput, plain
from solvers.kernels.plain import MOST, MOST_ENOUGH, MOST_HEIGHT, OpenDivisions, PricedPool, PricedSection, native
from solvers.kernels.python.divisions import OpenDivisions as Reference

Kind: TypeAlias = Callable[..., OpenDivisions]
GREATEST = (2, 1 << 40, 1 << 90)
"""Of costs: many are equal, or they are as great as usual, or have more than 64 bits."""


def compiled() -> Kind:
    found = native()
    if found is None:
        pytest.skip("no native kernels")
    return cast(Kind, found.OpenDivisions)


def drawn(random: Random) -> dict[str, Any]:
    """What a class of open divisions is made from."""
    pools, classes = random.randint(1, 4), random.randint(1, 7)
    homes = [sorted(random.sample(range(pools), random.randint(1, pools))) for _ in range(classes)]
    units = [[random.randint(0, 9) for _ in range(pools)] for _ in range(classes)]
    always = [random.randint(0, 5) for _ in range(pools)]
    return {
        "homes": homes,
        "units": units,
        "ends": [each + random.randint(0, 6 * classes) for each in always],
        "lowest": [each + random.choice((0, 0, 9)) for each in always],
        "always": always,
        "free": random.randint(0, 20),
    }


def prices(random: Random, made: dict[str, Any], greatest: int) -> PricedSection:
    def some(count: int) -> list[int]:
        return [random.randint(-greatest, greatest) for _ in range(count)]

    pools = []
    for end in made["ends"]:
        heights = [0, *sorted(random.sample(range(1, end + 1), random.randint(0, min(end, 9))))]
        pools.append(PricedPool(heights, *(some(len(heights)) for _ in range(3))))
    classes = len(made["homes"])
    return PricedSection(some(classes + 1), [some(len(pools)) for _ in range(classes)], pools)


def course(kind: Kind, seed: int) -> list[object]:
    """All answers on the way from all divisions to the last, with prices that come one after the other."""
    random = Random(seed)
    made, greatest = drawn(random), random.choice(GREATEST)
    divided = kind(**made, enough=random.choice((greatest * 4, greatest, MOST - 9)))
    answers = list[object]()
    for _ in range(random.randint(0, 4)):
        divided.add(*prices(random, made, greatest))
    divided.push(-9 * greatest, (), made["always"], 0, 0, False, 0)
    for _ in range(random.randint(1, 25)):
        if random.random() < 0.2:
            divided.add(*prices(random, made, greatest))
        found: Any = divided.next(divided.work + random.randint(1, 60), random.randint(0, 9))
        answers.append(found)
        if found is not None:
            bound, chosen, loads, seen, last, _, _ = found
            below = bound + random.randint(0, 2)
            answers += [divided.heights(chosen, loads), divided.around(chosen, loads, below)]
            if len(chosen) == len(made["homes"]):
                divided.push(bound + random.randint(0, 3), chosen, loads, seen, last, True, random.randint(0, 5))
            elif random.random() < 0.5:
                divided.since = 0
                divided.divide(chosen, loads, bound, last)
            else:
                divided.push(bound + 1, chosen, loads, seen, last, random.random() < 0.5, 0)
        if random.random() < 0.3:
            answers.append(divided.ahead(random.randint(1, 5), divided.work + random.randint(1, 20)))
        if random.random() < 0.2:
            answers.append(divided.heights_below(divided.least() + random.randint(0, 3), random.randint(0, 9)))
        answers += [len(divided), divided.least(), divided.work, divided.since]
    return answers


@given(st.integers(0, 1 << 40))
def test_both_give_the_same_answers(seed: int) -> None:
    assert course(compiled(), seed) == course(Reference, seed)


@pytest.mark.parametrize("number", [0, -1, (1 << 63) - 1, 1 << 63, -(1 << 63), -(1 << 63) - 1, MOST - 1, 1 - MOST])
def test_costs_come_back_as_they_were(number: int) -> None:
    for kind in (compiled(), Reference):
        divided = kind([[0]], [[1]], [1], [0], [0], 0, max(number, MOST - 1))
        divided.push(number, (), (0,), 0, 0, False, 3)
        assert divided.least() == number
        assert divided.next(1, 0) == ((number, (), (0,), 0, 0, False, 3) if number < MOST - 1 else None)


@pytest.mark.parametrize("number", [MOST, -MOST - 1, 1 << 200, -(1 << 200)])
def test_larger_costs_are_refused(number: int) -> None:
    with pytest.raises(BadKernelInput):
        compiled()([[0]], [[1]], [1], [0], [0], 0, number)


def test_what_is_too_large_is_left_to_python() -> None:
    for ends, enough in (([1], MOST_ENOUGH), ([MOST_HEIGHT], 1)):
        assert isinstance(plain.divisions([[0]], [[1]], ends, [0], [0], 0, enough), Reference)
    assert isinstance(plain.divisions([[0]], [[1]], [1], [0], [2], 0, 1), Reference)
    assert isinstance(plain.divisions([[0]], [[1]], [1], [0], [0], -MOST_HEIGHT, 1), Reference)
    for slope, end, is_so in (
        (1, 1, True),
        (-MOST, 1, False),
        (MOST >> 39, 1 << 40, False),
        (MOST >> 44, 1 << 40, True),
    ):
        assert PricedSection([1, 0], [[1]], [PricedPool([0], [1], [slope], [1])]).fits([end]) == is_so


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("homes", [[1]]),
        ("homes", [[-1]]),
        ("homes", [[]]),
        ("homes", []),
        ("units", [[1, 1]]),
        ("units", [[-1]]),
        ("units", [[MOST_HEIGHT]]),
        ("ends", []),
        ("lowest", [0, 0]),
        ("always", [0, 0]),
        ("always", [3]),
        ("free", -MOST_HEIGHT),
        ("free", -(1 << 63)),
    ],
)
def test_a_broken_contract_is_refused(name: str, value: object) -> None:
    made: dict[str, Any] = {"homes": [[0]], "units": [[1]], "ends": [2], "lowest": [0], "always": [0], "free": 0}
    compiled()(**made, enough=1)
    with pytest.raises(BadKernelInput):
        compiled()(**made | {name: value}, enough=1)


@pytest.mark.parametrize(
    "broken",
    [
        ([0], [[0]], [([0], [0], [0], [0])]),
        ([0, 0], [], [([0], [0], [0], [0])]),
        ([0, 0], [[0, 0]], [([0], [0], [0], [0])]),
        ([0, 0], [[0]], []),
        ([0, 0], [[0]], [([], [], [], [])]),
        ([0, 0], [[0]], [([1], [0], [0], [0])]),
        ([0, 0], [[0]], [([0, 2, 1], [0] * 3, [0] * 3, [0] * 3)]),
        ([0, 0], [[0]], [([0], [0, 0], [0], [0])]),
        ([0, 0], [[0]], [([0], [0], [], [0])]),
        ([0, 0], [[0]], [([0], [0], [0], [])]),
        ([0, 0], [[0]], [([0], [0], [MOST - 1], [0])]),
        ([0, 0], [[0]], [([0], [0], [0], [0])] * 2),
    ],
)
def test_prices_of_another_section_are_refused(broken: tuple[Any, Any, Any]) -> None:
    divided = compiled()([[0]], [[1]], [2], [0], [0], 0, 9)
    divided.add([0, 0], [[0]], [PricedPool([0], [0], [0], [0])])
    with pytest.raises(BadKernelInput):
        divided.add(*broken)


@pytest.mark.parametrize(
    "part", [((1,), (1,), 0), ((0, 0), (2,), 0), ((0,), (1, 1), 0), ((0,), (-1,), 0), ((0,), (3,), 0), ((0,), (1,), 2)]
)
def test_parts_of_another_section_are_refused(part: tuple[Any, Any, int]) -> None:
    chosen, loads, last = part
    divided = compiled()([[0]], [[1]], [2], [0], [0], 0, 9)
    with pytest.raises(BadKernelInput):
        divided.push(0, chosen, loads, 0, last, False, 0)


@pytest.mark.parametrize("kind", [compiled, lambda: Reference])
def test_what_costs_too_much_to_be_counted_is_not_open(kind: Callable[[], Kind]) -> None:
    divided = kind()([[0]], [[1]], [2], [0], [0], 0, 9)
    divided.push(1 << 200, (), (0,), 0, 0, False, 0)
    assert len(divided) == 0


def test_no_part_at_a_time_is_none() -> None:
    with pytest.raises(BadKernelInput):
        compiled()([[0]], [[1]], [2], [0], [0], 0, 9).ahead(0, 9)


def test_what_is_whole_is_not_divided() -> None:
    with pytest.raises(BadKernelInput):
        compiled()([[0]], [[1]], [2], [0], [0], 0, 9).divide((0,), (1,), 0, 0)


@pytest.mark.parametrize("wanted", ["auto", "reference"])
def test_who_has_them_has_no_numpy(wanted: str) -> None:
    """The process that answers questions about choices begins sooner without it."""
    code = """
import sys
from solvers.kernels.plain import native
import solvers.choice.pools.questions.answering
print(native() is None, "numpy" in sys.modules)
"""
    environment = {**os.environ, "MEMPLAN_KERNELS": wanted}
    told = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.split() == [str(wanted == "reference" or native() is None), "False"]
