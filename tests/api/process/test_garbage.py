"""Cycles that a task leaves are collected before the next one if they are many, and at once if they take much memory."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from api.process import garbage
from api.process.garbage import COLLECT_EVERY, COLLECT_OFTEN, Trimmer
from api.process.machine import resident

MIB = 1 << 20
BLOCK = 100_000
"""Bytes of a block that the C library takes from its heap."""


class Node:
    """An object that refers to itself."""

    def __init__(self, alive: set[int], number: int) -> None:
        self.me = self
        self._alive, self._number = alive, number
        alive.add(number)

    def __del__(self) -> None:
        self._alive.discard(self._number)


@pytest.fixture(autouse=True)
def rare() -> Iterator[None]:
    """The collector of a worker."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(COLLECT_EVERY)
    yield
    gc.set_threshold(*before)


def cycles(count: int) -> set[int]:
    """Make cycles; return those that are still there."""
    alive: set[int] = set()
    for number in range(count):
        Node(alive, number)
    return alive


@pytest.mark.parametrize(
    ("made", "collects", "is_left"),
    [
        (COLLECT_OFTEN, True, False),
        (COLLECT_OFTEN, False, True),
        (100, True, True),
    ],
)
def test_many_cycles_are_collected_between_two_tasks(made: int, collects: bool, is_left: bool) -> None:
    trimmer = Trimmer(collects=collects)
    alive = cycles(made)
    trimmer.trim()
    assert bool(alive) is is_left
    gc.collect()


def test_few_cycles_are_collected_if_memory_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    trimmer = Trimmer(collects=True)
    alive = cycles(100)
    monkeypatch.setattr(garbage, "TRIM_BYTES", -(1 << 40))
    trimmer.trim()
    assert not alive


def test_what_a_burst_leaves_is_given_back_although_memory_was_trimmed_during_it() -> None:
    gc.collect()
    garbage.give_back()
    trimmer, before = Trimmer(collects=False), resident()
    blocks = [bytes(BLOCK) for _ in range(60 * MIB // BLOCK)]
    trimmer.trim()
    del blocks[:-1]  # the last one keeps the heap from shrinking by itself
    trimmer.trim()
    assert resident() < before + 20 * MIB
