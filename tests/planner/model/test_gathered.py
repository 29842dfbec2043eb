"""Buffers are gathered in columns while a file is read, and come out unchanged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.model.columns import FEW, BufferColumns
from planner.model.gathered import Gathered
from planner.model.problem import Buffer, Fixed, Pool

PLAIN = [Buffer(f"b{i}", i, live=((i, i + 1),)) for i in range(FEW + 1)]
ODD = [
    Buffer("a", 8, live=()),
    Buffer("b", 8, live=((3, 3),)),
    Buffer("c", 8),
    Buffer("d", 8, live=((0, 1), (3, 4))),
    Buffer("e", 8, live=((0, 1),), hint=4),
    Buffer("f", 8, live=((0, 1),), hint=-1),
    Buffer("g", 8, live=((0, 1),), pools=("one",), kind="input"),
    Buffer("h", 8, live=((0, 1),), fixed=Fixed("one", 0)),
    Buffer("i", 8, fixed=Fixed("two")),
    Buffer("j", 8, live=((1, 1),), fixed=Fixed("one", -1)),
    Buffer("k", 8, live=((0, 1), (3, 4), (7, 9)), pools=("one",), fixed=Fixed("one", 1 << 70)),
    Buffer("l", 8, live=((1, 2), (3, 1 << 70))),
    Buffer("m", 8, live=((5, 7), (9, 12)), fixed=Fixed("two", 96), kind="output"),
    Buffer("n", 8, live=()),
    Buffer(7, 1 << 70, live=((0, 1),), data=b"x"),
]


def gathered(buffers: list[Buffer]) -> Gathered:
    made = Gathered()
    for buffer in buffers:
        made.add(buffer)
    return made


@pytest.mark.parametrize("buffers", [[], PLAIN[:9], PLAIN, ODD, [*PLAIN, *ODD], [*ODD, *PLAIN[:5], *ODD[::-1]]])
def test_gathered_buffers_come_out_unchanged(buffers: list[Buffer]) -> None:
    made = gathered(buffers)
    assert made.all() == tuple(buffers)
    assert [made.row(i) for i in range(len(made))] == buffers


def test_very_many_plain_buffers_stay_columns() -> None:
    assert isinstance(gathered(PLAIN).all(), BufferColumns)
    named = [Buffer(each.id, each.size, live=each.live, pools=("one",)) for each in PLAIN]
    assert isinstance(gathered(named).all([Pool("one")]), BufferColumns)
    assert not isinstance(gathered(named).all([Pool("one"), Pool("two")]), BufferColumns)
    assert gathered(named).all() == tuple(named)


def test_very_many_buffers_with_hints_and_kinds_stay_columns() -> None:
    kinds, hints = ("input", None, "output"), (None, 0, 64)
    buffers = [replace(each, kind=kinds[i % 3], hint=hints[i % 2]) for i, each in enumerate(PLAIN)]
    made = gathered(buffers).all()
    assert isinstance(made, BufferColumns)
    assert made == tuple(buffers)
    constants = [replace(each, kind="constant") for each in buffers]
    assert not isinstance(gathered(constants).all(), BufferColumns)


def test_some_may_name_the_only_memory_and_others_not() -> None:
    buffers = [*PLAIN, Buffer("a", 8, live=((0, 1),), pools=("one",)), Buffer("b", 8, live=((0, 1), (3, 4)))]
    expected = tuple(replace(each, pools=None) for each in buffers)
    assert gathered(buffers).all([Pool("one")]) == expected
