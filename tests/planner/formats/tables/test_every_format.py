"""The example of each format is recognised, read, refused with the place of an error, written and read again."""

from __future__ import annotations

import io
import json
import random
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from copy import copy
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from api.cli.app import app
from api.errors import Refusal
from api.jobs.requests.posted_problem import read
from api.routes.http.body import format_of
from api.settings import Settings
from planner import Buffer, Problem, plan
from planner.formats import FORMATS, Format, read_problem
from planner.formats.documents import Source
from planner.formats.tables.endings import of_ending
from planner.formats.tables.format import BYTES, TEXT, Memory
from planner.formats.tables.plans import PLAN_FORMATS, PlanFormat, plan_format
from planner.formats.tables.problems import USUAL, converted_to, format_named, recognised
from planner.formats.tables.settings import ALIGNMENT, Setting
from planner.model.errors import BadInput
from tests.running.command import CliRunner

EVERY = pytest.mark.parametrize("row", FORMATS.values(), ids=lambda row: row.name)
PAGE = (Path(__file__).parents[4] / "docs" / "other-formats.md").read_text("utf-8")
SEEDS = range(40)
SPOILT = {
    "tflite": ((32).to_bytes(4, "little"), (-1).to_bytes(4, "little", signed=True)),
    "executorch": (b"\1\0\0\0\x20\0\0\0", b"\1\0\0\0\xff\xff\xff\xff"),
    "idealloc": (b"\3\0\0\0\0\0\0\0\x20", b"\3\xff\xff\xff\xff\xff\xff\xff\xff"),
    "onnx": (b"\x4a\x08\0", b"\x4a\x08\5"),  # the axis that is reduced becomes 5
    "xla": (b"\x10\x20\x1a", b"\x12\x20\x1a"),
    "torch-snapshot": (b'"size": 32', b'"size": "x"'),
    "chrome-trace": (b'"size": 32', b'"size": "x"'),
}
"""For binary formats and other JSON than memplan's: the bytes to replace, and what makes the second size wrong."""
TWICE = {
    "onnx": (b"\x12\x01b", b"\x12\x01a"),
    "xla": (b"\x08\x02\x10\x20", b"\x08\x01\x10\x20"),
    "torch-snapshot": (b"4160", b"4096"),
    "chrome-trace": (b'"b"', b'"a"'),
    "tflm-log": (b"id=2", b"id=1"),
    "xla-text": (b"<2 b", b"<1 b"),
    "idealloc": (b"\2\0\0\0\0\0\0\0\1", b"\1\0\0\0\0\0\0\0\1"),
}
"""The bytes to replace, and what gives the second buffer the name, number or address of the first."""
NAMES_MAY_REPEAT = {"tflite", "vela-log", "executorch"}


MARK = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8, which some editors write."""


def document(row: Format) -> bytes:
    return row.document


def refused(row: Format, data: bytes) -> BadInput:
    with pytest.raises(BadInput) as caught:
        read_problem(data, format=row.name)
    return caught.value


def with_second_size_spoilt(row: Format) -> bytes:
    """Return the example with a wrong size of its second buffer."""

    def spoil(buffers: list[dict[str, Any]]) -> None:
        buffers[1][next(name for name in buffers[1] if name.startswith(("size", "shape")))] = "x"

    if row.name == "columns":
        return with_column(row, size=[64, -1])
    if row.name in SPOILT:
        return row.document.replace(*SPOILT[row.name])
    return changed(row, "32", spoil, "x")


def with_an_id_twice(row: Format) -> bytes:
    """Return the example with the id of its first buffer at the second one, too."""

    def copy(buffers: list[dict[str, Any]]) -> None:
        name = next(name for name in buffers[0] if name in ("id", "name_hint"))
        buffers[1][name] = buffers[0][name]

    if row.name == "columns":
        return with_column(row, id=["a", "a"])
    return row.document.replace(*TWICE[row.name]) if row.name in TWICE else changed(row, "b", copy, "a")


def with_column(row: Format, **columns: list[Any]) -> bytes:
    """Return the example of numpy's columns with some columns replaced."""
    with np.load(io.BytesIO(row.document)) as old:
        arrays = dict(old) | {name: np.array(column) for name, column in columns.items()}
    written = io.BytesIO()
    np.savez(written, allow_pickle=False, **arrays)
    return written.getvalue()


def changed(row: Format, word: str, change: Callable[[list[dict[str, Any]]], None], other: str) -> bytes:
    """Return the example with its list of buffers changed if it is JSON, and otherwise with one word replaced."""
    if not row.is_json:
        return re.sub(rf"\b{word}\b", other, row.example).encode()
    whole = json.loads(row.example)
    holder = whole.get("problem") or whole.get("functions", [whole])[0]
    change(holder.get("buffers") or holder["tensors"])
    return json.dumps(whole).encode()


@EVERY
def test_text_with_a_byte_order_mark_is_read_and_json_with_one_is_told_so(row: Format) -> None:
    if row.is_json or row.name == "trace":
        assert "byte order mark" in str(refused(row, MARK + document(row)))
    elif row.is_text:
        assert read_problem(MARK + document(row)) == read_problem(document(row))


@EVERY
def test_text_is_recognised_whatever_ends_its_lines(row: Format) -> None:
    plain = document(row)
    for data in (plain.replace(b"\n", b"\r\n"), b"\n" + plain, b"\r\n" + plain.replace(b"\n", b"\r\n"), plain.rstrip()):
        assert not row.is_text or read_problem(data)[0] == read_problem(plain)[0]


@EVERY
def test_the_example_of_each_format_holds_two_buffers(row: Format) -> None:
    problem, warnings = read_problem(document(row), format=row.name)
    assert [(buffer.size, str(buffer.id)[-1] in "ab12") for buffer in problem.buffers] == [(64, True), (32, True)]
    assert warnings == ()


@EVERY
def test_each_format_is_recognised_by_content_and_by_name(row: Format) -> None:
    assert recognised(Source(document(row))) is row
    for ending in row.endings:
        for name in (f"x{ending}", f"X{ending.upper()}"):
            assert recognised(Source(document(row), name)) is row
    for kind in row.media_types:
        assert recognised(Source(document(row)), kind) is row
    assert not {BYTES, TEXT}.intersection(row.media_types)  # these media types name no format


@EVERY
def test_no_other_format_recognises_the_example(row: Format) -> None:
    assert [other.name for other in FORMATS.values() if other.recognises(Source(document(row)))] == [row.name]


@EVERY
def test_a_wrong_value_is_refused_with_its_place(row: Format) -> None:
    (finding,) = refused(row, with_second_size_spoilt(row)).findings
    assert re.search(r"/([123]|rows/1|lines?/[2-5]|bytes/\d+)\b", finding.pointer), finding.pointer
    assert finding.message


@pytest.mark.parametrize(
    "row", [row for row in FORMATS.values() if row.name not in NAMES_MAY_REPEAT], ids=lambda row: row.name
)
def test_an_id_that_stands_twice_is_refused_with_its_place(row: Format) -> None:
    finding = refused(row, with_an_id_twice(row)).findings[0]
    assert finding.code == "duplicate_id"
    assert finding.pointer


@EVERY
def test_cut_or_flipped_examples_are_read_or_refused(row: Format) -> None:
    data = document(row)
    was_refused = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        broken = bytearray(data[: chance.randrange(len(data))] if seed % 2 else data)
        for _ in range(chance.randrange(1, 4)):
            if broken:
                broken[chance.randrange(len(broken))] ^= 1 << chance.randrange(8)
        try:
            read_problem(bytes(broken), format=row.name)
        except BadInput:
            was_refused += 1
    assert was_refused > len(SEEDS) / 2


def attacked(data: bytes) -> Iterator[bytes]:
    """Yield the document cut short at every byte, with every bit flipped, and with extreme numbers at every byte."""
    for at in range(len(data)):
        yield data[:at]
        for bit in range(8):
            yield data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]
        for number in (0, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 1):
            yield data[:at] + number.to_bytes(4, "little") + data[at + 4 :]


@EVERY
def test_attacked_examples_are_read_or_refused(row: Format, nightly: bool) -> None:
    """All attacks are tried with `--nightly`, and otherwise every eleventh."""
    refused = 0
    for broken in islice(attacked(row.document), 0, None, 1 if nightly else 11):
        try:
            read_problem(broken, format=row.name)
        except BadInput as error:
            refused += 1
            assert all(each.message.isprintable() for each in error.findings)  # noqa: PT017 - that it is raised is not the point
    assert refused > 10


@pytest.mark.parametrize("row", [row for row in FORMATS.values() if row.writer], ids=lambda row: row.name)
def test_written_problems_are_read_unchanged(row: Format) -> None:
    problem, _ = row.read(Source(document(row)))
    written = row.write(problem)
    assert recognised(Source(written)) is row
    again, _ = row.read(Source(written))
    assert (again.buffers, again.constraints.conflicts) == (problem.buffers, problem.constraints.conflicts)


@EVERY
def test_the_command_reads_each_format(row: Format, tmp_path: Path) -> None:
    path = tmp_path / f"problem{row.endings[0]}"
    path.write_bytes(document(row))
    for arguments in ([str(path)], [str(path), "--format", row.name]):
        result = CliRunner().invoke(app, ["plan", *arguments, "--json"])
        assert (result.exit_code, json.loads(result.stdout)["peak"]) == (0, 96)


@pytest.mark.parametrize(
    "row", [row for row in FORMATS.values() if ALIGNMENT in row.settings], ids=lambda row: row.name
)
def test_memories_of_models_and_dumps_are_aligned_as_asked_for(row: Format) -> None:
    problem, _ = read_problem(row.document, format=f"{row.name}:alignment=160")
    assert {pool.alignment for pool in problem.pools} == {160}
    assert sorted(place.offset for place in plan(problem).placements) == [0, 160]
    for wrong in ("", "0", "-4", "4.0", "x", str((1 << 62) + 1), "4,alignment=8"):
        with pytest.raises(BadInput) as caught:
            read_problem(row.document, format=f"{row.name}:alignment={wrong}")
        assert caught.value.findings[0].code == "invalid_option"


@pytest.mark.parametrize(
    ("of", "name", "setting"),
    [
        pytest.param(of, name, each, id=f"{of.__name__}-{name}-{each.name}")
        for of, table in ((format_named, FORMATS), (plan_format, PLAN_FORMATS))
        for name, row in table.items()
        for each in row.settings
    ],
)
def test_a_setting_is_given_once_unless_it_is_a_list(
    of: Callable[[str], Format | PlanFormat], name: str, setting: Setting
) -> None:
    given = "=".join([setting.name, *(setting.words or ([] if setting.metavar is None else ["8"]))])
    value = of(f"{name}:{given}").arguments[setting.name]
    if setting.repeats:
        assert of(f"{name}:{given},{given}").arguments[setting.name] == value * 2
    else:
        with pytest.raises(BadInput, match=f"{setting.name} is given 2 times; give it once"):
            of(f"{name}:{given},{given}")


def test_the_page_explains_each_format_and_no_other() -> None:
    titles = re.findall(r"^### (\S+?):", PAGE, re.MULTILINE)
    assert sorted(["memplan", *titles]) == sorted(FORMATS), (
        "docs/other-formats.md: each format has a heading '### NAME: what it is'"
    )


def read_toy(source: Source) -> tuple[Problem, tuple[str, ...]]:
    """Return a problem with a buffer for each byte, as large as its value."""
    return Problem(tuple(Buffer(i, size) for i, size in enumerate(source.data[4:]))), ()


TOY = Format(
    "toy",
    "a toy",
    (".toy",),
    ("application/x-toy",),
    lambda source: source.data.startswith(b"TOY\0"),
    f"{__name__}:read_toy",
    b64encode(b"TOY\0\5").decode(),
    Memory(8, 8),
    is_text=False,
)


def test_a_new_format_needs_only_a_row(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(FORMATS, "toy", TOY)
    data, settings = TOY.document, Settings(formats=("memplan", "toy"))
    assert read_problem(data)[0].buffers[0].size == 5
    (tmp_path / "x.toy").write_bytes(data)
    anew = copy(app)  # a copy, which builds its commands again
    planned = CliRunner().invoke(anew, ["plan", str(tmp_path / "x.toy"), "--json"])
    assert json.loads(planned.stdout)["peak"] == 5
    assert "toy" in CliRunner().invoke(anew, ["plan", "--help"]).stdout
    assert format_of("application/x-toy", "toy", settings) == "toy"
    assert read(data, None, settings, "application/x-toy")[0] is TOY
    for kind in ("application/json", "text/plain"):
        with pytest.raises(Refusal, match="the format toy is not sent as"):
            read(data, None, settings, kind)
        with pytest.raises(Refusal, match="the format toy is not sent as"):
            format_of(kind, "toy", settings)


def test_the_page_lists_what_is_written_and_into_which_files() -> None:
    section = PAGE.split("## What `memplan convert` writes\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| ([\w-]+) \| (`\..*?) \|", section, re.MULTILINE)
    listed = {name: re.findall(r"`(\.[\w.]+)`", cell) for name, cell in rows}
    assert listed.keys() == converted_to().keys()
    for name, endings in listed.items():
        assert set(endings) <= set(FORMATS[name].endings)
        for ending in endings:
            row = of_ending(f"x{ending}", converted_to().values(), FORMATS[USUAL])
            assert row.name == name or f"--to {name}" in section
