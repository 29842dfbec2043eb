"""Curves and sweeps as pictures."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from planner import BadInput, Options, sweep
from planner.drawing import Axes, Curve, Sheet, Theme, curves, shapes_curve, sweep_curve
from planner.drawing.ticks import short_bytes, short_number
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


@pytest.mark.parametrize(("say", "in_bytes"), [(short_bytes, True), (short_number, False)])
@pytest.mark.parametrize("low", [15_800, 3_000_000_000])
def test_each_mark_of_a_narrow_range_has_a_label_of_its_own(
    say: Callable[[int, int], str], low: int, *, in_bytes: bool
) -> None:
    drawn = [Curve("flat", [(low, float(low)), (low + 100, low + 90.0)])]
    axes = Axes("values", drawn, say, in_bytes=in_bytes)
    picture = ET.fromstring(curves("narrow", "", [axes], say, in_bytes=in_bytes))
    for kind in "soft right", "soft mid":
        labels = [each.text for each in picture.iter(NAMESPACE + "text") if each.get("class") == kind]
        assert len(labels) > 2
        assert len({*labels}) == len(labels)


def test_names_have_no_power_over_the_picture() -> None:
    axes = Axes("a & b", [Curve("<script>", [(1, 1.0), (2, 3.0)]), Curve("one", [(1, 2.0)])], short_number)
    picture = ET.fromstring(curves("<t>", "", [axes], short_number, doubling=True))
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
