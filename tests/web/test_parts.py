"""The modules of the page that compute, each called by itself in a browser."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from playwright.sync_api import Page

from planner import Buffer, Options, Problem, plan
from planner.checks.report import printable
from planner.drawing import memory_map
from planner.drawing.style import DARK, LIGHT
from planner.drawing.ticks import UNITS, short_bytes
from planner.formats.answers.write_map import write_map
from planner.model.problem import Lifetimes
from tests.http.answers.test_draw import WEB


def call_module(page: Page, module: str, function: str, *arguments: Any) -> Any:
    """Return what a function of one of the page's modules returns."""
    call = "([module, name, given]) => import(`/web/${module}.js`).then((found) => found[name](...given))"
    return page.evaluate(call, [module, function, list(arguments)])


def test_the_most_and_the_least_in_use_are_known_for_every_column(page: Page) -> None:
    steps = {"time": [0, 3, 4, 5, 20], "used": [8, 2, 9, 4, 0]}
    found = call_module(page, "map/in_use", "byColumn", steps, {"left": 0, "right": 12}, 6)
    assert [found[name] for name in ("least", "most")] == [[8, 2, 4, 4, 4, 4], [8, 8, 9, 4, 4, 4]]
    later = call_module(page, "map/in_use", "byColumn", steps, {"left": 6, "right": 30}, 2)
    assert [later[name] for name in ("least", "most")] == [[4, 0], [4, 4]]


def test_a_name_of_which_hardly_anything_is_left_is_empty(page: Page) -> None:
    for room, shown in ((18, "conv_block_17/Relu"), (12, "…ock_17/Relu"), (7, "…ck_17…"), (6, ""), (1, "")):
        assert call_module(page, "text", "shortName", "conv_block_17/Relu", room) == shown


def test_text_is_made_visible_as_the_command_does(page: Page) -> None:
    samples = [
        "plain",
        "a\x00b\x1b",
        "\u202eabc\u2066",
        "\ufeff\u00ad",
        "né ü 漢字 \u05d0",
        "a\u00a0b\u2003c",
        "\U000e0041",
    ]
    for text in samples:
        assert call_module(page, "text", "visible", text) == printable(text)
    assert len(call_module(page, "text", "visible", "x" * 1000)) == 300


def test_letters_are_never_cut_in_half(page: Page) -> None:
    for text in ("\U0001f600" * 12, "\U0001f600" * 6 + "7" + "\U0001f600" * 6, "7" + "\U0001f600" * 12):
        for room in range(2, 12):
            shown = call_module(page, "text", "shortName", text, room)
            assert set(shown) <= {"\U0001f600", "7", "…"}
            assert len(shown.encode("utf-16-le")) // 2 <= room
    assert set(call_module(page, "text", "visible", "x" + "\U0001f600" * 200)) == {"x", "\U0001f600", "…"}


@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 3920, 9999, 10_001, 24_528, 1 << 20, 10_004_544, 3 << 40])
def test_bytes_are_written_as_on_the_picture(page: Page, size: int) -> None:
    assert call_module(page, "text", "bytes", size) == short_bytes(size)


def test_a_window_never_leaves_the_map(page: Page) -> None:
    script = """() => import("/web/map/window.js").then(({ MapWindow }) => {
        const window_ = new MapWindow(1000, 5000);
        let seed = 7;
        const chance = () => ((seed = (seed * 16807) % 2147483647) / 2147483647);
        const seen = [];
        for (let i = 0; i < 300; i += 1) {
            if (chance() < 0.5) window_.zoom(0.2 + 2 * chance(), 0.2 + 2 * chance(), chance(), chance());
            else window_.move(4 * chance() - 2, 4 * chance() - 2);
            seen.push({ ...window_.now });
        }
        window_.fit();
        return [seen, window_.now];
    })"""
    seen, last = page.evaluate(script)
    for now in seen:
        assert 0 <= now["left"] < now["right"] <= 1000 + 1e-6
        assert 0 <= now["low"] < now["high"] <= 5000 + 1e-6
    assert last == {"left": 0, "right": 1000, "low": 0, "high": 5000}


def test_zooming_keeps_the_point_under_the_pointer(page: Page) -> None:
    script = """() => import("/web/map/window.js").then(({ MapWindow }) => {
        const window_ = new MapWindow(1000, 5000);
        const at = () => { const n = window_.now; return [n.left + 0.3 * (n.right - n.left), n.low + 0.6 * (n.high - n.low)]; };
        const before = at();
        window_.zoom(0.25, 0.5, 0.3, 0.6);
        return [before, at()];
    })"""
    before, after = page.evaluate(script)
    assert after == pytest.approx(before)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 84), (100, 25_000), (1e6, 3e9)])
def test_marks_are_few_and_within_the_range(page: Page, low: float, high: float) -> None:
    for function in ("addressTicks", "plainTicks"):
        ticks = call_module(page, "map/scales", function, low, high, 8)
        assert 1 <= len(ticks) <= 10
        assert all(low <= tick <= high for tick in ticks)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0, 84),
        (0, 25_000),
        (120_586_240, 120_586_400),
        (120_586_240, 120_600_000),
        (2_170_000, 2_270_000),
        (0, 1.2 * (1 << 20)),
        (2**55 + 4096, 2**55 + 4096 + 64),
        (2**62, 2**62 + 2**21),
        (0, 2**63),
    ],
)
def test_marks_of_addresses_have_different_labels(page: Page, low: float, high: float) -> None:
    ticks = call_module(page, "map/scales", "addressTicks", low, high, 10)
    labels = call_module(page, "map/scales", "addressLabels", ticks)
    assert len(set(labels)) == len(ticks) > 1
    assert [float(address_of(label)) for label in labels] == [float(tick) for tick in ticks], "none is rounded"


@pytest.mark.parametrize(
    ("low", "high"),
    [(0, 1), (4.5, 5.5), (0, 84), (123_456_000, 123_457_000), (3 * 10**9, 3 * 10**9 + 90), (-5, 10**18)],
)
def test_marks_of_numbers_are_whole_and_never_rounded(page: Page, low: float, high: float) -> None:
    ticks = call_module(page, "map/scales", "plainTicks", low, high, 8)
    labels = call_module(page, "map/scales", "plainLabels", ticks)
    powers = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    said = [Fraction(label.replace("\u202f", "").replace("·10", "e").translate(powers)) for label in labels]
    assert said == ticks
    assert all(float(tick).is_integer() for tick in ticks)


@pytest.mark.parametrize("most", [2, 8])
@pytest.mark.parametrize("begin", [0, -(2**62), 2**60 + 3])
@pytest.mark.parametrize(
    ("low", "high"), [(0, 2), (3, 80), (0, 2**61), (2**59, 2**59 + 2**18), (3, 670), (10, 17), (101, 149)]
)
def test_marks_of_times_are_round_and_exact(page: Page, begin: int, low: float, high: float, most: int) -> None:
    script = """([begin, low, high, most]) => import("/web/map/scales.js").then(({ timeTicks }) =>
        timeTicks(BigInt(begin), low, high, most).map(String))"""
    ticks = [int(tick) for tick in page.evaluate(script, [str(begin), low, high, most])]
    assert all(begin + low <= tick <= begin + high for tick in ticks)
    steps = {after - before for before, after in itertools.pairwise(ticks)}
    assert len(steps) == 1
    assert 1 < len(ticks) <= 10
    assert set(str(steps.pop()).rstrip("0")) <= set("125"), "1, 2 or 5 times a power of ten"


@pytest.mark.parametrize(
    ("right", "high", "least"), [(62, 63, [2**21, 2**22]), (3, 6, [2, 16]), (53, 53, [4096, 4096])]
)
def test_a_window_shows_no_less_than_can_be_told_apart(page: Page, right: int, high: int, least: list[int]) -> None:
    script = """([time, address]) => import("/web/map/window.js").then(({ MapWindow }) => {
        const window_ = new MapWindow(2 ** time, 2 ** address);
        for (let i = 0; i < 200; i += 1) window_.zoom(0.5, 0.5, 0.9, 0.9);
        const { left, right, low, high } = window_.now;
        return [right - left, high - low];
    })"""
    assert page.evaluate(script, [right, high]) == least


def address_of(label: str) -> float:
    if label.startswith("0x"):
        return int(label, 16)
    figure, _, unit = label.replace("\u202f", "").partition(" ")
    power = UNITS.index(unit) if unit else 0
    return float(figure) * float(1024**power)


def test_the_nearest_box_within_reach_is_meant(page: Page) -> None:
    """Not the smallest: that was the topmost, and chosen however near another was."""
    places = [(0, 9, 0, 9), (11, 12, 4, 5), (20, 40, 0, 9)]
    buffers = tuple(Buffer(i, high - low, live=((left, right),)) for i, (left, right, low, high) in enumerate(places))
    problem = Problem(buffers, lifetimes=Lifetimes.HALF_OPEN)
    made = plan(problem, Options(work_limit=0, workers=1))
    spots = tuple(replace(each, offset=places[i][2]) for i, each in enumerate(made.placements))
    document = json.loads(write_map(memory_map(problem, replace(made, placements=spots))))
    script = """([document_, spots]) => import("/web/map/data.js").then(({ MapData }) => {
        const [layer] = new MapData(document_).layers;
        return spots.map(([time, address, reach]) => {
          const box = layer.at(time, address, reach, reach);
          return box === null ? null : layer.buffer[box];
        });
    })"""
    spots_ = [(9.5, 4, 4), (10.5, 4.5, 4), (18.5, 4, 8), (15, 20, 4), (11.5, 4.5, 0)]
    assert page.evaluate(script, [document, spots_]) == [0, 1, 2, None, 1]


def test_numbers_too_large_for_javascript_are_shown_exactly(page: Page) -> None:
    script = """(map) => import("/web/map/data.js").then(({ MapData }) => {
        const data = new MapData(map);
        const about = data.describe(data.layers[0], 0);
        return [String(about.size), String(about.offset), String(about.end), about.life];
    })"""
    begin, size = (1 << 60) + 1, (1 << 53) + 1
    pool: dict[str, Any] = {
        "name": "a", "size": None, "base": None, "peak": str(size), "bound": 0, "top": str(size), "reserved": [],
        "boxes": {"buffer": [0], "start": [5], "end": [9], "offset": [3]},
        "profile": {"time": [5, 9], "bytes": [str(size), 0]},
    }  # fmt: skip
    document = {
        "lifetimes": "inclusive",
        "steps": {"time": [], "name": []},
        "axis": {"begin": str(begin), "end": 9, "untimed_from": 9, "right": 9},
        "kinds": [{"name": None, "colour": 0}],
        "buffers": {"id": ["x"], "size": [str(size)], "alignment": [1], "kind": [0], "untimed": []},
        "pools": [pool],
    }
    found = page.evaluate(script, document)
    assert found == [str(size), "3", str(size + 3), f"[{begin + 5}, {begin + 8}]"]


def test_figures_at_axes_are_short_and_without_computer_notation(page: Page) -> None:
    figures = (10_000_000, -99_999_999, 123_500_000_000, 10**18)
    found = call_module(page, "map/scales", "plainLabels", figures)
    assert found == ["10\u202f000\u202f000", "-99\u202f999\u202f999", "1.235·10¹¹", "1·10¹⁸"]


def test_the_page_has_the_colours_of_the_picture() -> None:
    style = (WEB / "page.css").read_text()
    for number, (light, dark) in enumerate(zip(LIGHT, DARK, strict=True)):
        assert f"--k{number}: light-dark({light}, {dark});" in style


def test_every_colour_that_is_named_is_in_the_style_sheet() -> None:
    """A name that is not there becomes the colour of text, without a word."""
    styles = [path.read_text() for path in (WEB / "page.css", WEB / "reference.css")]
    for style in styles:
        assert set(re.findall(r"var\(--([\w-]+)\)", style)) <= set(re.findall(r"^\s+--([\w-]+):", style, re.MULTILINE))
    names = re.search(r"NAMES = (\[.*\])", (WEB / "map" / "palette.js").read_text())
    assert names is not None
    assert set(json.loads(names[1])) <= set(re.findall(r"--([\w-]+): light-dark", styles[0]))


@pytest.mark.parametrize(
    ("bound", "choice", "begins"),
    [
        (64, None, "Why the bound holds in pool sram"),
        (64, {"alternatives": []}, "Why the bound holds in pool sram"),
        (8, {"alternatives": []}, "With these alternatives in pool sram"),
    ],
)
def test_a_proof_of_the_chosen_alternatives_is_not_said_to_be_one_of_the_bound(
    page: Page, bound: int, choice: object, begins: str
) -> None:
    proof = {"proof": "live_together", "value": 64, "pool": "sram", "time": 1, "buffers": ["a"]}
    plan = {
        "bound": bound,
        "choice": choice,
        "certificate": [proof],
        "shortage": None,
        "warnings": [],
        "reproducible": True,
    }
    script = """(plan) => import("/web/pane/figures.js").then(({ remarks }) => remarks(null, plan, null).map((each) => each.textContent))"""
    assert any(text.startswith(f"{begins}: 1 buffer in use") for text in page.evaluate(script, plan))
