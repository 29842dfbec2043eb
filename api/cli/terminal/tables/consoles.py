"""The rich consoles, configured so that text is never read as markup."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from ..text import visible

STYLES = {
    "optimal": "bold green",
    "feasible": "bold yellow",
    "infeasible": "bold red",
    "unknown": "bold red",
    "valid": "bold green",
    "not valid": "bold red",
    "ok": "green",
    "available": "green",
    "not available": "yellow",
    "not ok": "yellow",
    "warning": "yellow",
}
"""Colours are never the only sign: each is on a word that says the same."""


def console_on() -> Console:
    """A console on the standard output. NO_COLOR and TERM are rich's to respect."""
    return Console(file=sys.stdout, markup=False, emoji=False, highlight=False)


def plain(text: object, style: str = "") -> Text:
    """Return text from outside, which cannot affect the terminal, the markup or the line breaks."""
    return Text(visible(str(text)), style=style)


def word(text: str) -> Text:
    """Return a word in its own colour."""
    return Text(text, style=STYLES.get(text, ""))
