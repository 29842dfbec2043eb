"""Text from a file cannot control the terminal."""

from __future__ import annotations

import io
import sys

import pytest
from rich.cells import cell_len

from api.cli.terminal.text import NARROW, STAND_INS, can_redraw, is_terminal, say, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("two\nlines\r", r"two\nlines\r"),
        ("\x7f\x9b2J", r"\x7f\x9b2J"),
        ("\u202egpj.exe\u2066", r"\u202egpj.exe\u2066"),
        ("\u200b\ufeff\u061c", r"\u200b\ufeff\u061c"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\ud800", r"\ud800"),
        ("\U000e0041", r"\U000e0041"),
        ("no\xa0break", r"no\xa0break"),
    ],
)
def test_unprintable_characters_are_escaped(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("text", ["", "conv1/weights:0", "[bold]x[/bold]", "naïve 数据 😀"])
def test_printable_characters_stay(text: str) -> None:
    assert visible(text) == text


def test_characters_that_the_output_s_encoding_lacks_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "latin-1"))
    assert visible("naïve 数据 😀") == r"naïve \u6570\u636e \U0001f600"


def test_what_stands_in_for_a_drawn_character_is_ascii_and_as_wide() -> None:
    drawn = "".join(STAND_INS)
    assert len(drawn.encode("ascii", NARROW)) == len(drawn) == cell_len(drawn)
    assert "█数█".encode("ascii", NARROW) == rb"#\u6570#"
    assert drawn.encode("utf-8", NARROW).decode("utf-8") == drawn


def test_a_closed_or_missing_stream_is_no_terminal() -> None:
    closed = io.StringIO()
    closed.close()
    assert not is_terminal(closed)
    assert not is_terminal(None)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_dumb_terminal_cannot_redraw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert can_redraw(Terminal())
    monkeypatch.setenv("TERM", "dumb")
    assert not can_redraw(Terminal())


def test_a_missing_stream_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    say("hello")
