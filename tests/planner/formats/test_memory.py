"""Reading a file, whole or cut off, takes no more memory than its format's row states, in a process of its own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from planner.formats import FORMATS, Format, read_problem
from scripts.measure.reading.files import FILES, PLAIN, many_buffers
from scripts.measure.reading.memory import MIB, taken
from scripts.measure.reading.short_rows import SHORT_ROWS

DOCS = Path(__file__).parents[3] / "docs" / "other-formats.md"
LENGTH = 5 * MIB // 4
FEW = 6
FEW_BESIDES = 2
USUAL = 7
MORE = {
    ("memplan", "colocations"): 10,
    ("memplan", "pools of a name alone"): 9,
}
"""The exceptions that docs/other-formats.md names."""
BESIDES = 4 * MIB
SLACK = 8 * MIB
"""Memory for the chunk of a file that is worked on at a time, however long the file is."""


def test_the_page_states_the_memory_limit_of_every_format() -> None:
    section = DOCS.read_text().partition("## What reading takes")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z-]+) \| .* \| [0-9.]+ \| (\d+) \| (\d+) \| (\d+) \|$", section, re.MULTILINE)
    documented = {name: tuple(map(int, limits)) for name, *limits in rows}
    assert documented == {row.name: row.memory for row in FORMATS.values()}, (
        "docs/other-formats.md: the table below 'What reading takes'"
    )


def test_no_format_exceeds_the_limit_stated_for_all() -> None:
    assert max(row.memory.read for row in FORMATS.values()) == 10
    assert max(row.memory.cut_off for row in FORMATS.values()) == 8


def exceeding(row: Format, data: bytes, more: int, limit: int) -> str:
    """Return what is wrong and where that is stated, for whoever adds a format."""
    return (
        f"{more / len(data):.1f} bytes for each of the {len(data)} of a long file, {more} in all, where at most {limit} is stated: "
        f"keep less at once, or state more in `memory=` of the row of {row.name} in planner/formats/tables, and in docs/other-formats.md"
    )


def refused(row: Format, data: bytes, outcome: str) -> str:
    """Return what was read in vain and where it is made, for whoever adds a format."""
    source = "its writer" if row.writer else "its example, whose second buffer is repeated"
    return (
        f"{outcome}: the reader of {row.name} refuses a long file made with {source}, {data[:160]!r} ... {data[-80:]!r}; "
        "if none can be made so, say in DENSE of scripts/measure/reading/files.py how"
    )


def test_whoever_adds_a_format_is_told_which_file_is_refused(tmp_path: Path) -> None:
    row = FORMATS["vela-log"]._replace(example="a 64\nb 32\n", writer=None)
    data = many_buffers(row)(100)
    _, outcome = taken(row.name, data, tmp_path)
    text = refused(row, data, outcome)
    assert not outcome.endswith("buffers")
    assert all(part in text for part in (outcome, "vela-log", "its example", "b0 32", "in DENSE"))
    with pytest.raises(AssertionError, match="no line of vela-log's example has a word b"):
        many_buffers(row._replace(example="a 64\n"))


@pytest.mark.parametrize("row", FORMATS.values(), ids=lambda row: row.name)
def test_reading_takes_no_more_memory_than_stated(row: Format, tmp_path: Path) -> None:
    # Of all graphs, those of views take most. The less memory a short file takes, the shorter the files here may be.
    length = LENGTH if row.memory.besides > FEW_BESIDES else LENGTH // 2
    data = FILES.get((row.name, "views alone"), PLAIN[row.name])(length)
    more, outcome = taken(row.name, data, tmp_path)
    assert outcome.endswith("buffers"), refused(row, data, outcome)
    limit = row.memory.read * len(data) + row.memory.besides * MIB
    assert more < limit, f"reading took {exceeding(row, data, more, limit)}"
    more, outcome = taken(row.name, data[:-20], tmp_path)
    assert outcome != "DIED"
    limit = row.memory.cut_off * len(data) + row.memory.besides * MIB
    assert more < limit, f"refusing what is cut off took {exceeding(row, data, more, limit)}"


@pytest.mark.parametrize("name", ["memplan", "vela-log", "minimalloc"])
def test_every_example_can_be_made_into_long_files(name: str) -> None:
    for row in (FORMATS[name], FORMATS[name]._replace(writer=None)):
        data = many_buffers(row)(10_000)
        assert len(data) < 12_000
        assert len(read_problem(data, format=name)[0].buffers) > 50


@pytest.mark.parametrize("name", ["empty lists", "empty objects", "zeros", "pairs"])
def test_lists_of_wrong_items_take_a_few_times_their_length(name: str, tmp_path: Path) -> None:
    data = FILES["memplan", name](LENGTH)
    more, outcome = taken("memplan", data, tmp_path)
    assert outcome in ("wrong_type", "missing_field")
    assert more < FEW * len(data) + SLACK


@pytest.mark.parametrize("name", ["one object of many keys", "keys at the top"])
def test_an_object_of_many_keys_takes_a_few_times_its_length(name: str, tmp_path: Path) -> None:
    data = FILES["memplan", name](2 * LENGTH)
    more, outcome = taken("memplan", data, tmp_path)
    assert outcome == "too_large"
    assert more < FEW * len(data) + BESIDES


def test_rows_that_are_too_many_are_not_kept(tmp_path: Path) -> None:
    data = FILES["minimalloc", "clocks of threads"](LENGTH)
    more, outcome = taken("minimalloc", data, tmp_path)
    assert outcome == "too_large"
    assert more < FEW * len(data) + SLACK


def test_rows_that_fix_their_buffers_are_no_objects(tmp_path: Path) -> None:
    data = FILES["minimalloc", "solutions: every row fixes its buffer"](LENGTH)
    for part, expected in ((data, "buffers"), (data[:-20], "invalid_value")):
        more, outcome = taken("minimalloc", part, tmp_path)
        assert outcome.endswith(expected)
        assert more < FORMATS["minimalloc"].memory.cut_off * len(data) + BESIDES


@pytest.mark.parametrize("kind", SHORT_ROWS, ids=" ".join)
def test_the_shortest_rows_take_a_few_times_their_length(kind: tuple[str, str], tmp_path: Path) -> None:
    data = SHORT_ROWS[kind](LENGTH)
    limit = MORE.get(kind, USUAL)
    besides = SLACK if kind[0] in ("chrome-trace", "st-edge-ai") else BESIDES
    more, outcome = taken(kind[0], data, tmp_path)
    assert outcome.endswith("buffers")
    assert more < limit * len(data) + besides
    more, outcome = taken(kind[0], data[:-20], tmp_path)
    assert outcome != "DIED"
    assert more < limit * len(data) + besides


@pytest.mark.parametrize("name", ["functions", "value infos", "nodes of one letter"])
def test_unused_parts_of_a_model_take_no_memory(name: str, tmp_path: Path) -> None:
    data = FILES["onnx", name](LENGTH)
    more, outcome = taken("onnx", data, tmp_path)
    assert outcome in ("too_large", "invalid_value")
    assert more < 7 * len(data) + SLACK


def test_metadata_may_hold_millions_of_short_records() -> None:
    document = json.loads(FORMATS["dsa"].example)
    assert read_problem(FORMATS["dsa"].document)[0].buffers
    document["metadata"] = {"log": [[0]] * 1_200_000}
    data = json.dumps(document, separators=(",", ":")).encode()
    assert read_problem(data)[0].buffers == read_problem(FORMATS["dsa"].document)[0].buffers
