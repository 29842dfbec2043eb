"""What the page paints for very many boxes, each module called by itself in a browser."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import numpy as np
import pytest
from playwright.sync_api import Page

from planner import Buffer, Options, Problem, plan
from planner.drawing import memory_map
from planner.drawing.coverage import coloured, shares
from planner.formats.answers.write_map import write_map

Boxes = list[tuple[float, float, float, float]]


def painted(boxes: Boxes, view: dict[str, float], width: int, height: int) -> list[int]:
    """Return the number of the topmost box at each pixel's middle, from 1; 0 where there is none."""
    per_time, per_byte = width / (view["right"] - view["left"]), height / (view["high"] - view["low"])
    found = []
    for y in range(height):
        for x in range(width):
            time, address = view["left"] + (x + 0.5) / per_time, view["high"] - (y + 0.5) / per_byte
            inside = [
                number
                for number, (left, right, low, high) in enumerate(boxes, 1)
                if left <= time < right and low < address <= high
            ]
            found.append(inside[-1] if inside else 0)
    return found


def paint(page: Page, boxes: Boxes, view: dict[str, float], width: int, height: int) -> list[int]:
    """Return the same as `painted`, as the page's own code paints it."""
    columns = {name: [box[i] for box in boxes] for i, name in enumerate(("left", "right", "low", "high"))}
    layer = {"count": len(boxes), "colour": list(range(len(boxes))), **columns}
    script = """([layer, view, width, height]) => import("/web/map/raster.js").then(({ paint }) => {
        const pixels = new Uint32Array(width * height);
        paint(pixels, width, height, layer, view, Uint32Array.from(layer.colour, (c) => c + 1), 0);
        return Array.from(pixels);
    })"""
    pixels: list[int] = page.evaluate(script, [layer, view, width, height])
    return pixels


@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_painted_in_their_place(page: Page, seed: int) -> None:
    chance = random.Random(seed)
    width, height = 60, 40
    view = {"left": 3.0, "right": 33.0, "low": 10.0, "high": 50.0}
    boxes = []
    for column in range(6):
        left = column * 6.0
        low = chance.uniform(0, 20)
        high = low + chance.uniform(2, 30)
        boxes.append((left, left + chance.uniform(0.5, 6), low, high))
    pixels = paint(page, boxes, view, width, height)
    expected = painted(boxes, view, width, height)
    near = [dy * width + dx for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    inner = [y * width + x for y in range(1, height - 1) for x in range(1, width - 1)]
    even = [at for at in inner if len({expected[at + step] for step in near}) == 1]
    assert len({expected[at] for at in even}) > 3
    assert [pixels[at] for at in even] == [expected[at] for at in even]


def test_tiny_boxes_get_one_pixel_and_boxes_outside_none(page: Page) -> None:
    view = {"left": 0.0, "right": 100.0, "low": 0.0, "high": 1000.0}
    boxes = [(50.0, 50.001, 500.0, 500.001), (200.0, 300.0, 0.0, 10.0), (10.0, 20.0, 2000.0, 3000.0)]
    pixels = paint(page, boxes, view, 30, 20)
    assert sorted(set(pixels)) == [0, 1]
    assert pixels.count(1) == 1


@pytest.mark.parametrize("scale", [1, 2])
def test_many_small_boxes_colour_what_they_cover_as_in_pictures(page: Page, scale: int) -> None:
    chance = random.Random(scale)
    width, height = 23, 17
    edges = [
        (left, left + chance.choice((0.01, 0.5, 3)), upper, upper + chance.choice((0.01, 0.7, 5)))
        for left, upper in ((chance.uniform(-1, width), chance.uniform(-1, height)) for _ in range(60))
    ]
    script = """([edges, width, height, scale]) => import("/web/map/coverage.js").then(({ Coverage, LEVELS }) => {
        const coverage = new Coverage(width, height, scale), found = [];
        for (const again of [1, 2]) {
          edges.forEach((each, i) => coverage.add(i % 2, ...each));
          const pixels = new Uint32Array(width * scale * height * scale);
          const tints = [0, 1].map((colour) => Uint32Array.from({ length: LEVELS + 1 }, (_, level) => 100 * (colour + 1) + level));
          coverage.paint(pixels, width * scale, height * scale, tints);
          found.push(Array.from(pixels));
        }
        return found;
    })"""
    once, again = page.evaluate(script, [edges, width, height, scale])
    assert once == again
    pixels = np.array(once).reshape(height * scale, width * scale)[::scale, ::scale]
    by_colour = {colour: shares(np.array(edges[colour::2]), width, height) for colour in (0, 1)}
    total = np.minimum(by_colour[0] + by_colour[1], 1)
    expected = np.ceil(np.maximum(total, 0.25) * 16)
    expected[total < 1e-6] = 0
    near = np.abs(total * 16 - np.round(total * 16)) < 1e-6  # either level is right
    assert ((pixels % 100 == expected) | near).all()
    colours = np.zeros((height, width))
    for colour, _, here in coloured(by_colour):
        colours[here] = colour + 1
    assert (pixels // 100 == colours).all()


def test_a_map_of_many_boxes_shows_where_it_is_empty(page: Page) -> None:
    """3 000 boxes, a tenth of a pixel wide and apart, would each get a pixel, and all would be full."""
    script = """() => Promise.all(["raster", "coverage"].map((name) => import(`/web/map/${name}.js`))).then(([{ paint }, { Coverage, LEVELS }]) => {
        const count = 3000, at = (each) => Float64Array.from({ length: count }, (_, i) => each(i));
        const layer = { count, left: at((i) => i), right: at((i) => i + 0.1), low: at(() => 0), high: at(() => 5), colour: new Uint8Array(count) };
        const view = { left: 0, right: count, low: 0, high: 10 }, pixels = new Uint32Array(100 * 10);
        const tints = [Uint32Array.from({ length: LEVELS + 1 }, (_, level) => level)];
        const shown = (cover) => (paint(pixels, 100, 10, layer, view, [99], 50, cover), [...new Set(pixels)].sort());
        return [shown(null), shown({ coverage: new Coverage(100, 10), tints, shades: 3 })];
    })"""
    assert page.evaluate(script) == [[50, 99], [4, 50]]


def test_a_map_that_is_slow_to_draw_is_coarse_while_it_moves_and_whole_at_rest(page: Page) -> None:
    problem = Problem(
        tuple(Buffer(i, 1 + i % 7, live=((i, i + 1 + i % 5),), kind=f"kind {i % 3}") for i in range(3000))
    )
    document = json.loads(write_map(memory_map(problem, plan(problem, Options(work_limit=0, workers=1)))))
    script = """async (document_) => {
        const [{ MapData }, { MapPainter }, { palette }] = await Promise.all(["data", "painter", "palette"].map((name) => import(`/web/map/${name}.js`)));
        const canvas = document.createElement("canvas");
        const [data, painter] = [new MapData(document_), new MapPainter(canvas)];
        painter.resize(400, 300, 1);
        const [layer] = data.layers;
        const shown = (isMoving, took) => {
          painter.took = took ?? painter.took;
          const isCoarse = painter.draw(data, layer, { left: 0, right: data.right, low: 0, high: layer.top }, palette(), isMoving);
          return [isCoarse, canvas.toDataURL()];
        };
        return [shown(false), shown(true, 0), shown(true, 500), shown(false, 500)];
    }"""
    page.add_style_tag(url="/web/page.css")
    rest, quick, slow, again = page.evaluate(script, document)
    assert [rest[0], quick[0], slow[0], again[0]] == [False, False, True, False]
    assert rest[1] == quick[1] == again[1] != slow[1]


@pytest.mark.parametrize("seed", range(3))
def test_neighbouring_boxes_have_a_line_between_them(page: Page, seed: int) -> None:
    """Boxes side by side, with edges anywhere between pixels, all have a line between them."""
    chance = random.Random(seed)
    edges = [0.0]
    while edges[-1] < 90:
        edges.append(edges[-1] + chance.uniform(5, 9))
    view = {"left": 0.0, "right": 100.0, "low": 0.0, "high": 10.0}
    boxes = [(left, right, 0.0, 10.0) for left, right in pairwise(edges)]
    chance.shuffle(boxes)
    row = paint(page, boxes, view, 137, 20)[137 * 5 : 137 * 6]
    met = [(a, b) for a, b in pairwise(row) if a and b and a != b]
    assert met == []
    assert len(set(row)) == len(boxes) + 1
