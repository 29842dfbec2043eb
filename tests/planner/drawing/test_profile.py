"""The picture of the bytes in use names the highest steps, their buffers, and the bytes needed if nothing fits."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from planner import BadInput, Buffer, Code, Pool, Problem, plan
from planner.drawing import profile
from planner.generate import Request, generate

NAMESPACE = "{http" + "://www.w3.org/2000/svg}"
HILLS = Problem(
    buffers=(
        Buffer("low", 100, live=((0, 90),)),
        Buffer("first", 300, live=((10, 20),)),
        Buffer("second", 500, live=((60, 70),)),
        Buffer("beside", 20, live=((65, 70),)),
    ),
    steps=((10, "conv"), (60, "<b>matmul"), (65, "softmax")),
)


def texts_of(picture: bytes) -> list[str]:
    return [each.text or "" for each in ET.fromstring(picture).iter(NAMESPACE + "text")]


def test_the_highest_places_have_the_names_of_their_steps() -> None:
    words = texts_of(profile(HILLS, plan(HILLS)))
    assert "softmax" in words
    assert "conv" in words
    assert "softmax: second 500 B, low 100 B, beside 20 B" in words


def test_long_names_keep_their_numbers() -> None:
    named = replace(HILLS, steps=((10, "conv"), (60, "DEPTHWISE_CONV_2D.11")))
    words = texts_of(profile(named, plan(named)))
    assert any("…" in word and word.endswith("2D.11") for word in words)


def test_no_label_lies_across_the_bound() -> None:
    """A peak just below the bound has its label above the line."""
    other = Buffer("almost", 470, live=((80, 85),))
    hills = replace(HILLS, buffers=(*HILLS.buffers, other), steps=())
    picture = profile(hills, plan(hills))
    drawn = ET.fromstring(picture)
    labels = [text for text in drawn.iter(NAMESPACE + "text") if "over" in text.attrib["class"]]
    (bound,) = (path for path in drawn.iter(NAMESPACE + "path") if path.attrib["class"] == "bound")
    at = float(bound.attrib["d"].split()[1].partition("H")[0])
    assert {"at 80", "570 B"} <= {label.text for label in labels}
    assert not [label.text for label in labels if float(label.attrib["y"]) - 10 < at < float(label.attrib["y"]) + 3]


def test_without_step_names_the_time_is_shown() -> None:
    words = texts_of(profile(replace(HILLS, steps=()), plan(HILLS)))
    assert "at 65" in words


def test_the_bytes_needed_are_drawn_where_nothing_fits() -> None:
    tight = replace(HILLS, pools=(Pool("arena", 600),))
    picture = profile(tight, plan(tight))
    assert "bytes needed over time" in " ".join(texts_of(picture))
    assert b"the pool ends here" in picture


def test_a_profile_without_lifetimes_is_refused() -> None:
    problem = Problem(buffers=(Buffer("a", 8),))
    with pytest.raises(BadInput) as caught:
        profile(problem, plan(problem))
    assert caught.value.findings[0].code is Code.LIFETIMES_MISSING


@pytest.mark.parametrize(
    "buffers",
    [
        (),
        (Buffer("a", 0, live=((0, 4),)), Buffer("b", 0, live=((2, 6),))),
        (Buffer("never", 8, live=()),),
        (Buffer("empty", 0),),
    ],
)
def test_where_nothing_is_ever_in_use_that_is_drawn(buffers: tuple[Buffer, ...]) -> None:
    problem = Problem(buffers, (Pool("fast"), Pool("slow")))
    words = texts_of(profile(problem, plan(problem)))
    assert words.count("Nothing is in use at any time.") == 2


def test_lifetimes_of_empty_buffers_do_not_tell_when_bytes_are_in_use() -> None:
    problem = Problem((Buffer("a", 8), Buffer("empty", 0, live=((0, 2),))))
    with pytest.raises(BadInput, match="no buffer with bytes has a lifetime"):
        profile(problem, plan(problem))


def test_a_line_that_would_cover_everything_is_left_out() -> None:
    problem = generate("random", Request(3000, 1))
    dense = profile(problem, plan(problem))
    assert b'class="live"' not in dense
    assert "bytes in use over time  ·  3 000 buffers  ·  faint: the most of each pixel, strong: the least" in texts_of(
        dense
    )
    assert b'class="live"' in profile(HILLS, plan(HILLS))
