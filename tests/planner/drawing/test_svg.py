"""Pictures are well-formed whatever the names, the same every time, and never too large to open."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import planner
from planner import Buffer, Options, Plan, Pool, Problem, plan, verify
from planner.drawing import MemoryMap, Sheet, Theme, memory_map, nested_maps, svg
from planner.drawing.frame import Frame
from planner.drawing.memory_map import Box, ceiling
from planner.drawing.rectangles import chosen, least_area
from planner.generate import Request, generate
from planner.model.problem import Lifetimes
from solvers.model.instance import Term
from tests.small.strategies import effort

NAMESPACE = "{http" + "://www.w3.org/2000/svg}"
PLANNED = Options(work_limit=0, workers=1)
HOSTILE = (
    "<script>alert(1)</script>",
    "</title><image href=x onerror=alert(1)>",
    '"><style>*{display:none}</style>',
    "&lt;&amp;&#0;]]>",
    "nul\x00 escape\x1b[31m \ufffe\uffff",
    "\u202egnp.exe\u2066",
    "x" * 1024,
)


def drawn(problem: Problem, answer: Plan | None = None) -> bytes:
    return svg(memory_map(problem, answer or plan(problem, PLANNED)))


def named(*names: str, kind: str | None = None, pool: str = "arena") -> Problem:
    buffers = tuple(Buffer(name, 64, live=((i, i + 2),), kind=kind) for i, name in enumerate(names))
    return Problem(buffers, (Pool(pool, 4096),), name=names[0], lifetimes=Lifetimes.HALF_OPEN)


ONE = plan(named("one"), PLANNED)


def parts(picture: bytes, tag: str) -> list[ET.Element]:
    return list(ET.fromstring(picture).iter(NAMESPACE + tag))


def test_names_stand_over_the_line_of_bytes_in_use() -> None:
    picture = drawn(named("image", "edges")).decode()
    assert picture.index('class="live" d=') < picture.index(">edges</text>")


def test_only_memories_with_untimed_buffers_mention_missing_lifetimes() -> None:
    buffers = (Buffer("a", 64, live=((0, 2),), pools=("one",)), Buffer("b", 64, pools=("two",)))
    problem = Problem(buffers, (Pool("one", 128), Pool("two", 128)), lifetimes=Lifetimes.HALF_OPEN)
    said = [each.text or "" for each in parts(drawn(problem), "text")]
    assert [text for text in said if text in ("one", "two") or "without" in text] == [
        "one",
        "two",
        "without lifetimes: a column each",
    ]


def test_every_buffer_is_a_rectangle_with_a_description() -> None:
    picture = drawn(named("image", "edges", kind="input"))
    titles = [box.findtext(f"{NAMESPACE}title") for box in parts(picture, "rect")]
    assert [title for title in titles if title] == [
        "image (input): 64 B at 0 to 64, live [0, 2)",
        "edges (input): 64 B at 64 to 128, live [1, 3)",
    ]
    texts = [text.text for text in parts(picture, "text")]
    assert {"image", "edges", "arena", "input", "bytes in use", "proven bound"} <= set(texts)


def test_time_goes_across_and_addresses_up() -> None:
    first, second = (box for box in parts(drawn(named("a", "b")), "rect") if len(box))
    assert float(first.attrib["x"]) < float(second.attrib["x"])
    assert float(first.attrib["y"]) == pytest.approx(
        float(second.attrib["y"]) + float(second.attrib["height"]), abs=0.2
    )
    assert first.attrib["width"] == second.attrib["width"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_cannot_change_the_markup(name: str) -> None:
    picture = drawn(named(name, "other", kind=name, pool=name))
    plain = drawn(named("name", "other", kind="kind", pool="pool"))
    tags = [element.tag for element in ET.fromstring(picture).iter()]
    assert tags == [element.tag for element in ET.fromstring(plain).iter()]
    assert not re.search(rb"[\x00-\x09\x0b-\x1f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]", picture)
    assert len(picture) < 20_000


@effort(10, 1000)
@given(st.text(min_size=1, max_size=30))
def test_any_name_makes_a_well_formed_picture(name: str) -> None:
    (place,), (use,) = ONE.placements, ONE.pools
    answer = replace(ONE, placements=(replace(place, id=name, pool=name),), pools=(replace(use, name=name),))
    assert len([box for box in parts(drawn(named(name, pool=name), answer), "rect") if len(box)]) == 1


@pytest.mark.parametrize("width", [640, 800, 2400])
def test_a_picture_has_the_requested_width_and_nothing_beyond(width: int) -> None:
    problem = generate("pools", Request(40, seed=1))
    picture = svg(memory_map(problem, plan(problem, PLANNED)), Sheet(width))
    assert ET.fromstring(picture).attrib["width"] == str(width)
    boxes = [box for box in parts(picture, "rect") if len(box)]
    assert len(boxes) == 40
    assert max(float(box.attrib["x"]) + float(box.attrib["width"]) for box in boxes) <= width
    assert max(float(each.attrib["x"]) for each in parts(picture, "text")) <= width


def test_a_theme_is_one_of_the_two_that_the_system_chooses_from() -> None:
    drawing = memory_map(named("a"), plan(named("a"), PLANNED))
    both, light, dark = (svg(drawing, Sheet(theme=theme)).decode() for theme in Theme)
    assert "prefers-color-scheme" not in light + dark
    for one in (light, dark):
        rules = one.split("<style>")[1].split("</style>")[0]
        assert rules.split(".k0")[1] in both
    assert light != dark


@pytest.mark.parametrize("begin", [0, (1 << 62) - 104])
@pytest.mark.parametrize("width", [640, 1200])
def test_labels_of_times_do_not_overlap(begin: int, width: int) -> None:
    problem = Problem((Buffer("a", 64, live=((begin, begin + 104),)),), lifetimes=Lifetimes.HALF_OPEN)
    picture = svg(memory_map(problem, plan(problem, PLANNED)), Sheet(width))
    labels = [
        (float(each.get("x", "")), each.text or "")
        for each in parts(picture, "text")
        if each.get("class") == "soft mid"
    ]
    assert len(labels) >= 2
    for (at, label), (other, after) in pairwise(labels):
        assert other - at >= 3.3 * (len(label) + len(after)) - 3.3


def test_a_picture_is_the_same_every_time() -> None:
    problem = generate("pools", Request(80, seed=2))
    answer = plan(problem, PLANNED)
    assert drawn(problem, answer) == drawn(problem, answer)
    assert drawn(problem, answer) == drawn(problem, plan(problem, PLANNED))


def test_a_picture_fetches_nothing_and_runs_nothing() -> None:
    picture = drawn(generate("transformer", Request(60, seed=1))).decode()
    assert re.findall(r"https?:[^\"]*", picture) == ["http" + "://www.w3.org/2000/svg"]
    assert not re.search(r"url\(|@import|href|<script|<foreignObject|\son\w+=", picture)
    assert "prefers-color-scheme:dark" in picture


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> Problem:
    """Return a problem with more rectangles than a picture draws one by one."""
    monkeypatch.setattr("planner.drawing.rectangles.FEW", 100)
    monkeypatch.setattr("planner.drawing.rectangles.MOST", 200)
    return generate("packing", Request(500, seed=1))


def test_very_many_rectangles_are_drawn_together(many: Problem) -> None:
    picture = drawn(many)
    titled = [box for box in parts(picture, "rect") if len(box)]
    assert 100 < len(titled) <= 200
    message = f"The {500 - len(titled)} smallest rectangles are drawn together, without names: "
    assert any((text.text or "").startswith(message) for text in parts(picture, "text"))


def test_the_largest_rectangles_are_drawn_one_by_one(many: Problem) -> None:
    drawing = memory_map(many, plan(many, PLANNED))
    (pool,) = drawing.pools
    frame = Frame(Sheet(), 0, 500, drawing.axis.begin, drawing.axis.right, ceiling(pool, many.buffers))
    these = chosen(drawing, pool, frame, least_area(drawing))

    def has_pixel(box: Box) -> bool:
        top = box.low + many.buffers[box.buffer].size
        return frame.x(box.end) - frame.x(box.start) >= 1 and frame.y(box.low) - frame.y(top) >= 1

    def areas(boxes: tuple[Box, ...]) -> list[int]:
        return [(box.end - box.start) * many.buffers[box.buffer].size for box in boxes if has_pixel(box)]

    assert len(these.single) + len(these.together) == 500
    assert len(areas(these.single)) == len(these.single), "what is smaller than a pixel would be drawn as large as one"
    assert max(areas(these.together)) < min(areas(these.single))


def test_faults_are_marked_and_described() -> None:
    problem = named("a", "b", "c")
    answer = plan(problem, PLANNED)
    first, second, third = answer.placements
    broken = replace(answer, placements=(first, replace(second, offset=first.offset + 8), replace(third, offset=1024)))
    picture = svg(memory_map(problem, broken, planner.verify(problem, broken)))
    marked = [box for box in parts(picture, "rect") if "bad" in box.attrib.get("class", "").split()]
    assert [(box.findtext(f"{NAMESPACE}title") or "")[0] for box in marked] == ["a", "b"]
    texts = [text.text or "" for text in parts(picture, "text")]
    assert any("wrong with this plan" in text for text in texts)
    assert any(text.startswith("wrong (claims to be optimal)") for text in texts)


def test_pools_stand_one_above_the_other_and_empty_ones_are_named() -> None:
    buffers = (Buffer("a", 8, live=((0, 1),), pools=("fast",)), Buffer("b", 8, live=((0, 1),), pools=("slow",)))
    problem = Problem(buffers, (Pool("fast"), Pool("slow", 64), Pool("idle")), lifetimes=Lifetimes.INCLUSIVE)
    picture = drawn(problem)
    texts = [text.text or "" for text in parts(picture, "text")]
    assert texts.index("fast") < texts.index("slow")
    assert "Nothing is placed in: idle" in texts
    assert "live [0, 0]" in (
        next(box for box in parts(picture, "rect") if len(box)).findtext(f"{NAMESPACE}title") or ""
    )


def test_a_problem_without_buffers_and_one_without_a_plan_are_drawn() -> None:
    assert b"0 buffers" in drawn(Problem(()))
    tight = replace(named("a", "b"), pools=(Pool("arena", 70),))
    picture = drawn(tight)
    assert b"infeasible" in picture
    heights = {text.text or "": float(text.attrib["y"]) for text in parts(picture, "text")}
    why = next(text for text in heights if text.startswith("No plan fits: pool 'arena' is "))
    assert heights[why] < heights["arena"], "above the field, where nothing crosses it"
    assert {"bytes needed", "needs 128 B, has 70 B  ·  bound 128 B"} <= heights.keys()
    assert b'class="live"' in picture, "how much is needed when, beside the end of the pool"
    many = tuple(Buffer(f"{i}" * 300, 70, live=((0, 1),), kind=kind) for i, kind in enumerate(["input", "output"] * 3))
    kinds = Problem(many)
    words = [text.text or "" for text in parts(drawn(replace(kinds, pools=(Pool("arena", 100),))), "text")]
    assert not {"input", "output"} & {*words}, "what is not drawn is not explained"
    assert any(word.endswith("…") for word in words)


@pytest.mark.parametrize(
    ("terms", "says"),
    [
        (("sum_of_peaks",), "at most 50.00% above the smallest possible"),
        (("spilled_bytes",), "spilled bytes at most 50.00% above the least possible"),
        (("access_cost", "sum_of_peaks"), "access cost at most 50.00% above the least possible"),
    ],
)
def test_the_gap_is_that_of_the_objective(terms: tuple[str, ...], says: str) -> None:
    problem = replace(named("one"), terms=tuple(map(Term, terms)))
    assert says.encode() in drawn(problem, replace(ONE, gap=0.5))


def test_numbers_beyond_any_screen_are_drawn() -> None:
    far = 1 << 60
    buffers = (Buffer("a", far, live=((-far, far),)), Buffer("b", far, live=((far - 1, far),)))
    picture = drawn(Problem(buffers, lifetimes=Lifetimes.HALF_OPEN))
    assert [box.findtext(f"{NAMESPACE}title") for box in parts(picture, "rect") if len(box)]


def test_a_line_that_would_cover_all_is_an_area_above_the_map() -> None:
    """With 4 000 steps more than two share a pixel; with 40 a line is drawn over the map."""
    for steps, is_dense in ((40, False), (4_000, True)):
        buffers = tuple(Buffer(i, 8 + 56 * (i % 2), live=((i, i + 1),)) for i in range(steps))
        problem = Problem(buffers, (Pool("arena"),), lifetimes=Lifetimes.HALF_OPEN)
        picture = drawn(problem)
        paths = parts(picture, "path")
        areas = [path for path in paths if path.get("class") == "ink"]
        assert [path.get("class") for path in paths].count("live") == (0 if is_dense else 2)  # one is in the legend
        fields = [float(box.get("y") or 0) for box in parts(picture, "rect") if box.get("class") == "field"]
        assert len(fields) == 1 + is_dense
        assert len(areas) == 2 * is_dense, "the most of each pixel, and the least"
        assert ("most at 1" in [text.text for text in parts(picture, "text")]) == is_dense
        for path in areas:
            xs = [float(x) for x in re.findall(r"[MLH]([0-9.]+)", path.get("d") or "")]
            ys = {float(y) for y in re.findall(r"V([0-9.]+)", path.get("d") or "")}
            assert max(xs) <= Sheet().right
            assert max(ys) < max(fields), "nothing of it lies over the map"


def test_nothing_is_in_use_above_buffers_without_lifetimes() -> None:
    """These have columns of their own, at the right of the map."""
    lively = tuple(Buffer(i, 8 + 56 * (i % 2), live=((i, i + 1),)) for i in range(4_000))
    still = tuple(Buffer(f"s{i}", 8, pools=("flash",)) for i in range(1_000))
    drawing = drawn(Problem((*(replace(b, pools=("ram",)) for b in lively), *still), (Pool("ram"), Pool("flash"))))
    areas = [path.get("d") or "" for path in parts(drawing, "path") if path.get("class") == "ink"]
    assert len(areas) == 2
    for area in areas:
        *_, (_, last), (end, below) = re.findall(r"H([0-9.]+)V([0-9.]+)", area)
        assert last == below
        assert float(end) == Sheet().right


def test_bytes_in_use_that_hardly_ever_change_are_a_line_however_many_buffers_there_are() -> None:
    buffers = tuple(Buffer(i, 64, live=((i, i + 1),)) for i in range(4_000))
    picture = drawn(Problem(buffers, (Pool("arena"),), lifetimes=Lifetimes.HALF_OPEN))
    assert [path.get("class") for path in parts(picture, "path")].count("live") == 2


def test_kinds_too_small_to_be_seen_are_counted(many: Problem) -> None:
    kinds = tuple(replace(each, kind="workspace" if i else "input") for i, each in enumerate(many.buffers))
    texts = [text.text for text in parts(drawn(replace(many, buffers=kinds)), "text")]
    assert {"workspace (499)", "input (1)"} <= {*texts}
    few = replace(many, buffers=kinds[:50])
    assert {"workspace", "input"} <= {text.text for text in parts(drawn(few), "text")}


def test_nested_maps_have_one_legend_and_each_kind_one_colour() -> None:
    """Functions name their kinds in different orders, and may have buffers of the same name."""

    def drawn(function: str, *kinds: str) -> tuple[str, MemoryMap]:
        buffers = tuple(Buffer(f"b{i}", 8 + 8 * i, live=((i, i + 2),), kind=kind) for i, kind in enumerate(kinds))
        problem = Problem(buffers, (Pool("sram", 4096),))
        made = plan(problem, Options(workers=1))
        if function == "g":  # all at one address
            places = tuple(replace(place, offset=0) for place in made.placements)
            made = replace(made, placements=places)
        return function, memory_map(problem, made, verify(problem, made))

    written = nested_maps("p", [drawn("f", "steam", "water"), drawn("g", "water", "ice", "steam")], 64).decode()
    colours = set(re.findall(r'<rect class="(k\d+)[^"]*"[^>]*><title>b\d \((\w+)\)', written))
    assert len(colours) == len({kind for _, kind in colours}) == len({colour for colour, _ in colours}) == 3
    legend = re.findall(r'<rect class="(k\d+)"[^>]*/><text [^>]*>(\w+)<', written.replace("\n", ""))
    assert sorted(legend) == sorted(colours)
    assert re.findall(r">(\w): \d+ things are wrong with this plan \((\d) buffers marked\)", written) == [("g", "3")]


def test_more_kinds_than_colours_are_counted() -> None:
    many = Problem(tuple(Buffer(i, 8, live=((0, 1),), kind=f"kind {i}") for i in range(20)))
    said = [each.text or "" for each in parts(drawn(many), "text")]
    assert [text for text in said if "kind" in text][-2:] == ["kind 11", "8 more kinds"]
