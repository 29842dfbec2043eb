"""Memory maps as one HTML file that loads nothing: the service's own page, with embedded plans instead of a service."""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from planner.checks.report import printable
from planner.drawing import MemoryMap, Theme
from planner.formats.answers.write_map import write_map

FOLDER = Path(__file__).resolve().parent / "web"
START = "map_page.js"
IMPORT = re.compile(r'(?<= from )"(\.{1,2}/[^"]+)"')


THEMES = {"auto": ("System", Theme.SYSTEM), "light": ("Light", Theme.LIGHT), "dark": ("Dark", Theme.DARK)}


class MapOfPlan(NamedTuple):
    """The contents of the page for one plan."""

    name: str | None
    """None: the problem's."""
    plan: bytes
    """memplan-plan/1, as read."""
    drawn: MemoryMap
    picture: bytes
    """The map as SVG, for people to keep."""
    above: tuple[str, bytes] | None = None
    """What to show above the map: its name and a picture as SVG."""


def map_page(title: str | None, plans: Sequence[MapOfPlan], theme: Theme = Theme.SYSTEM) -> bytes:
    """Return the page of one plan, or of two beside each other."""
    held = [
        {
            "name": each.name,
            "plan": each.plan.decode("utf-8"),
            "map": json.loads(write_map(each.drawn)),
            "picture": each.picture.decode("utf-8"),
        }
        for each in plans
    ]
    letters = "AB" if len(plans) == 2 else ("",)
    above = "".join(
        _figure(letter, each.name, *each.above)
        for letter, each in zip(letters, plans, strict=True)
        if each.above is not None
    )
    style = (FOLDER / "page.css").read_text("utf-8")
    icon = f"data:image/svg+xml;base64,{_base64((FOLDER / 'icon.svg').read_bytes())}"
    modules = {name: f"data:text/javascript;base64,{_base64(code.encode())}" for name, code in _modules().items()}
    themes = "\n".join(
        f'    <option value="{value}"{" selected" if given is theme else ""}>{label}</option>'
        for value, (label, given) in THEMES.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(printable(title or "memplan"))}</title>
<link rel="icon" href="{icon}" type="image/svg+xml">
<style>{style}</style>
<script type="importmap">{_in_script({"imports": modules})}</script>
</head>
<body class="map-page">
<header class="top">
  <h1><img src="{icon}" alt="" width="22" height="22"> memplan</h1>
  <p class="soft">an address for every buffer, and a proof of how good that is</p>
  <label class="unseen" for="theme">Theme</label>
  <select id="theme">
{themes}
  </select>
</header>
<main><div id="workspace" tabindex="-1">{above}<div id="panes"></div></div></main>
<noscript><p>This page draws with JavaScript. Without it, there are pictures: memplan draw -o map.svg</p></noscript>
<script type="application/json" id="held">{_in_script(held)}</script>
<script type="module">import "{_name(START)}";</script>
</body>
</html>
""".encode()


def _figure(letter: str, plan: str | None, what: str, picture: bytes) -> str:
    """Return a picture that stands above the map, with its plan's letter if there are two. As an image it follows the theme of the page."""
    title = escape(printable(what if plan is None else f"{plan}: {what}"))
    caption = f'<figcaption><span class="letter">{letter}</span> {title}</figcaption>' if letter else ""
    image = f'<img src="data:image/svg+xml;base64,{_base64(picture)}" alt="{title}" title="{title}">'
    return f'<figure class="above">{caption}{image}</figure>'


def _modules() -> dict[str, str]:
    """Return all modules of the page, under names that refer to no file."""
    found: dict[str, str] = {}
    waiting = [START]
    while waiting:
        path = waiting.pop()
        if _name(path) in found:
            continue
        code = (FOLDER / path).read_text("utf-8")
        imports = {written: _beside(path, written) for written in IMPORT.findall(code)}
        for written, meant in imports.items():
            code = code.replace(f' from "{written}"', f' from "{_name(meant)}"')
        found[_name(path)] = code
        waiting += imports.values()
    return dict(sorted(found.items()))


def _beside(path: str, written: str) -> str:
    """Return the file that another file's import means."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), written))


def _name(path: str) -> str:
    return f"memplan/{path}"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _in_script(document: object) -> str:
    """Return JSON that neither ends a script element nor begins a comment in one."""
    return json.dumps(document, ensure_ascii=False).replace("<", "\\u003c")
