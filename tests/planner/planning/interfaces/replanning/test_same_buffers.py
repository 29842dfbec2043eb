"""A session takes tensors that are made anew for those of the call before, if nothing about them differs."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from planner import BadInput, BufferInfo, Session, plan_memory


def tensors_in_conflict(sizes: Sequence[int]) -> list[BufferInfo]:
    """Return tensors without lifetimes, made anew, each in conflict with the next two."""
    count = len(sizes)
    lists = [tuple(f"t{j}" for j in (i + 1, i + 2) if j < count) for i in range(count)]
    return [BufferInfo("".join(("t", str(i))), size, conflicts=lists[i]) for i, size in enumerate(sizes)]


@pytest.mark.parametrize("pools", [[("m", None)], [("fast", 4000), ("slow", None)]])
def test_tensors_made_anew_are_those_of_the_call_before(pools: list[tuple[str, int | None]], nightly: bool) -> None:
    chance, session = random.Random(4), Session()
    sizes = [16 * chance.randint(1, 20) for _ in range(12)]
    for _ in range(200 if nightly else 12):
        sizes[chance.randrange(len(sizes))] = 16 * chance.randint(1, 20)
        if chance.random() < 0.2:
            sizes = sizes[:-1] if chance.random() < 0.5 else [*sizes, 64]
        made = tensors_in_conflict(sizes)
        found, fresh = session.plan_memory(pools, made), plan_memory(pools, made)
        peaks = [max(p.pool_offset + size for p, size in zip(each, sizes, strict=True)) for each in (found, fresh)]
        assert len(pools) > 1 or peaks[0] == peaks[1]
        for i, tensor in enumerate(made):
            for name in tensor.conflicts:
                j = int(name[1:]) if isinstance(name, str) else 0
                a, b = found[i], found[j]
                apart = a.pool_offset + sizes[i] <= b.pool_offset or b.pool_offset + sizes[j] <= a.pool_offset
                assert a.pool_name != b.pool_name or apart


def test_a_tensor_is_not_taken_for_an_equal_one_of_another_type() -> None:
    session = Session()
    pools = [("m", None)]
    session.plan_memory(pools, [BufferInfo("a", 1, live=((0, 1),)), BufferInfo("b", 8, live=((0, 1),))])
    for size in (True, 1.0):
        with pytest.raises(BadInput):
            session.plan_memory(
                pools,
                [BufferInfo("a", size, live=((0, 1),)), BufferInfo("b", 9, live=((0, 1),))],  # type: ignore[arg-type]
            )


def test_tensors_made_anew_in_another_order_keep_their_conflicts() -> None:
    session = Session()
    for names in (["a", "b", "c"], ["c", "a", "b"], ["b", "c"], ["b", "c", "a"]):
        made = [BufferInfo(name, 8, conflicts=("b",) if name == "a" else ()) for name in names]
        places = {place.tensor_id: place.pool_offset for place in session.plan_memory([("m", None)], made)}
        assert places["c"] == 0
        assert "a" not in names or sorted((places["a"], places["b"])) == [0, 8]


def test_a_conflict_with_another_name_of_the_same_text_is_another() -> None:
    session = Session()
    others: tuple[int | str, ...] = (1, "1", 1)
    for other in others:
        made = [BufferInfo("a", 8, conflicts=(other,)), BufferInfo(1, 16), BufferInfo("1", 32)]
        places = {place.tensor_id: place.pool_offset for place in session.plan_memory([("m", None)], made)}
        size = {1: 16, "1": 32}[other]
        assert places["a"] >= places[other] + size or places[other] >= places["a"] + 8


def test_lists_that_change_between_calls_are_read_again() -> None:
    session = Session()
    pools = [("m", None)]
    names: list[str | int] = []
    tensors = [BufferInfo("a", 8, conflicts=names), BufferInfo("b", 8)]  # type: ignore[arg-type]
    assert [place.pool_offset for place in session.plan_memory(pools, tensors)] == [0, 0]
    names.append("b")
    assert sorted(place.pool_offset for place in session.plan_memory(pools, tensors)) == [0, 8]
