"""Curves and sweeps as pictures."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from planner import BadInput, Options, sweep
from planner.drawing import Axes, Curve, Sheet, Theme, curves, shapes_curve, sweep_curve
from planner.drawing.curves.plot import Labels
from planner.drawing.ticks import address_labels, number_labels
from planner.generate import Request, generate, shaped_transformer
from planner.planning.shapes import Mode, plan_shapes

NAMESPACE = "{http" + "://www.w3.org/2000/svg}"
OPTIONS = Options(work_limit=0, workers=1)


def text_of(picture: bytes) -> str:
    return " ".join(each.text or "" for each in ET.fromstring(picture).iter(NAMESPACE + "text"))


def test_a_sweep_shows_its_figures_and_the_smallest_size() -> None:
    problem = generate("random", Request(30, 1))
    found = sweep(problem, {"arena": range(100_000, 900_000, 50_000)}, OPTIONS, processes=1)
    assert found.smallest is not None
    light, dark = (sweep_curve(found, Sheet(theme=theme)) for theme in (Theme.LIGHT, Theme.DARK))
    assert light != dark
    assert "smallest" in text_of(light)
    assert f"{found.smallest.capacity:,}".replace(",", " ") in text_of(light)


def test_each_combination_of_the_other_pools_has_a_curve_up_to_a_number() -> None:
    problem = generate("pools", Request(6, 1))
    found = sweep(problem, {"sram": (5000, 9000), "tcm": (100, 200, 300)}, OPTIONS, processes=1)
    picture = ET.fromstring(sweep_curve(found))
    assert (
        len(
            [
                p
                for p in picture.iter(NAMESPACE + "path")
                if p.attrib["class"].startswith("curve") and "H" in p.attrib["d"]
            ]
        )
        >= 2
    )
    many = sweep(problem, {"sram": range(9000, 9010), "tcm": (100, 200)}, OPTIONS, processes=1)
    with pytest.raises(BadInput):
        sweep_curve(many)


@pytest.mark.parametrize(("say", "in_bytes"), [(address_labels, True), (number_labels, False)])
@pytest.mark.parametrize("low", [15_800, 3_000_000_000])
def test_each_mark_of_a_narrow_range_has_a_label_of_its_own(say: Labels, low: int, *, in_bytes: bool) -> None:
    drawn = [Curve("flat", [(low, float(low)), (low + 100, low + 90.0)])]
    axes = Axes("values", drawn, say, in_bytes=in_bytes)
    picture = ET.fromstring(curves("narrow", "", [axes], say, in_bytes=in_bytes))
    for kind in "soft right", "soft mid":
        labels = [each.text for each in picture.iter(NAMESPACE + "text") if each.get("class") == kind]
        assert len(labels) > 2
        assert len({*labels}) == len(labels)


def test_long_labels_do_not_lie_on_each_other() -> None:
    low = 123_456_789_000_000
    axes = Axes("values", [Curve("one", [(low, float(low)), (low + 90, low + 90.0)])], number_labels)
    picture = ET.fromstring(curves("narrow", "", [axes], number_labels))
    labels = [each for each in picture.iter(NAMESPACE + "text") if each.get("class") == "soft mid"]
    assert len(labels) > 2
    for label, after in pairwise(labels):
        assert label.text is not None
        assert float(after.attrib["x"]) - float(label.attrib["x"]) > 6 * len(label.text)


def test_names_have_no_power_over_the_picture() -> None:
    axes = Axes("a & b", [Curve("<script>", [(1, 1.0), (2, 3.0)]), Curve("one", [(1, 2.0)])], number_labels)
    picture = ET.fromstring(curves("<t>", "", [axes], number_labels, doubling=True))
    assert "<script>" in " ".join(each.text or "" for each in picture.iter(NAMESPACE + "text"))
    assert not list(picture.iter(NAMESPACE + "script"))


def test_plans_for_all_shapes_are_drawn_beside_the_best_for_each() -> None:
    problem = shaped_transformer(layers=1, longest=64)
    plans = [plan_shapes(problem, mode, [{"n": n} for n in (1, 4, 64)], OPTIONS) for mode in Mode]
    picture = shapes_curve("prefill", plans)
    for words in ("prefill", "offsets as expressions", "room for the largest", "n=64", "3 shapes"):
        assert words in text_of(picture)
    with pytest.raises(BadInput, match="a symbol changes"):
        shapes_curve(None, [plan_shapes(problem, Mode.MAXIMUM, [{"n": 1}], OPTIONS)])


@pytest.mark.parametrize("is_steps", [True, False])
@pytest.mark.parametrize("heights", [(9, 8, 2, 1), (1, 2, 8, 9), (1, 9, 1, 9), (5, 5, 5, 5)])
@pytest.mark.parametrize("mark", [0, 40, 98])
def test_the_label_of_a_mark_lies_on_no_curve(mark: int, heights: tuple[int, ...], *, is_steps: bool) -> None:
    drawn = [Curve("cost", [(20 * k, float(y)) for k, y in enumerate((*heights, 5))], steps=is_steps)]
    axes = Axes("cost", drawn, number_labels, [(mark, "smallest")])
    picture = ET.fromstring(curves("one", "", [axes], number_labels))
    (label,) = (each for each in picture.iter(NAMESPACE + "text") if each.text == "smallest")
    left, base = float(label.attrib["x"]), float(label.attrib["y"])
    (path,) = (each for each in picture.iter(NAMESPACE + "path") if each.attrib["class"].startswith("curve"))
    x, y = 0.0, 0.0
    for step in path.attrib["d"].replace("M", " M").replace("H", " H").replace("V", " V").replace("L", " L").split(" "):
        before = x, y
        kind, number = step[:1], step[1:]
        if kind == "H":
            x = float(number)
        elif kind == "V":
            y = float(number)
        elif kind in ("M", "L"):
            x = float(number)
        elif step:
            y = float(step)
        if kind in ("H", "V") or (step and kind not in "ML"):
            meets = min(before[0], x) < left + 48 and max(before[0], x) > left
            assert not meets or max(before[1], y) < base - 10 or min(before[1], y) > base + 2
