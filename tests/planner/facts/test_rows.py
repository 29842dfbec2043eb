"""Rows written from whole columns equal rows written one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from planner.facts.digest import digest
from planner.facts.rows import AT_ONCE, named_rows, names_of, rows
from planner.formats.json.lines import compact
from planner.model.columns.buffers import BufferColumns
from planner.model.problem import Pool, Problem
from solvers.model.instance import Ints

WORDS = ("<", ", ä", "é", ">\n")
GREATEST = (1, 10, 9_999, 10_000, 10**8, 10**8 + 1, (1 << 32) + 1, 1 << 62)


def one_by_one(names: Sequence[str] | range, a: Ints, b: Ints) -> str:
    return "".join(f"<{i}, ä{p}é{q}>\n" for i, p, q in zip(names, a.tolist(), b.tolist(), strict=True))


@pytest.mark.parametrize("greatest", GREATEST)
@pytest.mark.parametrize("count", [1, 2, AT_ONCE, AT_ONCE + 1])
def test_numbers_of_any_length_are_written(greatest: int, count: int) -> None:
    rng = np.random.default_rng(greatest % 1000 + count)
    a = rng.integers(-greatest, greatest, count, endpoint=True)
    b = rng.integers(0, greatest, count, endpoint=True) // 10 ** rng.integers(0, 19, count)
    a[0], b[0] = -greatest, 0
    assert "".join(rows(WORDS, range(5, 5 + count), a, b)) == one_by_one(range(5, 5 + count), a, b)


def test_names_of_any_kind_are_written() -> None:
    names = names_of(['"', "", "ß" * 300, 7, "x\u0001"], repr)
    number = np.arange(5) * 1_001
    assert "".join(rows(WORDS, names, number, -number)) == one_by_one(names, number, -number)


@pytest.mark.parametrize("odd", ["", '"', "\\", "\x1f", "\x7f", "ß", 7])
@pytest.mark.parametrize("encode", [compact, json.dumps])
def test_names_are_written_as_the_encoder_does(odd: str | int, encode: Callable[[object], str]) -> None:
    for ids in (["b0", "b 1", "{b~2}"], ["b0", odd]):
        assert names_of(ids, encode) == [encode(each) for each in ids]


@pytest.mark.parametrize("odd", ["b1", 'b"1', "ß", 7])
@pytest.mark.parametrize("kind", [list, tuple])
@pytest.mark.parametrize("count", [1, AT_ONCE + 1])
def test_rows_with_ids_have_their_json(
    odd: str | int, kind: Callable[[Sequence[str | int]], Sequence[str | int]], count: int
) -> None:
    ids = kind([odd, *[f"b {i}" for i in range(1, count)]])
    number = np.arange(count) * 1_001
    expected = one_by_one([compact(each) for each in ids], number, -number)
    assert "".join(named_rows(WORDS, ids, compact, number, -number)) == expected


def test_no_rows_are_written_for_an_empty_range() -> None:
    assert not [*rows(WORDS, range(0), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]


@pytest.mark.parametrize("names", [range(9_000), [f"b{i}" for i in range(9_000)], [i * 3 for i in range(9_000)]])
@pytest.mark.parametrize("has_empty_lives", [False, True])
def test_columns_and_their_buffers_have_one_digest(names: Sequence[int | str], has_empty_lives: bool) -> None:
    rng = np.random.default_rng(1)
    size, alignment, start = (
        rng.integers(0, 1 << 40, 9_000),
        1 << rng.integers(0, 9, 9_000),
        rng.integers(-99, 99, 9_000),
    )
    columns = BufferColumns(names, size, alignment, start, start + rng.integers(0 if has_empty_lives else 1, 9, 9_000))
    problem = Problem(columns, (Pool("pool"),))
    assert digest(problem) == digest(replace(problem, buffers=tuple(columns)))
