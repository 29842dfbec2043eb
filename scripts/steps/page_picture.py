"""Takes the picture of the web page: the example planned, the pointer on a buffer. Needs Chromium.

.venv/bin/python -m scripts.steps.page_picture docs/pictures/page.png
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.http.served import serving
from tests.web.browsing import Tabs, Visit, browsing, point, until_planned

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "keyword_spotting.json"
WINDOW = {"width": 1180, "height": 720}
TIME, ADDRESS = 5.1, 9_000
"""Where the pointer is: on depthwise2."""
RIGHT, TOP = 15, 24_576
"""The extent of the example's map."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("out", type=Path, help="a PNG")
    arguments.add_argument("--dark", action="store_true", help="in the dark theme")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as service, browsing() as browser:
        theme = "dark" if given.dark else "light"
        page = Visit(Tabs(browser), service.address, viewport=WINDOW, color_scheme=theme).open()
        page.fill("#text", EXAMPLE.read_text("utf-8"))
        page.click("#plan")
        until_planned(page)
        page.mouse.move(*point(page, TIME, ADDRESS, RIGHT, TOP))
        page.wait_for_selector(".tip:visible")
        page.screenshot(path=given.out)


if __name__ == "__main__":
    main()
