"""Names stand inside rectangles or beside them, whole or long enough to tell which buffer it is."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from planner import Buffer, Options, Pool, Problem, plan
from planner.drawing import memory_map, profile, svg
from planner.generate import Request, generate
from planner.model.problem import Lifetimes

NAMESPACE = "{http" + "://www.w3.org/2000/svg}"


def names(problem: Problem) -> dict[str, tuple[float, float]]:
    """Return where each name is drawn."""
    picture = svg(memory_map(problem, plan(problem, Options(workers=1, work_limit=0))))
    found = (each for each in ET.fromstring(picture).iter(NAMESPACE + "text") if "over" in each.attrib["class"])
    return {each.text or "": (float(each.attrib["x"]), float(each.attrib["y"])) for each in found}


def problem(*buffers: Buffer) -> Problem:
    return Problem(buffers, (Pool("arena"),), lifetimes=Lifetimes.HALF_OPEN)


def test_thin_rectangles_have_their_names_beside_them() -> None:
    thin = Buffer("thin", 10, live=((0, 4),))
    narrow = Buffer("narrow", 4000, live=((499, 500),))
    where = names(
        problem(thin, Buffer("large", 5000, live=((2, 300),)), narrow, Buffer("last", 8, live=((999, 1000),)))
    )
    assert where.keys() == {"thin", "large", "narrow", "last"}
    assert where["last"][0] < 1200 - 20, "left of its rectangle, at which it ends"


def test_no_name_lies_on_another_buffer() -> None:
    """Above and beside the thin ones everything is taken, except by the last."""
    thin = [Buffer(f"thin {i}", 10, live=((0, 10),)) for i in range(4)]
    where = names(problem(Buffer("low", 4000, live=((0, 10),)), *thin))
    assert "low" in where
    assert len(where) <= 2


def test_beside_many_rectangles_there_are_no_names() -> None:
    many = generate("random", Request(200, seed=1))
    inside = names(many)
    assert 0 < len(inside) < 100


def test_names_that_say_too_little_are_left_out() -> None:
    """Of 32 steps each takes some five letters of room."""
    numbered = [Buffer(f"activation_{i}/Relu", 64, live=((i, i + 1),)) for i in range(60)]
    assert not names(problem(*numbered, *(Buffer(f"full {i}", 6400, live=((i, i + 1),)) for i in range(60))))


def test_shortened_names_of_different_buffers_differ() -> None:
    pairs = [
        Buffer(f"{side}/a_long_path/of/attention/out", 64, live=((i, i + 1),))
        for i, side in enumerate(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"])
    ]
    others = [Buffer(f"{i}/block", 6400, live=((i, i + 1),)) for i in range(7)]
    assert names(problem(*pairs, *others)).keys() == {f"{i}/block" for i in range(7)}


def test_steps_have_their_whole_names_where_there_is_room() -> None:
    steps = tuple((i, f"DEPTHWISE_CONV_2D.{i}") for i in range(32))
    buffers = tuple(Buffer(i, 64 + i, live=((i, i + 2),)) for i in range(30))
    named = Problem(buffers, (Pool("arena"),), lifetimes=Lifetimes.HALF_OPEN, steps=steps)
    for picture in (profile(named, plan(named)), svg(memory_map(named, plan(named)))):
        texts = [each.text or "" for each in ET.fromstring(picture).iter(NAMESPACE + "text")]
        assert {"5 DEPTHWISE_CONV_2D.5", "25 DEPTHWISE_CONV_2D.25"} <= {*texts}
