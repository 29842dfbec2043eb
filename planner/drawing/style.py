"""Colours and fonts of the pictures: light, dark, or as the reader's system. A kind has the same colour in all of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import cycle


class Theme(StrEnum):
    """Light or dark."""

    SYSTEM = "system"
    """As the reader's system."""
    LIGHT = "light"
    DARK = "dark"


LIGHT = (
    "#8fb8de",
    "#f0b27a",
    "#93c9a1",
    "#e3a3c4",
    "#e6cf74",
    "#8fd0d3",
    "#b7a6dd",
    "#c9b097",
    "#e79a93",
    "#b4bcc4",
)
DARK = (
    "#2f5f8f",
    "#93602c",
    "#35734a",
    "#8a4570",
    "#80702a",
    "#25727a",
    "#5d4a96",
    "#6b573f",
    "#96443d",
    "#4b545d",
)
NO_KIND = len(LIGHT) - 1
"""With several kinds, the last colour is for buffers without one."""
KNOWN = {
    kind: colour for colour, kind in enumerate(("intermediate", "workspace", "input", "output", "constant", "mutable"))
}
"""The colours of the kinds that the formats name: the same whatever else there is."""

_LIGHT = {"page": "#ffffff", "field": "#f5f7f9", "ink": "#14181c", "soft": "#5a646e", "rule": "#dde2e7"}
_LIGHT |= {"live": "#14181c", "bound": "#0a6e46", "end": "#b3261e", "wrong": "#d11507", "moved": "#8a1a9b"}
_DARK = {"page": "#14181c", "field": "#1b2026", "ink": "#e8ecf0", "soft": "#98a3ae", "rule": "#2e363e"}
_DARK |= {"live": "#f2f5f7", "bound": "#4fd39a", "end": "#ff8a80", "wrong": "#ff5c4d", "moved": "#e79bff"}


def colours_of(kinds: Sequence[str | None]) -> tuple[int, ...]:
    """Return the number of each kind's colour. Others than the known ones get what these leave, in turn; if there are more than that, some share one."""
    if tuple(kinds) == (None,):
        return (0,)
    used = {KNOWN[kind] for kind in kinds if kind in KNOWN}
    free = cycle([*range(len(KNOWN), NO_KIND), *(c for c in range(len(KNOWN)) if c not in used)])
    return tuple(NO_KIND if kind is None else KNOWN[kind] if kind in KNOWN else next(free) for kind in kinds)


def _rules(colours: Sequence[str], names: dict[str, str]) -> str:
    fills = "".join(f".k{number}{{fill:{colour}}}" for number, colour in enumerate(colours))
    return fills + (
        f".page{{fill:{names['page']}}}.field{{fill:{names['field']}}}.ink{{fill:{names['ink']}}}.soft{{fill:{names['soft']}}}"
        f".grid,.key{{stroke:{names['rule']}}}.box{{stroke:{names['page']}}}.live{{stroke:{names['live']}}}"
        f".bound{{stroke:{names['bound']}}}.end{{stroke:{names['end']}}}.wrong{{fill:{names['wrong']}}}"
        f".over{{stroke:{names['field']}}}"
        f".bad{{stroke:{names['wrong']}}}.moved{{stroke:{names['moved']}}}.reserved{{fill:{names['rule']}}}"
    )


_LETTERS = (
    "svg{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}"
    "text{font-variant-numeric:tabular-nums}.title{font-size:17px;font-weight:600}.pool{font-size:13px;font-weight:600}"
    ".name{font-size:11px;pointer-events:none;unicode-bidi:isolate}.over{paint-order:stroke;stroke-width:2.5;stroke-opacity:.55}.mid{text-anchor:middle}.right{text-anchor:end}"
    ".s1{fill-opacity:.86}.s2{fill-opacity:.72}.box{stroke-width:.75}.bad{stroke-width:2}.moved{stroke-width:1.5}.live,.bound,.end{fill:none;stroke-width:1.25}"
    ".bound{stroke-dasharray:6 3}.end{stroke-dasharray:2 3}"
)


_RUN = ".best,.bound{fill:none;stroke-width:2}"


_CURVE = ".curve{fill:none;stroke-width:2}.dashed{stroke-dasharray:5 4}"
_CURVES_LIGHT = ("#1f5fa8", "#b3541e", "#2f7d4f", "#8a3a75", "#7a6a12", "#4b545d")
_CURVES_DARK = ("#7db8f5", "#f0a36b", "#6fcf97", "#dd8fc6", "#d8c455", "#a7b0b9")
CURVES = len(_CURVES_LIGHT)


def style_of(theme: Theme, *, compared: bool = False, run: bool = False, curves: bool = False) -> str:
    """Return the picture's style sheet, including what differs between plans `compared`, the lines of a `run`, or the `curves`."""
    letters, light, dark = _LETTERS, _rules(LIGHT, _LIGHT), _rules(DARK, _DARK)
    if compared:
        light, dark = light + _small_moved(_LIGHT), dark + _small_moved(_DARK)
    if run:
        letters, light, dark = (
            letters + _RUN,
            light + _run_rules("#1f5fa8", "#dbe8f6"),
            dark + _run_rules("#7db8f5", "#223549"),
        )
    if curves:
        letters, light, dark = letters + _CURVE, light + _strokes(_CURVES_LIGHT), dark + _strokes(_CURVES_DARK)
    return (
        letters
        + {
            Theme.SYSTEM: f"{light}@media(prefers-color-scheme:dark){{{dark}}}",
            Theme.LIGHT: light,
            Theme.DARK: dark,
        }[theme]
    )


def _small_moved(names: dict[str, str]) -> str:
    """Return the colour of moved buffers too small for an outline."""
    return f".went{{fill:{names['moved']}}}"


def _strokes(colours: Sequence[str]) -> str:
    return "".join(f".c{number}{{stroke:{colour}}}" for number, colour in enumerate(colours))


def _run_rules(best: str, between: str) -> str:
    return f".best{{stroke:{best}}}.dot{{fill:{best}}}.between{{fill:{between}}}"
