"""The fast readers by columns give what the careful readers give, and refuse with the same messages."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from planner import read_problem, write_problem
from planner.checks import check
from planner.facts.digest import digest
from planner.formats import documents
from planner.formats.documents import Source
from planner.formats.json.records import taken_apart
from planner.formats.planners import minimalloc
from planner.formats.planners.minimalloc_columns import read_columns
from planner.formats.planners.minimalloc_writer import write_csv
from planner.formats.tables.problems import FORMATS
from planner.formats.text import digits
from planner.generate import Request, generate
from planner.model.columns.buffers import BufferColumns
from planner.model.errors import BadInput
from planner.model.problem import Problem
from planner.planning.placing.lowering import lower
from tests.small.strategies import BRIEF, NIGHTLY

TRIES = 4000 if NIGHTLY else 40 if BRIEF else 60
MARKS = b'0123456789-+.,:[]{}"e \n\r\\u\x00\x0b\xc3\xa9\xff'
SOUND: list[dict[str, Any]] = [
    {"accesses": 12},
    {"kind": "constant"},
    {"kind": ""},
    {"fixed": {"pool": "sram"}, "kind": "input"},
]
MORE: list[dict[str, Any]] = [
    {"kind": "é{}"},
    {"kind": None},
    {"kind": "layer 1", "accesses": 3},
    {"fixed": {"pool": "sram", "offset": 512}},
    {"fixed": {"pool": "sram", "offset": None}},
    {"fixed": {"pool": "nowhere"}},
    {"fixed": {"pool": ""}},
    {"accesses": -1},
    {"accesses": 1 << 62},
    {"fixed": {"pool": "sram", "offset": 1 << 62}},
    {"accesses": None},
    {"writes": 4},
]
"""Further fields of a buffer that are not sound, or not plain."""


def documents_of(seed: int) -> tuple[bytes, str]:
    """Return a random document, written in one of many ways, and its format."""
    chance = random.Random(seed)
    names = chance.choice(("number", "name", "both", "shuffled"))
    alignment = chance.choice(("none", "some", "all"))
    some: tuple[list[dict[str, Any]], ...] = ([], [], SOUND, [*SOUND, *MORE])
    more = chance.choice(some)
    buffers = []
    for i in range(chance.randrange(1, 12)):
        start = chance.randrange(-3, 30)
        kind = names if names != "both" else chance.choice(("number", "name"))
        buffer: dict[str, Any] = {
            "id": i if kind == "number" else chance.randrange(10**6) if kind == "shuffled" else f"é/{i}.{i * 7919}",
            "size": chance.choice((0, 7, 64, 123456789)),
            "live": [[start, start + chance.randrange(12)]],
        }
        if alignment == "all" or (alignment == "some" and chance.random() < 0.5):
            buffer["alignment"] = chance.choice((1, 16))
        buffer |= chance.choice(more) if more and chance.random() < 0.6 else {}
        if "kind" in buffer and chance.random() < 0.5:
            del buffer["live"]  # constants need no lifetimes
        if chance.random() < 0.3:
            buffer = dict(reversed(buffer.items()))
        buffers.append(buffer)
    document: dict[str, Any] = {
        "format": "memplan/1",
        "lifetimes": chance.choice(("half_open", "half_open", "inclusive")),
    }
    document |= {"pools": [{"name": "sram", "size": 10**9}]} if chance.random() < 0.5 else {}
    variants: dict[str, Any] = {}
    if chance.random() < 0.3:
        one = {"name": "dear", "buffers": [{"id": "own", "size": 3, "live": [[0, 2]]}]}
        variants = {"variants": {"groups": [{"name": "g", "alternatives": [one, {"name": "cheap"}]}]}}
    document |= variants if chance.random() < 0.3 else {}
    document |= {"buffers": buffers}
    document |= variants
    if chance.random() < 0.3:
        document["pools"] = [{"name": "sram", "size": 10**9}, {"name": "dram"}]
    if chance.random() < 0.3:
        ids = [buffer["id"] for buffer in buffers] + ["nobody"] * (chance.random() < 0.2)
        pairs = [chance.sample(ids, 2) for _ in range(3) if len(ids) > 1]
        document["constraints"] = {chance.choice(("conflicts", "exclusions", "same_pool")): pairs}
        if len(ids) > 1 and chance.random() < 0.5:
            tied = dict(zip(("buffer", "base"), chance.sample(ids, 2), strict=True)) | {"offset": 0}
            document["constraints"] = {"colocations": [tied]}
    document |= {"name": "what"} if chance.random() < 0.3 else {}
    indent, ascii_ = chance.choice((None, None, 1)), chance.random() < 0.2
    if chance.random() < 0.5:
        return json.dumps(document, indent=indent, ensure_ascii=ascii_).encode(), "memplan"
    lives = [buffer.get("live", [[0, 1]])[0] for buffer in buffers]
    rows = [f"{b['id']},{s},{e},{b['size']},{b.get('alignment', 1)}" for b, (s, e) in zip(buffers, lives, strict=True)]
    ending = chance.choice(("\n", "\n", "\r\n"))
    until = chance.choice(("upper", "end"))
    return (
        ending.join([f"id,lower,{until},size,alignment", *rows]) + chance.choice(("", ending))
    ).encode(), "minimalloc"


def mutated(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    mark = MARKS[chance.randrange(len(MARKS)) :][:1]
    return {
        0: data[:at] + mark + data[at + 1 :],
        1: data[:at] + mark + data[at:],
        2: data[:at] + data[at + chance.randrange(1, 4) :],
        3: data[:at] + data[at : at + 40] + data[at:],
    }[chance.randrange(4)]


def read(data: bytes, name: str) -> tuple[Problem, tuple[str, ...]] | str:
    try:
        return FORMATS[name].read(Source(data))
    except BadInput as error:
        return str(error.findings)


@pytest.fixture(params=[180, 1 << 19])
def quick(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    monkeypatch.setattr(digits, "CHUNK", request.param)

    def switch(on: bool) -> None:
        for module in (documents, minimalloc):
            monkeypatch.setattr(module, "LEAST_BYTES", 0 if on else 1 << 60)

    return switch


def test_both_readers_give_the_same_answers(quick: Callable[[bool], None]) -> None:
    chance = random.Random(7)
    in_columns = with_more = 0
    for seed in range(TRIES):
        data, name = documents_of(seed)
        for each in (data, *(mutated(data, chance) for _ in range(6))):
            quick(False)
            carefully = read(each, name)
            quick(True)
            found = read(each, name)
            assert found == carefully, each
            taken = taken_apart(each) if name == "memplan" and not isinstance(found, str) else None
            with_more += taken is not None and taken.more is not None
            if not isinstance(found, str):
                assert write_problem(found[0]) == write_problem(carefully[0]), each  # type: ignore[arg-type]
                assert digest(found[0]) == digest(carefully[0]), each  # type: ignore[arg-type]
                assert check(found[0]) == ()
                low, same_low = lower(found[0]).instance, lower(carefully[0]).instance  # type: ignore[arg-type]
                assert np.array_equal(low.name_rank, same_low.name_rank)
                in_columns += isinstance(found[0].buffers, BufferColumns)
    assert in_columns > TRIES / 2
    assert with_more > TRIES / 20


def test_large_files_are_read_in_columns() -> None:
    problem = generate("random", Request(6000, 3))
    for data in (write_problem(problem), write_csv(problem)):
        found, warnings = read_problem(data)
        assert isinstance(found.buffers, BufferColumns)
        assert not warnings
        assert [str(buffer.id) for buffer in found.buffers] == [str(buffer.id) for buffer in problem.buffers]
        assert [b.live for b in found.buffers] == [b.live for b in problem.buffers]
    broken = write_problem(problem).replace(b'{"id": 0, "size":', b'{"id": 0, "size ":')
    with pytest.raises(BadInput) as refused:
        read_problem(broken)
    assert {finding.pointer for finding in refused.value.findings} == {"/buffers/0/size", "/buffers/0/size "}


@pytest.mark.parametrize(
    "row",
    [
        b'{"id": 1, "size": 1}',
        b'{"id": 1, "size": 1.0, "live": [[0, 1]]}',
        b'{"id": 1, "size": 1e3, "live": [[0, 1]]}',
        b'{"id": 1, "size": 01, "live": [[0, 1]]}',
        b'{"id": 1, "size": 1, "size": 1, "live": [[0, 1]]}',
        b'{"id": 1, "size": 1, "live": [[0, 1], [2, 3]]}',
        b'{"id": 1, "size": 1, "live": [[0, 1]], "kind": "x1"}',
        b'{"id": 1, "size": 1, "live": [[0, 1]], "kind": null}',
        b'{"id": 1, "size": 1, "live": [[0, 1]], "kind": "}"}',
        b'{"id": 1, "size": 1, "live": [[0, 1]], "kind": "\xed\xa0\x80"}',
        b'{"id": 1, "size": 1, "live": [[0, 1]], "fixed": {"pool": "\xed\xa0\x80"}}',
        b'{"id": 1, "size": 1, "live": [[0, 1]], "fixed": {}}',
        b'{"id": 1, "size": 1, "live": [[0, 1]], "fixed": {"pool": "a", "pool": "a"}}',
        b'{"id": 1, "size": 1, "live": [[0, 1]], "fixed": [["pool", "a"]]}',
        b'{"id": 1, "size": 1, "live": [[0, 1]], "fixed": "a"}',
        b'{"id": 1, "size": 1, "live": [[0, 1]], "accesses": null}',
        b'{"id": "a\x01", "size": 1, "live": [[0, 1]]}',
        b'{"id": "a\xff", "size": 1, "live": [[0, 1]]}',
        b'{"id": 1, "size": 1234567890123456789, "live": [[0, 1]]}',
        b'{"id": 1, "size": - 1, "live": [[0, 1]]}',
        b'{"id": 1 2, "size": 1, "live": [[0, 1]]}',
        b'{"id": 1, "si ze": 1, "live": [[0, 1]]}',
        b'{"id": 1, "size": 1, "live": [[0, 1]]},',
    ],
)
def test_unusual_items_are_left_to_the_careful_reader(row: bytes) -> None:
    document = b'{"buffers": [{"id": 0, "size": 1, "live": [[0, 1]]}, %b]}'
    assert taken_apart(document % b'{"id": 7, "size": 1, "live": [[0, 1]]}') is not None
    assert taken_apart(document % b'{"id": 7, "size": 1, "kind": "constant"}') is not None
    assert taken_apart(document % row) is None


@pytest.mark.parametrize(
    "row", [b"a,0,1,+2", b"a,0, 1,2", b'"a",0,1,2', b"a,0,1", b"a,0,1,2,3", b"", b"a,0,1,2x", b"a,,1,2"]
)
def test_unusual_rows_are_left_to_the_careful_reader(row: bytes) -> None:
    text = b"id,lower,upper,size\na,0,1,2\n%b\nb,0,1,2\n"
    header = minimalloc._header
    assert read_columns(text % b"c,0,1,2", 0, header, inclusive=False) is not None
    assert read_columns(text % row, 0, header, inclusive=False) is None


def test_very_long_items_are_left_to_the_careful_reader() -> None:
    lives = b"[0, 1], " * digits.CHUNK
    document = b'{"buffers": [{"id": 1, "size": 1, "live": [%b[2, 3]]}]}'
    assert taken_apart(document % lives) is None
    assert taken_apart(document % b"") is not None
    assert (
        read_columns(b"id,lower,upper,size\n%b,0,1,2\n" % (b"a" * digits.CHUNK), 0, minimalloc._header, inclusive=False)
        is None
    )


def test_digits_are_read_as_numbers() -> None:
    characters = np.frombuffer(b"0;7;42;999999999999999999;1x;", np.uint8)
    end = np.flatnonzero(characters == ord(";"))
    begin = np.concatenate([[0], end[:-1] + 1])
    found = digits.numbers(characters, begin[:-1], end[:-1])
    assert found is not None
    assert found.tolist() == [0, 7, 42, 10**18 - 1]
    assert digits.numbers(characters, begin, end) is None


def test_rows_without_a_memory_are_in_the_usual_one_wherever_the_text_is_cut(quick: Callable[[bool], None]) -> None:
    rows = [f"b{i},0,1,2,{'sram' if i >= 42 else ''}" for i in range(10, 80)]  # 16 of the first ones fill a piece
    data = "\n".join(["id,lower,upper,size,pool", *rows, ""]).encode()
    quick(True)
    found = read(data, "minimalloc")
    assert not isinstance(found, str)
    assert [pool.name for pool in found[0].pools] == ["default", "sram"]
