"""Pictures as PNG and PDF, drawn from the SVG by Typst, which brings its own fonts and needs nothing from the system."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any, Literal

from ..model.errors import BadInput, Code, Finding

PIXELS_PER_INCH = 144
"""Twice the SVG's, so that small letters are readable on paper and on dense screens."""
MOST_PIXELS = 100_000_000
"""The most pixels of a PNG: more fill gigabytes of memory before a file."""
PAGE = """\
#set document(date: none)
#set page(width: {width}pt, height: {height}pt, margin: 0pt)
#image("/picture.svg", width: 100%)
"""


def require_typst() -> None:
    """Raise BadInput if it is not installed."""
    if find_spec("typst") is None:
        message = "pictures as PNG and PDF need Typst: pip install 'memplan[pictures]'"
        raise BadInput(Finding(Code.UNAVAILABLE, "", message))


def png(picture: bytes) -> bytes:
    """Return the SVG picture as PNG, coarser if it is very large."""
    width, height = _extent(picture)
    dots = PIXELS_PER_INCH * min(1.0, (MOST_PIXELS / (width * height * (PIXELS_PER_INCH / 72) ** 2)) ** 0.5)
    return _rendered(picture, "png", dots)


def pdf(picture: bytes) -> bytes:
    """Return the SVG picture as a PDF of one page, with searchable text."""
    return _rendered(picture, "pdf", None)


def _rendered(picture: bytes, form: Literal["png", "pdf"], dots: float | None) -> bytes:
    require_typst()
    import typst

    width, height = _extent(picture)
    files: Any = {"main.typ": PAGE.format(width=width, height=height).encode(), "picture.svg": picture}
    made = typst.Compiler(files).compile(format=form, ppi=dots)
    assert isinstance(made, bytes)
    return made


def _extent(picture: bytes) -> tuple[float, float]:
    """Return width and height of a picture of planner.drawing, as stated in it."""
    extent = re.search(rb'width="([\d.]+)" height="([\d.]+)"', picture)
    if extent is None:
        raise ValueError("this is no picture of planner.drawing")
    return float(extent[1]), float(extent[2])
