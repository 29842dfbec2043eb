"""PNG and PDF pictures are as large as the SVG states and readable; a message says so if Typst is missing."""

from __future__ import annotations

import struct

import pytest

from planner import BadInput, plan
from planner.drawing import Sheet, Theme, memory_map, pdf, png, rendering, svg
from planner.generate import Request, generate


def picture(width: int = 1200, theme: Theme = Theme.LIGHT) -> bytes:
    problem = generate("random", Request(12, 1))
    return svg(memory_map(problem, plan(problem)), Sheet(width, theme))


def extent(dots: bytes) -> tuple[int, int]:
    width, height = struct.unpack(">II", dots[16:24])
    return width, height


def test_a_png_has_twice_the_dots_of_the_svg() -> None:
    assert extent(png(picture(700)))[0] == 1400
    assert png(picture(700)) == png(picture(700))
    assert png(picture(700)) != png(picture(700, Theme.DARK))


def test_a_png_of_a_very_large_picture_is_coarser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MOST_PIXELS", 100_000)
    width, height = extent(png(picture()))
    assert 90_000 < width * height < 110_000


def test_a_pdf_is_the_same_every_time() -> None:
    assert pdf(picture()).startswith(b"%PDF-")
    assert pdf(picture()) == pdf(picture())


def test_without_typst_the_refusal_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "find_spec", lambda _: None)
    for draw in (png, pdf):
        with pytest.raises(BadInput, match=r"pip install 'memplan\[pictures\]'"):
            draw(picture())
