"""A document read in pieces gives the same problem and the same errors as one read whole."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.checks import report
from planner.formats import documents as documents_module
from planner.formats import read_plan, read_problem
from planner.formats.documents import Source
from planner.formats.json import loading, pieces, scan, strict, validate
from planner.model.errors import MAX_FINDINGS, BadInput
from tests.planner.formats.test_fuzz import attempt, broken, mutations
from tests.small.strategies import effort

VALUES = st.recursive(
    st.sampled_from([None, True, 0, -1, 1.5, "", "a,b", '"', "\\", "[{", "}]", "ä€", "\U0001f600"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(["a", ",", "\\", '"', "]"]), inner),
    max_leaves=30,
)


@contextmanager
def small() -> Iterator[None]:
    """Make pieces so short that every document has several."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (pieces, scan, loading):
            patch.setattr(module, "PIECE", 24)
        patch.setattr(pieces, "_CHUNK", 7)
        for module in (scan, validate):
            patch.setattr(module, "LARGE", 0)
        yield


def scanned(data: bytes) -> Any:
    """Return the top-level keys, if there are any, or the findings and the number of further ones."""
    try:
        found = scan.scan(data)
    except BadInput as error:
        return [(finding.code, finding.pointer) for finding in error.findings], error.more
    return None if found.top is None else {*found.top}


@st.composite
def documents(draw: st.DrawFn) -> bytes:
    indent = draw(st.sampled_from([None, 1]))
    text = json.dumps(draw(VALUES), ensure_ascii=draw(st.booleans()), indent=indent)
    return broken(draw, text.encode()) if draw(st.booleans()) else text.encode()


@pytest.mark.parametrize(
    ("item", "is_quick"),
    [
        (b'{"a": 1, "b": ":{\xc3\xa4", "c": [{"a": 1}], "d": {}}', True),
        (b'{"a": 1, "a": 1}', False),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', False),
        (b'{"a": 1e999}', False),
        (b'{"a": NaN}', False),
        (b'{"a": 01}', False),
        (b'{"a": 1', False),
        (b'["Infinity"]', False),
        (b'"{"', True),
        (b'{"a": {}}, 5', True),
        (b"", True),
    ],
)
def test_a_quick_look_accepts_sound_items(item: bytes, is_quick: bool) -> None:
    hooks = scan._Hooks(has_long_numbers=False, is_quick=True)
    assert (hooks.quickly(b"[" + item + b"]") is not None) is is_quick


def test_marks_point_to_the_items_of_the_document() -> None:
    data = b'{"a": [1, [2, 3], {"b,": 4, "c": "]"}], "d": [[], 5]}'
    marks = pieces.Marks.of(data)
    assert marks is not None
    assert marks.deepest == 3
    for begin, end in (0, len(data)), (6, 38), (10, 16), (45, 52):
        span = pieces.Span(begin, end)
        assert data[begin] in b"[{"
        assert [*pieces.pieces(data, span, marks)] == [*pieces.pieces(data, span)]


def test_a_document_of_brackets_alone_has_no_marks() -> None:
    assert pieces.Marks.of(b"[" + b"[]," * 100 + b"[]]") is None


@effort(60, 20000)
@given(documents())
def test_a_first_look_in_pieces_finds_the_same(data: bytes) -> None:
    whole = scanned(data)
    with small():
        assert scanned(data) == whole
        if not isinstance(whole, tuple):
            assert pieces.deepest(data) <= 64
            assert _plain(Source(data).loaded((), ("a",), ("a", None), (",",))) == json.loads(data)


def _plain(value: Any) -> Any:
    """Return the value with its lazy lists read."""
    if isinstance(value, list):
        assert len(value) == len([*value])
        return [_plain(each) for each in value]
    return {key: _plain(each) for key, each in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("item", [[True, True, 5], ["0", 1, 5], [0.0, 1, 5]])
def test_items_of_later_pieces_are_read_as_strictly(item: list[Any]) -> None:
    data = json.dumps({"lifetimes": "inclusive", "intervals": [[0, 1, 2]] * 9 + [item]}).encode()
    with small(), pytest.raises(BadInput, match="/intervals/9/0: must be an integer"):
        read_problem(data)


@pytest.mark.parametrize("item", ["a" * 200, [0, 1, "2" * 200], {"a" * 30: 1}])
def test_a_wrong_item_that_is_longer_than_a_piece_is_reported(item: Any) -> None:
    data = json.dumps({"lifetimes": "inclusive", "intervals": [[0, 1, 2]] * 9 + [item, [0, 1, "2"]]}).encode()
    with small(), pytest.raises(BadInput) as caught:
        read_problem(data)
    assert {f.pointer.split("/")[2] for f in caught.value.findings} == {"9", "10"}


def test_removing_the_buffers_does_not_misplace_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the bytes of the buffers, the marks of the first list would stand around the list in the note."""
    monkeypatch.setattr(documents_module, "LEAST_BYTES", 0)
    record = '{"id": 0, "size": 8, "live": [[0, 1]]}'
    buffers = record + f", {record}" * 9
    own, other = json.dumps([[0, 1, 2]] * 9), '"intervals": ' + json.dumps([[7, 8, 9]] * 5)
    begun = f'{{"lifetimes": "half_open", "intervals": {own}, "buffers": [{buffers}], "note": {{"a": 1,'
    first = f'{begun}{other}}}, "p": "'
    second = first.ljust(len(begun) - 1 + len(buffers) - 1, "x") + '", "q": "'
    data = (second.ljust(len(begun) + len(other) + len(buffers) - 1, "x") + '", "r": 1}').encode()
    assert Source(data).taken is not None
    with small():
        assert len(read_problem(data, format="usmp")[0].buffers) == 9


@effort(30, 10000)
@given(mutations())
def test_reading_in_pieces_gives_the_same_problem(data: bytes) -> None:
    whole = attempt(data)
    with small():
        found = attempt(data)
    if isinstance(whole, BadInput):
        assert isinstance(found, BadInput)
        if whole.more == 0 and len(whole.findings) < MAX_FINDINGS:
            assert {(f.code, f.pointer) for f in found.findings} == {(f.code, f.pointer) for f in whole.findings}
    else:
        assert found == whole


def test_every_wrong_item_is_counted() -> None:
    buffers = [{"id": i, "size": 8, "live": [[0, 1]], "kind": "x"} for i in range(100)]
    for i in range(40, 100):
        buffers[i]["size"] = "8"
    data = json.dumps({"format": "memplan/1", "lifetimes": "half_open", "buffers": buffers}).encode()
    with small(), pytest.raises(BadInput) as caught:
        read_problem(data)
    assert [f.pointer for f in caught.value.findings] == [f"/buffers/{i}/size" for i in range(40, 40 + MAX_FINDINGS)]
    assert caught.value.more == 60 - MAX_FINDINGS


def test_errors_in_items_of_all_kinds_are_counted_as_in_one_read() -> None:
    kinds = [{}, [], 0, "x" * 9, {"id": 1, "size": "8"}, {"size": 8, "live": [[0, "1"], [2]]}, {"id": 2, "what": []}]
    texts = [json.dumps(kinds[i % len(kinds)]) for i in range(90)]
    lists = (
        f'"buffers":[{",".join(texts)}],"steps":[{",".join(texts)}],"constraints":{{"conflicts":[{",".join(texts)}]}}'
    )
    data = f'{{"format":"memplan/1","lifetimes":"half_open",{lists}}}'.encode()
    whole = attempt(data)
    with small():
        found = attempt(data)
    assert isinstance(whole, BadInput)
    assert isinstance(found, BadInput)
    assert (found.more, len(found.findings)) == (whole.more, MAX_FINDINGS)


@pytest.mark.parametrize(
    "text",
    [
        '{"format":"memplan/1","lifetimes":"half_open","buffers":[@]}',
        '{"format":"memplan/1","lifetimes":"half_open","buffers":[],"constraints":{"conflicts":[@]}}',
        '{"traceEvents":[@]}',
        '{"segments":[@],"device_traces":[[@],[@]]}',
        '{"memory_footprint":{},"memory_pools":[@],"buffers":[@]}',
    ],
)
def test_a_list_may_be_long_of_white_space_alone(text: str) -> None:
    whole, spaced = (attempt(text.replace("@", blank).encode()) for blank in ("", "\n" * 60))
    with small():
        found = attempt(text.replace("@", "\n" * 60).encode())
    assert str(found) == str(spaced) == str(whole)


def test_an_object_may_be_keyed_by_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "MOST_KEYS", 10)
    names = {f"buffer{i}": f"model/layer/{i}" for i in range(200)}
    buffers = [{"id": "a", "size": 8, "live": [[0, 1]]}]
    data = json.dumps({"format": "memplan/1", "buffers": buffers, "names": names}).encode()
    with small():
        assert scanned(data) == {"format", "buffers", "names"}


def test_keys_of_long_inner_objects_are_told_apart_by_their_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps({"format": "memplan/1", "names": {f"k{i}": 1 for i in range(50)}})
    whole = scan.scan(text.encode()).top
    for hash_ in (hash, len):
        monkeypatch.setattr(scan, "hash", hash_, raising=False)
        with small():
            found = scan.scan(text.encode()).top
            assert found is not None
            assert whole is not None
            assert found.keys() == whole.keys()
            with pytest.raises(BadInput, match="k7"):
                scan.scan(text.replace("k8", "k7").encode())


@pytest.mark.parametrize("wide", [0, 39])
@pytest.mark.parametrize("length", [0, 1 << 30])
def test_every_unknown_field_is_counted_once(wide: int, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All faults are counted once, read in pieces or at once, even in an object of more fields than are examined."""
    monkeypatch.setattr(scan, "WIDE", 20)
    monkeypatch.setattr(strict, "WIDE", 20)
    buffers: list[dict[str, Any]] = [{"id": i, "size": "8", "live": [[0, 1]]} for i in range(40)]
    buffers[wide].update({f"k{i}": 1 for i in range(30)})
    data = json.dumps({"format": "memplan/1", "lifetimes": "half_open", "buffers": buffers}).encode()
    with small():
        monkeypatch.setattr(validate, "LARGE", length)
        with pytest.raises(BadInput) as caught:
            read_problem(data)
    assert len(caught.value.findings) + caught.value.more == 30 + 40


@pytest.mark.parametrize("length", [0, 1 << 30])
@pytest.mark.parametrize(
    ("read", "document", "known"),
    [
        (read_plan, {"format": "memplan-plan/1", "certificate": [{"held": [{"most": 1}]}]}, ("most",)),
        (
            read_problem,
            {"format": "memplan-cascade/1", "tiles": {"home": "a", "levels": [{"pool": "b"}]}},
            ("home", "levels", "pool"),
        ),
    ],
)
def test_no_field_that_exists_is_unknown_among_very_many(
    read: Callable[[bytes], object],
    document: dict[str, Any],
    known: tuple[str, ...],
    length: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each object has more unknown fields than are examined."""
    monkeypatch.setattr(scan, "WIDE", 20)
    monkeypatch.setattr(strict, "WIDE", 20)
    monkeypatch.setattr(report, "MAX_FINDINGS", 1_000)
    monkeypatch.setattr(validate, "LARGE", length)

    def wide(part: Any) -> Any:
        if isinstance(part, list):
            return [wide(each) for each in part]
        if not isinstance(part, dict):
            return part
        return {name: wide(each) for name, each in part.items()} | {f"k{i}": 1 for i in range(30)}

    with pytest.raises(BadInput) as caught:
        read(json.dumps(wide(document)).encode())
    told = {finding.message for finding in caught.value.findings}
    assert "there is no field 'k29' here" in told
    assert not told & {f"there is no field '{name}' here" for name in known}


def test_counting_characters_of_a_long_document_checks_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []
    monkeypatch.setattr(pieces, "look", looks.append)
    monkeypatch.setattr(pieces, "COUNTED_AT_ONCE", 10)
    assert pieces.count_of(b"[1, 2, [3, 4]]" * 5, b"[", b",") == 5 * 5
    assert len(looks) == 7


def test_marks_take_five_bytes_each_and_are_not_copied_when_they_are_looked_up() -> None:
    data = b"[" + b",".join(b"[%d,%d,64]" % (i, i + 2) for i in range(100_000)) + b"]"
    whole = pieces.root(data)
    assert whole is not None
    tracemalloc.start()
    marks = pieces.Marks.of(data)
    kept = tracemalloc.get_traced_memory()[0]
    assert marks is not None
    tracemalloc.reset_peak()
    assert sum(piece.children for piece in pieces.pieces(data, whole, marks)) == 100_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    count = len(marks.places)
    assert kept < 5.1 * count
    assert peak - kept < 3 * count


def test_brackets_deeper_than_marks_tell_apart_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "LARGE", 0)
    data = b'{"format":"memplan/1","name":"' + b"a" * 2000 + b'","buffers":[' + b"[" * 300 + b"]" * 300 + b"]}"
    marks = pieces.Marks.of(data)
    assert marks is not None
    assert marks.deepest > 300
    with pytest.raises(BadInput) as caught:
        scan.scan(data)
    assert caught.value.findings[0].code == "too_deep"
