"""omnimalloc's files: its clocks of several threads become conflicts, and its loader reads what memplan writes."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from planner import plan, read_problem, verify
from planner.formats.planners import minimalloc_clocks
from planner.formats.planners.minimalloc_writer import write_csv
from planner.model.problem import Buffer, Lifetimes, Pool, Problem
from tests.planner.formats.reading import refusal

HEAD = "id,lower,upper,size\n"
Clock = tuple[int, ...]


def clock(time: Clock) -> str:
    return ":".join(map(str, time))


def rows(times: list[tuple[Clock, Clock]]) -> bytes:
    return (HEAD + "".join(f"{i},{clock(a)},{clock(b)},{8 + i}\n" for i, (a, b) in enumerate(times))).encode()


def test_what_ends_before_another_begins_on_every_thread_may_share_its_place() -> None:
    times: list[tuple[Clock, Clock]] = [((0, 1), (4, 2)), ((4, 2), (6, 8)), ((4, 1), (5, 9)), ((6, 9), (7, 9))]
    problem, warnings = read_problem(rows(times))
    assert {buffer.live for buffer in problem.buffers} == {None}
    assert problem.constraints.conflicts == (("0", "2"), ("1", "2"))
    assert warnings == ()
    found = plan(problem)
    assert (found.peak, verify(problem, found)) == (19, ())


@pytest.mark.parametrize("threads", [2, 3])
def test_clocks_conflict_as_omnimalloc_says(threads: int) -> None:
    primitives = pytest.importorskip("omnimalloc.primitives")
    chance = random.Random(threads)
    times: list[tuple[Clock, Clock]] = []
    while len(times) < 40:
        start = tuple(chance.randrange(6) for _ in range(threads))
        end = tuple(each + chance.randrange(3) for each in start)
        times += [(start, end)] if end != start else []
    theirs = [primitives.Allocation(id=i, size=8, start=a, end=b) for i, (a, b) in enumerate(times)]
    wanted = [(str(a.id), str(b.id)) for a, b in itertools.combinations(theirs, 2) if a.conflicts_with(b)]
    assert read_problem(rows(times))[0].constraints.conflicts == tuple(wanted)


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a,0:1,4:2,8\nb,1,2,8\n", "contradiction", "/rows/1/lower"),
        ("a,1,2,8\nb,0:1,4:2,8\n", "unsupported", "/rows/1/lower"),
        ("a,0:1,4:2:3,8\n", "contradiction", "/rows/0/lower"),
        ("a,0:1,0:1,8\n", "interval_reversed", "/rows/0"),
        ("a,0:3,4:2,8\n", "interval_reversed", "/rows/0"),
        ("a,0:-1,4:2,8\n", "wrong_type", "/rows/0/lower"),
        ("a,0:1,4:,8\n", "wrong_type", "/rows/0/upper"),
        ("a,0:1,4:2,x\n", "wrong_type", "/rows/0/size"),
    ],
)
def test_clocks_that_say_nothing_are_refused_with_their_row(text: str, code: str, place: str) -> None:
    finding = refusal((HEAD + text).encode()).findings[0]
    assert (finding.code, finding.pointer) == (code, place)


def test_ends_that_count_and_gaps_are_refused_with_clocks() -> None:
    for data in (b"id,lower,end,size\na,0:1,4:2,8\n", b"id,lower,upper,size,gaps\na,0:1,4:2,8,1-2\n"):
        assert refusal(data).findings[0].code == "unsupported"


def test_more_conflicts_than_a_file_should_make_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = rows([((0, i), (1, i + 1)) for i in range(20)])
    assert len(read_problem(data)[0].constraints.conflicts) == 190
    monkeypatch.setattr(minimalloc_clocks, "PAIRS", 100)
    assert refusal(data).findings[0].code == "too_large"
    monkeypatch.setattr(minimalloc_clocks, "MOST_COMPARED", 19)
    assert refusal(data).findings[0].message == "20 buffers with clocks of threads are too many to compare"
    assert refusal(data + b"x,0:1,1,8\n").findings[0].code == "contradiction"
    monkeypatch.setattr(minimalloc_clocks, "MOST_COMPARED", 20)
    assert refusal(data).findings[0].message.startswith("clocks of threads make more than")


def test_omnimalloc_reads_what_is_written(tmp_path: Path) -> None:
    kinds = ("workspace", "constant", "input", "output", "intermediate", None)
    buffers = tuple(Buffer(f"b{i}", 8, live=((i, i + 2),), kind=kind) for i, kind in enumerate(kinds))
    problem = Problem(buffers, (Pool("default"),), lifetimes=Lifetimes.HALF_OPEN)
    data = write_csv(problem)
    assert [line.split(",")[4:] for line in data.decode().splitlines()[:3]] == [
        ["kind", "label"],
        ["WORKSPACE", ""],
        ["CONSTANT", ""],
    ]
    assert read_problem(data)[0] == problem
    load = pytest.importorskip("omnimalloc.io").load_allocation
    (tmp_path / "x.csv").write_bytes(data)
    read = [each.kind and each.kind.name for each in load(tmp_path / "x.csv").allocations]
    assert read == ["WORKSPACE", "CONSTANT", "INPUT", "OUTPUT", None, None]
