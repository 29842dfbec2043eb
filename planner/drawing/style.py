"""Colours and fonts of the pictures: light, dark, or as the reader's system. A kind has the same colour in all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum


class Theme(StrEnum):
    """Light or dark."""

    SYSTEM = "system"
    """As the reader's system."""
    LIGHT = "light"
    DARK = "dark"


LIGHT = (
    "#7ac1fe",
    "#eaa287",
    "#a3d875",
    "#d26ca3",
    "#f5e061",
    "#7fe7f2",
    "#a488ce",
    "#617fdf",
    "#179999",
    "#b4bcc4",
    "#818f2b",
    "#d0efca",
    "#a9767c",
)
"""Of each kind. They differ as far as letters on them allow, also for eyes that do not tell red from green, and in their lighter shades."""
DARK = (
    "#436aa9",
    "#9e5c3c",
    "#2d783b",
    "#a15d91",
    "#6c7203",
    "#006479",
    "#654e9a",
    "#192e64",
    "#457d73",
    "#4b545d",
    "#4a4810",
    "#18380c",
    "#353031",
)
NO_KIND = 9
"""With several kinds, the grey for buffers without one, and for the kinds for which there is no colour left."""
KNOWN = {
    kind: colour for colour, kind in enumerate(("intermediate", "workspace", "input", "output", "constant", "mutable"))
}
"""The colours of the kinds that the formats name: the same whatever else there is."""

_LIGHT = {"page": "#ffffff", "field": "#f5f7f9", "ink": "#14181c", "soft": "#5a646e", "rule": "#dde2e7"}
_LIGHT |= {"live": "#14181c", "bound": "#0a6e46", "end": "#b3261e", "wrong": "#d11507", "moved": "#8a1a9b"}
_DARK = {"page": "#14181c", "field": "#1b2026", "ink": "#e8ecf0", "soft": "#98a3ae", "rule": "#2e363e"}
_DARK |= {"live": "#f2f5f7", "bound": "#4fd39a", "end": "#ff8a80", "wrong": "#ff5c4d", "moved": "#e79bff"}


def colours_of(kinds: Sequence[str | None]) -> tuple[int, ...]:
    """Return the number of each kind's colour. Others than the known ones get what these leave; when that is used up, the rest share the grey."""
    if tuple(kinds) == (None,):
        return (0,)
    used = {KNOWN[kind] for kind in kinds if kind in KNOWN}
    own = [colour for colour in range(len(LIGHT)) if colour != NO_KIND and colour not in KNOWN.values()]
    free = iter([*own, *(colour for colour in KNOWN.values() if colour not in used)])
    return tuple(NO_KIND if kind is None else KNOWN[kind] if kind in KNOWN else next(free, NO_KIND) for kind in kinds)


def explained(kinds: Sequence[str | None]) -> tuple[list[tuple[int, int]], int]:
    """Return number and colour of each kind that a legend names, and how many more there are, which share the grey."""
    colours = colours_of(kinds)
    shares = Counter(colours)
    named = [(i, colour) for i, colour in enumerate(colours) if kinds[i] is None or shares[colour] == 1]
    return named, len(kinds) - len(named)


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
