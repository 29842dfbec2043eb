"""Which buffers share bytes in a file's own plan, compared with all pairs."""

from __future__ import annotations

import random
import time
from itertools import combinations

import pytest

from planner import BadInput, Buffer
from planner.checks.report import Place
from planner.formats.dumps import shared_places
from planner.formats.dumps.shared_places import tied
from planner.model.columns.gathered import Gathered
from planner.model.problem import Colocation, Pool


def place(number: int) -> Place:
    return "lines", number


def by_pairs(buffers: list[Buffer], pairs: list[tuple[int, int]]) -> list[Colocation]:
    """Return the same colocations, from every two buffers."""
    low = [buffer.hint or 0 for buffer in buffers]
    group = list(range(len(buffers)))
    for i, j in combinations(group.copy(), 2):
        a, b = buffers[i], buffers[j]
        assert a.live
        assert b.live
        at_once = any(first < end and start < last for first, last in a.live for start, end in b.live)
        meet = low[i] < low[j] + b.size and low[j] < low[i] + a.size
        if (i, j) in pairs or (at_once and meet and a.pools == b.pools):
            group = [group[i] if each == group[j] else each for each in group]
    tops = {each: min((k for k in range(len(group)) if group[k] == each), key=lambda k: (low[k], k)) for each in group}
    return [
        Colocation(buffers[i].id, buffers[tops[each]].id, low[i] - low[tops[each]])
        for i, each in enumerate(group)
        if tops[each] != i
    ]


@pytest.mark.parametrize("seed", range(300))
def test_buffers_that_overlap_at_a_common_time_or_are_named_are_tied(seed: int) -> None:
    rng = random.Random(seed)
    buffers = []
    for i in range(rng.randint(1, 40)):
        start = rng.randrange(rng.choice([10, 40]))
        end = start + rng.randint(1, rng.choice([3, 30]))
        again = end + rng.randint(1, 20)
        live = ((start, end), (again, again + rng.randint(1, 3)))[: rng.choice([1, 1, 2])]
        pool = rng.choice(["a", "a", "b"])
        buffers.append(Buffer(i, rng.randint(1, 8), live=live, pools=(pool,), hint=rng.randrange(rng.choice([8, 80]))))
    pairs = [(i, j) for i, j in combinations(range(len(buffers)), 2) if rng.random() < 0.02]
    assert list(tied(buffers, place, pairs)[1].colocations) == by_pairs(buffers, pairs)


def test_many_buffers_side_by_side_are_not_compared_with_each_other() -> None:
    found = Gathered()
    for i in range(60_000):
        found.add(Buffer(i, 64, live=((i, i + 5_000),), hint=64 * (i % 5_000)))
    began = time.process_time()
    assert tied(found.all([Pool("memory")]), place)[1].colocations == ()
    assert time.process_time() - began < 10


def test_too_many_bytes_left_to_others_are_refused_at_the_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_places, "MOST_SHARED", 20)
    long = [Buffer(i, 1, live=((0, 100),), hint=i) for i in range(8)]
    short = [Buffer(f"short{i}", 8, live=((i, i + 1),), hint=0) for i in range(3)]
    assert len(tied([*long, *short[:2]], place)[1].colocations) == 9
    with pytest.raises(BadInput) as caught:
        tied([*long, *short], place)
    (finding,) = caught.value.findings
    assert (finding.code.value, finding.pointer) == ("too_large", "/lines/10")
    assert "'short2'" in finding.message
