"""The pictures of the documents are those that the code draws now, and all of them are shown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from planner import Options, plan
from planner.drawing import Sheet, Theme, memory_map, svg
from planner.drawing.style import style_of
from planner.generate import Request, generate

ROOT = Path(__file__).resolve().parents[3]
PICTURES = ROOT / "docs" / "pictures"


@pytest.mark.parametrize("theme", [Theme.LIGHT, Theme.DARK])
def test_the_map_of_the_readme_is_up_to_date(theme: Theme) -> None:
    """As ./scripts/pictures makes it."""
    network = generate("convnet", Request(40, seed=1))
    drawn = svg(memory_map(network, plan(network, Options())), Sheet(800, theme))
    assert (PICTURES / f"map-{theme.value}.svg").read_bytes() == drawn, "./scripts/pictures makes it again"


@pytest.mark.parametrize("path", sorted(PICTURES.rglob("*.svg")), ids=lambda path: path.stem)
def test_every_picture_has_a_style_sheet_of_now(path: Path) -> None:
    """The others take minutes to make, or depend on the clock."""
    (style,) = re.findall(r"<style>(.*)</style>", path.read_text("utf-8"))
    kinds: list[dict[str, bool]] = [{}, {"run": True}, {"curves": True}]
    assert style in {style_of(theme, **kind) for theme in Theme for kind in kinds}


def test_every_picture_is_shown_and_every_one_shown_is_there() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {
        name for page in pages for name in re.findall(r"pictures/([\w./-]+\.(?:svg|png))", page.read_text("utf-8"))
    }
    assert shown == {path.relative_to(PICTURES).as_posix() for path in PICTURES.rglob("*.*")}
