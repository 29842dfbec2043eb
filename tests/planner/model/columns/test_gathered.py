"""Buffers are gathered in columns while a file is read, and come out unchanged."""

from __future__ import annotations

import pickle
from array import array
from dataclasses import replace

import numpy as np
import pytest

from planner.model.columns.buffers import BufferColumns, ids
from planner.model.columns.gathered import Gathered
from planner.model.columns.rows import FEW
from planner.model.columns.varied import Sayings, VariedColumns, are_any_fixed
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


@pytest.mark.parametrize("before", [[], PLAIN[:9], PLAIN, [*PLAIN[:70], Buffer("line\nbreak", 1)], ODD])
@pytest.mark.parametrize("count", [0, 1, 64, 70, 40_000])
def test_plain_buffers_are_taken_over_behind_others(before: list[Buffer], count: int) -> None:
    made, more = gathered(before), Gathered()
    parts = [Buffer(f"p{i}", i % 300, live=((i, i + 2),)) for i in range(count)]
    for part in parts:
        more.add_plain(str(part.id), part.size, *(part.live or ())[0])
    made.take(more)
    last = Buffer("last", 5, live=((0, 1), (3, 4)), kind="input")
    made.add(last)
    assert made.row(len(before) + count) == last
    assert made.all() == (*before, *parts, last)


def test_very_many_plain_buffers_stay_columns() -> None:
    assert isinstance(gathered(PLAIN).all(), BufferColumns)
    named = [Buffer(each.id, each.size, live=each.live, pools=("one",)) for each in PLAIN]
    assert isinstance(gathered(named).all([Pool("one")]), BufferColumns)
    assert isinstance(gathered(named).all([Pool("one"), Pool("two")]), VariedColumns)
    assert gathered(named).all() == tuple(named)


def test_very_many_buffers_with_hints_and_kinds_stay_columns() -> None:
    kinds, hints = ("input", None, "output"), (None, 0, 64)
    buffers = [replace(each, kind=kinds[i % 3], hint=hints[i % 2]) for i, each in enumerate(PLAIN)]
    made = gathered(buffers).all()
    assert isinstance(made, BufferColumns)
    assert made == tuple(buffers)
    constants = [replace(each, kind="constant") for each in buffers]
    assert isinstance(gathered(constants).all(), VariedColumns)


def test_very_many_buffers_that_say_more_stay_columns_and_are_made_once() -> None:
    more = [each for each in ODD if each.id not in ("b", "f", "j", "k", "l", 7)]
    more += [Buffer("o", 8, max_offset=0, accesses=3, device="gpu"), Buffer("p", 8, live=(), reads=1, dtype="int8")]
    buffers = [*PLAIN, *more, *PLAIN[:9], *more[::-1]]
    made = gathered(buffers).all()
    assert isinstance(made, VariedColumns)
    assert [made[i] for i in (len(PLAIN) + 3, -1)] == [buffers[len(PLAIN) + 3], buffers[-1]]
    first = made[len(PLAIN)]
    assert made == tuple(buffers)
    assert made[len(PLAIN)] is first
    assert made[5] is made[5]
    assert pickle.loads(pickle.dumps(made)) == made
    assert are_any_fixed(made)
    starts, ends, owners = (column.tolist() for column in made.lives())
    lives = [(*span, i) for i, each in enumerate(buffers) for span in each.live or ()]
    assert [*zip(starts, ends, owners, strict=True)] == lives


def test_numbers_of_buffers_are_no_objects_while_they_fit_in_columns() -> None:
    numbered = [replace(each, id=i) for i, each in enumerate(PLAIN)]
    assert isinstance(ids(gathered(numbered).all()), array)
    for others in ([Buffer("a", 1)], [Buffer(1 << 70, 1)]):
        made = gathered([*numbered, *others, *numbered[:70]]).all()
        assert not isinstance(ids(made), array)
        assert made == (*numbered, *others, *numbered[:70])


def test_numbers_take_as_few_bits_as_they_need_unless_solvers_compute_with_them() -> None:
    kept = [replace(each, live=((i % 99, i % 99 + 2), (200, 300))) for i, each in enumerate(PLAIN)]
    made = gathered(kept).all()
    assert isinstance(made, VariedColumns)
    assert [column.itemsize for column in (made.start, made.end, made.further, made.until)] == [1, 1, 2, 2]
    assert made == tuple(kept)
    far = [replace(each, live=((-(1 << 62), 5), (200, 1 << 62))) for each in kept[:3]]
    assert gathered([*kept, *far]).all() == (*kept, *far)
    plain = gathered(PLAIN).all()
    assert isinstance(plain, BufferColumns)
    assert {column.dtype for column in (plain.size, plain.alignment, plain.start, plain.end)} == {np.dtype(np.int64)}


def test_some_may_name_the_only_memory_and_others_not() -> None:
    buffers = [*PLAIN, Buffer("a", 8, live=((0, 1),), pools=("one",)), Buffer("b", 8, live=((0, 1), (3, 4)))]
    expected = tuple(replace(each, pools=None) for each in buffers)
    assert gathered(buffers).all([Pool("one")]) == expected


def test_what_very_many_buffers_say_is_no_object_for_each() -> None:
    buffers = [Buffer(f"b{i}", 8, live=((0, 1),), pools=(f"p{i}", "é\n\ud800"), kind=f"k{i}") for i in range(2 * FEW)]
    buffers += [Buffer("a", 8, live=((0, 1),), pools=("one",), kind=f"q{i}") for i in range(2)]
    made = gathered(buffers)
    assert [made.row(i) for i in range(len(made))] == buffers
    found = made.all([Pool("one")])
    assert isinstance(found, VariedColumns)
    assert isinstance(found.sayings, Sayings)
    assert [*found.used] == found.sayings[1:]
    assert found == (*buffers[:-2], *(replace(each, pools=None) for each in buffers[-2:]))
    assert pickle.loads(pickle.dumps(found)) == found
